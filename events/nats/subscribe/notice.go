package subscribe

import (
	"github.com/jobledger/jobledger/events/nats"
)

// Notice is a fact that a person should know but that does not stop events.
type Notice struct {
	Kind NoticeKind
	ID   nats.ID // the record that the kind describes; zero when unknown
	text string
}

// NoticeKind says what a Notice is about.
type NoticeKind string

// The kinds of notices.
const (
	// NoticeMade: the durable subscription did not exist and was created. ID is its first requested record.
	NoticeMade NoticeKind = "made"
	// NoticeRemade: the stream was deleted and recreated, or its server lost its disk. ID is the record with which the
	// subscription continues.
	NoticeRemade NoticeKind = "remade"
	// NoticeForked: the published log does not extend the records taken before, so it was rewritten. ID is the first
	// record that shows this.
	NoticeForked NoticeKind = "forked"
	// NoticeNotKept: Config.State failed to store ID, the last record that was handled.
	NoticeNotKept NoticeKind = "not kept"
)

// String returns the notice as a sentence.
func (n Notice) String() string { return n.text }

// made sends the Notice that the durable subscription was created.
func (s *subscriber) made() {
	first := s.floor.first()
	text := "the durable subscription " + s.Durable + " was made: it begins with "
	switch {
	case s.continues:
		text = "the durable subscription " + s.Durable + " was made: it goes on with record " + first.String()
	case s.Start.kind == fromNow:
		text += "what is published from now on" + inBrackets(first)
	case s.Start.kind == fromFirst:
		text += "the oldest that the stream has" + inBrackets(first)
	case s.Start.kind == fromTime:
		text += "what was written at " + s.Start.time.Go().Format(stampLayout) + " or later" + inBrackets(first)
	case first != (nats.ID{}):
		text += "record " + first.String()
	default:
		text += "the record that was asked for"
	}
	s.Notice(Notice{NoticeMade, first, text})
}

// remade sends the Notice that the stream was deleted and created again.
func (s *subscriber) remade() {
	first := s.floor.first()
	text := "the stream was deleted and created again: going on with "
	switch {
	case first != (nats.ID{}):
		text += "record " + first.String()
	case s.since != 0:
		text += "what was written at " + s.since.Go().Format(stampLayout) + " or later, as the stream before held nothing that says more"
	default:
		text += "the oldest that it has"
	}
	s.Notice(Notice{NoticeRemade, first, text})
}

const stampLayout = "2006-01-02T15:04:05.000Z07:00"

func inBrackets(first nats.ID) string {
	if first == (nats.ID{}) {
		return ""
	}
	return " (record " + first.String() + ")"
}
