package natslog

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Outcome is what a reader makes of a message.
type Outcome uint8

// The outcomes.
const (
	Taken Outcome = 1 // it counts: the state is another one
	Waits Outcome = 2 // it is a part of a group, and counts with the last part
	Void  Outcome = 3 // it counts for nothing; it is passed over
	Newer Outcome = 4 // a newer program reads it: the reader stops
)

// Why a message is void. Operators read these.
const (
	NoSegment  = "no segment"                      // other bytes, or damaged ones
	StreamShut = "the stream is closed"            // behind a Closed
	OtherLog   = "of another log"                  // another ID or epoch
	OtherKey   = "of another key"                  // the writer has another KEY
	NoClaim    = "no claim before it"              // records at the beginning of the stream
	OldTerm    = "a claim of a term that was"      // not above the newest term
	LaterTerm  = "of a term without a claim"       // above the newest term: the reader has missed the claim
	NotWriter  = "of another writer"               // not of the newest claim
	GivenBack  = "behind the release of its term"  // its writer has released
	OtherHead  = "not behind the head"             // its before is not the head
	Ahead      = "ahead of the head"               // of the writer: the reader has missed a record
	OutOfOrder = "a part that is not the next one" // of the group that waits
	BadRecords = "its records do not give its end" // sequences, batches, identity or chain
)

// Verdict is what became of a message.
type Verdict struct {
	Outcome Outcome
	Void    string  // why it is void
	Segment Segment // Taken: the message; of a group in parts all of its records, as one segment
	Err     error   // Newer: what it needs. Void: more about why, or nil
}

// State is what the messages of a stream up to a place amount to. It is a value: the parts that wait are never changed
// in place. The zero State is that of an empty stream, whose first claim says which log it is.
type State struct {
	Place    uint64          // of the newest message that was looked at
	Identity events.Identity // of the log at Head
	Key      events.Hash
	Term     uint64 // of the newest claim; 0 before the first
	Writer   string // of the newest claim
	Head     store.Head
	Released bool   // the writer has ended its term in good order
	Closed   bool   // nothing counts any more
	Voids    uint64 // messages that were void

	waiting Segment // the parts of a group so far, as one segment; Parts is 0 when there are none
}

// From is the state in which a reader begins with a message in the middle of a stream: the first one there, which was
// taken by all who read it (the stream is cut only there). The caller has found s.Before on the chain of its own log.
func From(place uint64, s Segment) State {
	state := State{Place: place - 1, Identity: s.Identity, Key: s.Key, Term: s.Term, Writer: s.Writer, Head: s.Before}
	if s.Kind == Claim {
		state.Term, state.Writer = s.Term-1, ""
	}
	return state
}

// Accept looks at the message behind s. It is the same for every reader: own, the version of the reader, decides only
// whether it can go on.
func Accept(s State, place uint64, data []byte, own events.ReaderVersion) (State, Verdict) {
	m, err := Decode(data)
	if events.OtherReader(err) {
		return s, Verdict{Outcome: Newer, Err: err}
	}
	v := Verdict{Void: NoSegment, Err: err}
	next := s
	if err == nil {
		next, v = s.take(m)
	}
	switch {
	case v.Outcome == Newer:
		return s, v
	case v.Void == "" && !own.Reads(m.Least):
		return s, Verdict{Outcome: Newer, Err: &events.NewerError{Needs: m.Least, Has: own}}
	case v.Void != "":
		v.Outcome, next = Void, s
		next.Voids++
	}
	next.Place = place
	return next, v
}

// take says what a segment changes. A verdict with Void changes nothing.
func (s State) take(m Segment) (State, Verdict) {
	switch {
	case s.Closed:
		return s, Verdict{Void: StreamShut}
	case s.Term == 0 && m.Kind != Claim:
		return s, Verdict{Void: NoClaim}
	case s.Term > 0 && m.Identity.LogID != s.Identity.LogID:
		return s, Verdict{Void: OtherLog}
	case s.Term > 0 && m.Key != s.Key:
		return s, Verdict{Void: OtherKey}
	case m.Kind == Claim:
		return s.claim(m)
	case m.Term > s.Term:
		return s, Verdict{Void: LaterTerm}
	case m.Term != s.Term || m.Writer != s.Writer:
		return s, Verdict{Void: NotWriter}
	case s.Released:
		return s, Verdict{Void: GivenBack}
	case m.Kind == Records:
		return s.records(m)
	case m.Before != s.Head:
		return s, Verdict{Void: OtherHead}
	case m.Identity != s.Identity:
		return s, Verdict{Void: OtherLog}
	}
	s.Released, s.Closed, s.waiting = true, m.Kind == Closed, Segment{}
	return s, Verdict{Outcome: Taken, Segment: m}
}

func (s State) claim(m Segment) (State, Verdict) {
	switch {
	case m.Term <= s.Term:
		return s, Verdict{Void: OldTerm}
	case s.Term > 0 && m.Before.Sequence > s.Head.Sequence:
		return s, Verdict{Void: Ahead}
	case s.Term > 0 && m.Before != s.Head:
		return s, Verdict{Void: OtherHead}
	case s.Term > 0 && m.Identity != s.Identity:
		return s, Verdict{Void: OtherLog}
	}
	s.Identity, s.Key, s.Term, s.Writer, s.Head = m.Identity, m.Key, m.Term, m.Writer, m.Before
	s.Released, s.waiting = false, Segment{}
	return s, Verdict{Outcome: Taken, Segment: m}
}

// records takes a part. The first part of a group ends parts that wait: its writer has begun the group again.
func (s State) records(m Segment) (State, Verdict) {
	switch {
	case m.Before.Sequence > s.Head.Sequence:
		return s, Verdict{Void: Ahead}
	case m.Before != s.Head:
		return s, Verdict{Void: OtherHead}
	case m.Part == 1 && m.First != s.Head.Sequence+1:
		return s, Verdict{Void: OtherHead}
	case m.Part == 1:
		s.waiting = m
	default:
		joined, ok := join(s.waiting, m)
		if !ok {
			return s, Verdict{Void: OutOfOrder}
		}
		s.waiting = joined
	}
	if m.Part < m.Parts {
		return s, Verdict{Outcome: Waits}
	}
	g := s.waiting
	if err := g.check(s.Identity); err != nil {
		if events.OtherReader(err) {
			return s, Verdict{Outcome: Newer, Err: err}
		}
		return s, Verdict{Void: BadRecords, Err: err}
	}
	s.Identity, s.Head, s.waiting = g.Identity, g.After, Segment{}
	return s, Verdict{Outcome: Taken, Segment: g}
}

// join adds a part to those that wait; false when it is not the next one of their group.
func join(w, m Segment) (Segment, bool) {
	first := w.First + events.Sequence(len(w.Stored))
	if w.GoesOn {
		first--
	}
	if w.Parts == 0 || m.Part != w.Part+1 || m.Parts != w.Parts || m.Before != w.Before || m.After != w.After ||
		m.Identity != w.Identity || m.BeginsFile != w.BeginsFile || m.First != first {
		return w, false
	}
	stored := slices.Clone(w.Stored)
	rest := m.Stored
	if w.GoesOn {
		last := len(stored) - 1
		stored[last] = slices.Concat(stored[last], rest[0])
		rest = rest[1:]
	}
	w.Stored, w.Part, w.GoesOn, w.Offsets, w.Least = append(stored, rest...), m.Part, m.GoesOn, m.Offsets, m.Least
	return w, true
}
