package publish_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// copyOf is a log with the batches of another up to a sequence, as a restore makes it.
func copyOf(l *natstest.Ledger, through int) *natstest.Ledger {
	c := &natstest.Ledger{T: l.T, Log: memlog.New(life), Left: natstest.Batches(l.T, l.Log)}
	return c.Grow(through)
}

// TestARestoredLogIsNotTakenForDuplicates: the sequences after the restore were already published in the epoch that
// ended.
func TestARestoredLogIsNotTakenForDuplicates(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 3000).Grow(2000)
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	p.Stop()
	before := len(messages(t, s))

	restored := copyOf(l, 1000)
	kept := restored.Log.Head().Sequence
	if err := restored.Log.SetOffset(publish.Consumer, 500); err != nil { // the copy's offset is as old as the copy
		t.Fatal(err)
	}
	restored.Controller(events.KindEpochChanged, &events.EpochChanged{Epoch: 2, Reason: events.EpochRestored})
	for range 100 { // other records than those that had these sequences
		restored.Controller(events.KindControllerStopped, &events.ControllerStopped{})
	}
	p = natstest.Publish(t, s, restored.Log)
	p.CaughtUp(t)
	for range 20 {
		restored.Controller(events.KindControllerStopped, &events.ControllerStopped{})
	}
	p.CaughtUp(t)
	p.Stop()

	all := messages(t, s)
	if want := before + 121; len(all) != want {
		t.Fatalf("the stream has %d messages, want %d", len(all), want)
	}
	for i, e := range all[before:] {
		if want := kept + 1 + events.Sequence(i); e.ID.Sequence != want || e.ID.Log.Epoch != 2 {
			t.Fatalf("message %d after the restore is %s, want record %d of epoch 2", i+1, e.ID, want)
		}
	}

	// A second restore, of a log that had been restored, from before and from after the first.
	again := copyOf(restored, int(kept)+50)
	again.Controller(events.KindEpochChanged, &events.EpochChanged{Epoch: 3, Reason: events.EpochRestored})
	natstest.Publish(t, s, again.Log).CaughtUp(t)
	all = messages(t, s)
	if last := all[len(all)-1]; last.ID.Log.Epoch != 3 || len(all) != before+122 {
		t.Errorf("after the second restore the stream has %d messages, the last %s", len(all), last.ID)
	}
}

func TestANewLogGoesOnAfterTheOldOne(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 2000).Grow(500)
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	p.Stop()
	before := len(messages(t, s))
	other := &natstest.Ledger{T: t, Log: memlog.New(events.Identity{LogID: "another", Epoch: 1})}
	other.Controller(events.KindLogCreated, &events.LogCreated{LogID: "another", Epoch: 1, Format: 1})
	other.Controller(events.KindControllerStopped, &events.ControllerStopped{})
	natstest.Publish(t, s, other.Log).CaughtUp(t)
	all := messages(t, s)
	if len(all) != before+2 || all[before].ID.String() != "another.1.1" {
		t.Fatalf("the stream has %d messages, want %d", len(all), before+2)
	}
}

// TestALogThatWasRestoredInSecretIsNotPublished: without a new epoch its next sequences are those of other messages.
func TestALogThatWasRestoredInSecretIsNotPublished(t *testing.T) {
	for _, row := range []struct {
		sentence string
		more     int
	}{{"it ends before the stream", 0}, {"it has grown beyond the stream", 3000}} {
		t.Run(row.sentence, func(t *testing.T) {
			s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 2000).Grow(1500)
			p := natstest.Publish(t, s, l.Log)
			p.CaughtUp(t)
			p.Stop()
			before := len(messages(t, s))
			restored := copyOf(l, 1000)
			for range row.more {
				restored.Controller(events.KindControllerStopped, &events.ControllerStopped{})
			}
			p = natstest.Publish(t, s, restored.Log)
			natstest.Eventually(t, "it is refused", func() error {
				if st := p.Status(); !strings.Contains(st.Problem, "restored from an older copy without a new epoch") {
					return fmt.Errorf("status %+v", st)
				}
				return nil
			})
			if after := len(messages(t, s)); after != before {
				t.Errorf("%d messages were published", after-before)
			}
		})
	}
}

func TestWhatTheLogNoLongerKeepsIsAGapThatShows(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 2000).Grow(0)
	pruned := &prunedLog{Log: l.Log, first: 701}
	p := natstest.Publish(t, s, pruned)
	p.CaughtUp(t)
	all := messages(t, s)
	if all[0].ID.Sequence != 701 {
		t.Fatalf("the first message is record %d", all[0].ID.Sequence)
	}
	for i, e := range all {
		if e.Floor != 701 || e.ID.Sequence != 701+events.Sequence(i) {
			t.Fatalf("record %d has floor %d", e.ID.Sequence, e.Floor)
		}
	}
	p.Stop()
	pruned.first = 1 // the floor is asked of the stream, not thought up anew
	l.Controller(events.KindControllerStopped, &events.ControllerStopped{})
	natstest.Publish(t, s, pruned).CaughtUp(t)
	all = messages(t, s)
	if last := all[len(all)-1]; last.Floor != 701 || last.ID.Sequence != l.Log.Head().Sequence {
		t.Errorf("after a start record %d has floor %d", last.ID.Sequence, last.Floor)
	}
}

// TestARestoredLogSaysWhereItBegan: the earlier epoch and the new one leave out different records.
func TestARestoredLogSaysWhereItBegan(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 2000).Grow(1000)
	p := natstest.Publish(t, s, &prunedLog{Log: l.Log, first: 701})
	p.CaughtUp(t)
	p.Stop()
	restored := copyOf(l, 500)
	restored.Controller(events.KindEpochChanged, &events.EpochChanged{Epoch: 2, Reason: events.EpochRestored})
	first := restored.Log.Head().Sequence
	restored.Controller(events.KindControllerStopped, &events.ControllerStopped{})
	natstest.Publish(t, s, restored.Log).CaughtUp(t)
	all := messages(t, s)
	if last := all[len(all)-1]; last.ID.Sequence != first+1 || last.Floor > first {
		t.Errorf("record %d has floor %d, and record %d was published", last.ID.Sequence, last.Floor, first)
	}
}

// TestTheStreamIsAskedWhatItKnows: a stream that is ahead of the log proves a loss of records. So does a stream with
// another chain value under the same sequence. It is reported once, and a survey finds the same.
func TestTheStreamIsAskedWhatItKnows(t *testing.T) {
	for _, row := range []struct {
		sentence string
		log      func(t *testing.T, l *natstest.Ledger) *natstest.Ledger
		lost     bool
	}{
		{"it has lost its end", func(_ *testing.T, l *natstest.Ledger) *natstest.Ledger { return copyOf(l, 500) }, true},
		{"another one with the same numbers", otherChain, true},
		{"the log itself", func(_ *testing.T, l *natstest.Ledger) *natstest.Ledger { return l }, false},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 1000).Grow(1000)
			p := natstest.Publish(t, s, l.Log)
			p.CaughtUp(t)
			p.Stop()
			head := l.Log.Head()
			found := make(chan *publish.DivergedError, 9)
			log := row.log(t, l)
			p = natstest.Publish(t, s, log.Log, func(c *publish.Config) { c.Diverged = func(e *publish.DivergedError) { found <- e } })
			if lost, is, err := publish.Ahead(t.Context(), p.Config); err != nil || is != row.lost {
				t.Fatalf("a survey finds %+v, %t: %v", lost, is, err)
			}
			if !row.lost {
				p.CaughtUp(t)
				return
			}
			if loss := (<-found).Loss(); loss != (events.Loss{Witness: events.WitnessStream, Epoch: 1, Sequence: head.Sequence, Hash: head.Hash}) {
				t.Errorf("it is told of %+v", loss)
			}
			log.Controller(events.KindEpochChanged, &events.EpochChanged{Epoch: 2, Reason: events.EpochRestored})
			began := log.Log.Head().Sequence
			natstest.Eventually(t, "it goes on in another epoch", func() error {
				if st := p.Status(); st.Lag > 0 || st.Problem != "" {
					return fmt.Errorf("status %+v", st)
				}
				return nil
			})
			all := messages(t, s)
			if last := all[len(all)-1]; last.ID.Log.Epoch != 2 || last.ID.Sequence != began || all[len(all)-2].ID.Sequence != head.Sequence {
				t.Errorf("behind record %d of epoch 1 stands %s", all[len(all)-2].ID.Sequence, last.ID)
			}
			if len(found) > 0 {
				t.Error("it was told again")
			}
		})
	}
}

// otherChain returns a log with the same records, except that one of them has another salt.
func otherChain(t *testing.T, l *natstest.Ledger) *natstest.Ledger {
	c := &natstest.Ledger{T: t, Log: memlog.New(life), Left: natstest.Batches(t, l.Log)}
	c.Left[20].Records[0].FactsSalt[0]++
	return c.Grow(0)
}
