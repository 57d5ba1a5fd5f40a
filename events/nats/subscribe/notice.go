package subscribe

import (
	"github.com/jobledger/jobledger/events/nats"
)

// Notice is what a person should know and what keeps no events away: see the kinds.
type Notice struct {
	Kind NoticeKind
	ID   nats.ID // a record, which the kind says more of; zero when it is not known
	text string
}

// NoticeKind says what a notice is about.
type NoticeKind string

// The kinds of notices.
const (
	// NoticeMade: the durable subscription was not there and was made. ID is the first record that it asks for.
	NoticeMade NoticeKind = "made"
	// NoticeRemade: another stream stands in the place of the one before: it was deleted, or its server lost its disk. ID
	// is the record with which the subscription goes on.
	NoticeRemade NoticeKind = "remade"
	// NoticeForked: what is published now does not extend what was taken before: the log was rewritten. ID is the first
	// record that shows it.
	NoticeForked NoticeKind = "forked"
	// NoticeNotKept: Config.State did not take ID, the record that was taken last.
	NoticeNotKept NoticeKind = "not kept"
)

// String says it for people.
func (n Notice) String() string { return n.text }

// made tells that the durable subscription was made.
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

// remade tells that another stream stands in the place of the one before.
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
