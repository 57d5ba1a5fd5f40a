package subscribe_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// killed is a State of a process that is killed once the function took an event: later saves are lost.
type killed struct {
	subscribe.State
	at   events.Sequence
	over bool
}

func (k *killed) Save(taken subscribe.Taken) error {
	if k.over {
		return errors.New("the process was killed")
	}
	k.over = taken.ID.Sequence == k.at
	return k.State.Save(taken)
}

// TestWhatIsInDoubtOutlivesASubscriber: a subscriber ends before it asked the stream about the places that it passed
// over. Record 9 is the newest of a Job. If it was purged, the next subscriber reports it or gets it; without a purge
// nothing is reported.
func TestWhatIsInDoubtOutlivesASubscriber(t *testing.T) {
	for _, purged := range []bool{true, false} {
		for _, anew := range []bool{true, false} {
			t.Run(fmt.Sprintf("purged %t, another stream %t", purged, anew), func(t *testing.T) { doubtOutlives(t, purged, anew) })
		}
	}
}

func doubtOutlives(t *testing.T, purged, anew bool) {
	js := makeStream(t, natstest.NewServer(t).Start())
	config := subscribe.Config{Durable: "d", MaxPending: 4, Start: subscribe.All(), Filters: []nats.Filter{{Name: "job-" + jobA}, {Name: "job-" + jobB}}}
	path := filepath.Join(t.TempDir(), "state")
	file := stateFile(t, path)
	config.State = &killed{State: file, at: 12}
	purge := func() {
		st, err := js.Stream(t.Context(), stream)
		if err == nil {
			err = st.Purge(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	reached, goOn := make(chan struct{}), make(chan struct{})
	sub := start(t, js, config, func(ctx context.Context, e *subscribe.Event) error {
		if e.ID.Sequence == 4 { // the hole before it makes it ask, so it does not ask again for a second
			close(reached)
			<-goOn
		}
		return nil
	})
	put(t, js, life, 1, timer(1, 0, jobA), timer(2, 0, jobB), timer(3, 0, jobC), timer(4, 1, jobA))
	<-reached
	put(t, js, life, 1, timer(5, 4, jobA), timer(6, 5, jobA), timer(7, 6, jobA), timer(8, 7, jobA)) // no more are sent to it at once
	if purged {
		put(t, js, life, 1, timer(9, 2, jobB), timer(10, 3, jobC))
		purge()
	} else {
		put(t, js, life, 1, timer(9, 3, jobC), timer(10, 9, jobC))
	}
	put(t, js, life, 1, timer(11, 10, jobC), timer(12, 8, jobA))
	close(goOn)
	sub.await(3)
	natstest.Eventually(t, "it took record 12", func() error {
		if all := sub.events(); all[len(all)-1].ID.Sequence != 12 {
			return fmt.Errorf("the newest is %d", all[len(all)-1].ID.Sequence)
		}
		return nil
	})
	if err := sub.end(); err != nil {
		t.Fatal(err)
	}
	told := tells(sub.events(), 9)
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	config.State = stateFile(t, path)
	if anew {
		remake(t, js)
		put(t, js, life, 1, timers(1, 12)...)
	}
	sub = start(t, js, config, nil)
	put(t, js, life, 1, timer(13, 12, jobA))
	natstest.Eventually(t, "it took record 13", func() error {
		if all := sub.events(); len(all) == 0 || all[len(all)-1].ID.Sequence != 13 {
			return fmt.Errorf("it took %d", len(all))
		}
		return nil
	})
	for next := events.Sequence(14); purged && !told; next++ { // the stream is asked within a second
		put(t, js, life, 1, timer(next, next-1, jobA))
		all := sub.await(int(next) - 12)
		told = tells(all, 9)
		if next > 400 {
			t.Fatal("nothing tells of record 9")
		}
	}
	if !purged && !anew {
		for _, e := range sub.events() {
			if e.Gap != (subscribe.Gap{}) || e.ID.Sequence < 13 {
				t.Errorf("it was handed record %d, with %q", e.ID.Sequence, e.Gap)
			}
		}
	}
}

// tells reports whether one of the events is that record, or says that it may be missing.
func tells(all []subscribe.Event, record events.Sequence) bool {
	for _, e := range all {
		if e.ID.Sequence == record || e.Gap.From <= record && record <= e.Gap.To {
			return true
		}
	}
	return false
}
