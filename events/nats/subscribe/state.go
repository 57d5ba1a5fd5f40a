package subscribe

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// Taken is the event that a subscription took last.
type Taken struct {
	ID    nats.ID     // zero when none was taken
	Chain events.Hash // the chain value of the log after that record; zero when its message did not say it

	// Doubt is the first record before ID that may be missing without a word: places of the stream were passed over, and
	// the stream was not asked yet what they held, or it lacks them and no event told so yet. Zero when nothing is in
	// doubt.
	Doubt  nats.ID
	Stream time.Time // when the stream of the doubt was made; zero without a doubt
}

// State remembers outside the server what was taken last. The server forgets a durable subscription together with its
// stream; with a State the next Run goes on behind the last event nevertheless, and is never handed what is before it.
// One Run at a time uses it.
type State interface {
	// Load gives what Save kept last; the zero Taken when there is nothing. Its error ends Run.
	Load() (Taken, error)
	// Save keeps what was taken. It is called after the function took an event and before the server is told so. When it
	// fails Run goes on, and tells of it with a Notice: with a durable name the server remembers as well, else nothing
	// does.
	Save(Taken) error
}

// load takes up what the State knows, also what another Run took with it while this one was waiting.
func (s *subscriber) load() error {
	if s.State == nil {
		return nil
	}
	if file, ok := s.State.(interface{ hold() error }); ok {
		if err := file.hold(); err != nil {
			return err // Run tries again
		}
	}
	taken, err := s.State.Load()
	if err != nil {
		return &finalError{err}
	}
	if taken.ID == (nats.ID{}) || s.floor.behind(taken.ID) {
		return nil
	}
	s.newest, s.continues = taken, true
	if taken.Doubt != (nats.ID{}) {
		to := taken.ID.Sequence
		if taken.Doubt.Log.LogID != taken.ID.Log.LogID {
			to = taken.Doubt.Sequence
		}
		s.holes = []hole{{log: taken.Doubt.Log, from: taken.Doubt.Sequence, to: to, stream: taken.Stream}}
	}
	s.floor.took(taken.ID)
	s.order.Expect(following(taken.ID))
	return nil
}

// keep notes that an event was taken, here and in the State.
func (s *subscriber) keep(taken Taken) {
	s.newest = taken
	s.floor.took(taken.ID)
	s.save()
}

// save gives the State what was taken last, and what is in doubt.
func (s *subscriber) save() {
	if s.State == nil || s.newest == (Taken{}) { // a doubt before the first event is found again from where the subscription begins
		return
	}
	taken := s.newest
	taken.Doubt, taken.Stream = s.doubt()
	problem := ""
	if err := s.State.Save(taken); err != nil {
		problem = err.Error()
	}
	if problem != "" && problem != s.notKept {
		where := "that record %s was taken is known to the server alone: %s"
		if s.Durable == "" {
			where = "that record %s was taken is kept nowhere, so the next start is handed records again: %s"
		}
		s.Notice(Notice{NoticeNotKept, taken.ID, fmt.Sprintf(where, taken.ID, problem)})
	}
	s.notKept = problem
}

// doubt gives the first record that may be missing and of which no event told yet, and when its stream was made; zero
// for none.
func (s *subscriber) doubt() (first nats.ID, stream time.Time) {
	if len(s.holes) > 0 {
		first, stream = nats.ID{Log: s.holes[0].log, Sequence: s.holes[0].from}, s.holes[0].stream
	}
	if len(s.lost) > 0 && (first.Log != s.lost[0].Log || s.lost[0].From < first.Sequence) {
		first, stream = nats.ID{Log: s.lost[0].Log, Sequence: s.lost[0].From}, time.Time{} // of no stream that is: it is missing for certain
	}
	return first, stream
}
