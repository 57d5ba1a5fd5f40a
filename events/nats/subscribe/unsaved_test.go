package subscribe

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// kept is a State in memory.
type kept []Taken

func (k *kept) Load() (Taken, error) { return Taken{}, nil }

func (k *kept) Save(t Taken) error {
	*k = append(*k, t)
	return nil
}

// TestNothingIsSavedBeforeTheFirstEvent: records in doubt before the first event are not saved, because a state without
// an event could not be read.
func TestNothingIsSavedBeforeTheFirstEvent(t *testing.T) {
	var state kept
	s := &subscriber{Config: Config{State: &state, Notice: func(Notice) {}}, holes: []hole{{place: 3, from: 5, to: 9}}}
	s.save()
	if len(state) > 0 {
		t.Errorf("it saved %v", state)
	}
	id := nats.ID{Log: events.Identity{LogID: "a", Epoch: 1}, Sequence: 10}
	if s.keep(Taken{ID: id}); len(state) != 1 || state[0].ID != id || state[0].Doubt.Sequence != 5 {
		t.Errorf("with the first event it saved %v, want the event and the doubt from record 5 on", state)
	}
}
