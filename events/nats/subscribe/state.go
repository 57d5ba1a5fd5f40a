package subscribe

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// Taken identifies the last event that a subscription has handled.
type Taken struct {
	ID    nats.ID     // zero when none was taken
	Chain events.Hash // the log's hash after that record; zero when its message had none

	// Doubt is the first record before ID that may be missing without a report: positions of the stream were skipped
	// and not checked yet, or were found missing and no event has reported that yet. Zero for none.
	Doubt  nats.ID
	Stream time.Time // creation time of the stream that Doubt is about; zero without Doubt
}

// State stores the last handled event outside the server. The server loses a durable subscription together with its
// stream. With a State the next Run continues after the last handled event all the same, and never delivers an earlier
// one. Only one Run at a time may use it.
type State interface {
	// Load returns the value of the last Save; zero when there is none. An error ends Run.
	Load() (Taken, error)
	// Save stores the last handled event. Run calls it after the function has accepted the event and before the
	// acknowledgement. If Save returns an error, Run goes on and sends NoticeNotKept. The server still stores the event
	// if the subscription has a durable name.
	Save(Taken) error
}

// load reads the State, including what another Run stored while this one was waiting for it.
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

// keep notes that an event was handled, in the subscriber and in the State.
func (s *subscriber) keep(taken Taken) {
	s.newest = taken
	s.floor.took(taken.ID)
	s.save()
}

// save stores in the State the last handled event, and the first record that may be missing.
func (s *subscriber) save() {
	// There is nothing to store before the first event: the next start begins at the same place
	if s.State == nil || s.newest == (Taken{}) {
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

// doubt returns the first record that may be missing and was not reported, and the creation time of its stream; zero
// for none.
func (s *subscriber) doubt() (first nats.ID, stream time.Time) {
	if len(s.holes) > 0 {
		first, stream = nats.ID{Log: s.holes[0].log, Sequence: s.holes[0].from}, s.holes[0].stream
	}
	if len(s.lost) > 0 && (first.Log != s.lost[0].Log || s.lost[0].From < first.Sequence) {
		// The creation time stays zero if the record is certainly missing, not just in doubt
		first, stream = nats.ID{Log: s.lost[0].Log, Sequence: s.lost[0].From}, time.Time{}
	}
	return first, stream
}
