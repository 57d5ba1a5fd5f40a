package natslog

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Outcome says what a message of the stream (the JetStream stream that stores a log) means for its reader.
type Outcome uint8

// The outcomes.
const (
	Taken Outcome = 1 // the message counts, and changes the state of the stream
	Waits Outcome = 2 // the message is a part of a group of records, which counts once the last part comes
	Void  Outcome = 3 // the message does not count, and readers skip it
	Newer Outcome = 4 // the message can be read only by a newer program, so the reader must stop
)

// Reasons why a message of the stream is void, in words for operators.
const (
	NoSegment  = "no segment"           // not a message of a log, or damaged
	StreamShut = "the stream is closed" // an earlier message has closed the stream
	OtherLog   = "of another log"       // the message has another log ID or epoch
	OtherKey   = "of another key"       // the message is from a writer with another KEY
	NoClaim    = "no claim before it"   // records before the first claim of the stream
	// A claim must have a higher term (number of a writer) than all before it
	OldTerm = "a claim of a term that was"
	// It has a higher term (number of a writer) than the newest claim: the reader has missed a claim
	LaterTerm  = "of a term without a claim"
	NotWriter  = "of another writer"               // not from the writer of the newest claim
	GivenBack  = "behind the release of its term"  // its writer has already given up its term
	OtherHead  = "not behind the head"             // the group does not follow the last record (the head)
	Ahead      = "ahead of the head"               // the group follows a record that the reader has missed
	OutOfOrder = "a part that is not the next one" // parts of a group must come in order
	BadRecords = "its records do not give its end" // wrong sequences, batches, identity or chain
)

// Verdict is what Accept finds about a message of the stream.
type Verdict struct {
	Outcome Outcome
	Void    string  // reason for which it does not count, such as OldTerm; empty if it counts
	Segment Segment // if taken: the message; for a group in several parts, all records in one segment
	Err     error   // if Newer: what the message needs. If Void: details of the reason, or nil
}

// State is what a reader knows after all messages of a stream up to a place (the sequence of a message in the stream).
// It is a value: a copy stays as it is, also its incomplete group. The zero State is for an empty stream. The first
// claim (message with which a process becomes the writer) then determines the log.
type State struct {
	Place    uint64          // place of the newest message that was read
	Identity events.Identity // the log's ID, and its epoch (one life of the log) at Head
	Key      events.Hash
	Term     uint64 // number of the newest claim, the message with which a process became the writer; 0 for none
	Writer   string // random ID of the process that sent that claim
	Head     store.Head
	Released bool   // the writer has given up its term: nobody writes until the next claim
	Closed   bool   // the stream has ended; no further message counts
	Voids    uint64 // number of messages that did not count

	waiting Segment // joined parts of a group that is not complete yet; Parts is 0 if there are none
}

// From returns the state of a stream whose older messages were removed, before its first message. That message is s, at
// place (its sequence in the stream). It counts for every reader, because messages are only removed up to one that
// counts. The caller must have checked that s.Before fits the chain hash of its own log.
func From(place uint64, s Segment) State {
	state := State{Place: place - 1, Identity: s.Identity, Key: s.Key, Term: s.Term, Writer: s.Writer, Head: s.Before}
	if s.Kind == Claim {
		state.Term, state.Writer = s.Term-1, ""
	}
	return state
}

// Accept decides whether the next message of a stream counts. It returns the state after it, and a verdict. place is
// the message's sequence in the stream, data its bytes. Every reader gets the same result, except that own, the version
// of the reader, decides whether it can continue.
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

// take returns the state of the stream after message m. If m does not count, the verdict's Void names the reason, and
// the state is unchanged.
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

// records handles a message with a group of records, or with a part of a group. The first part of a group replaces the
// parts received before, because the writer has then begun the group again.
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

// join returns w, the parts of a group received so far, with part m added; false if m is not the next part of that
// group.
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
