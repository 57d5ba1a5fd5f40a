package loop

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// LossError ends the Loop: it learnt that the log had records that it does not have any more. That stands in the log by
// then.
type LossError struct{ Loss events.Loss }

// Error says how that is known.
func (e *LossError) Error() string { return "records of the log are lost: " + e.Loss.String() }

// loses reports whether an observation proves that records are lost: the stream has later ones, or a pod was made by a
// create that the log does not know. What is of an epoch that has ended proves nothing.
func (l *Loop) loses(o *events.Observation) (events.Loss, bool) {
	switch f := o.Facts.(type) {
	case *events.LossFound:
		return f.Loss, f.Epoch >= l.world.Identity.Epoch
	case *events.PodSeen:
		c := o.Claim
		if c == (events.Claim{}) || c.Epoch < l.world.Identity.Epoch || c.Epoch == l.world.Identity.Epoch && l.decided(c) {
			return events.Loss{}, false
		}
		return events.Loss{Witness: events.WitnessPod, Epoch: c.Epoch, Job: c.Job, Ordinal: c.Ordinal, Pod: f.UID}, true
	}
	return events.Loss{}, false
}

// decided reports whether the log knows the create that a pod of this epoch claims, or cannot know any more: its Job is
// over.
func (l *Loop) decided(c events.Claim) bool {
	s := events.JobStream(c.Job)
	known := false
	switch j := l.world.Job(s); {
	case j != nil: // the account may have begun anew since: the Job was retired, and a pod of it came late
		known = c.Ordinal <= j.Ordinal || l.decidedBefore(s, c.Ordinal)
	default:
		known = l.world.Retired(s) != nil || l.heads[s] != 0 || l.past(s) != 0
	}
	return known || l.broken != nil || l.pruned()
}

// decidedBefore reports whether the Job's stream says that a create was decided, or that the Job has gone. It may have
// gone without a record of that: a read did not find it.
func (l *Loop) decidedBefore(s events.Stream, ordinal uint64) bool {
	for rec := range l.backward(s) {
		switch f := rec.Facts.(type) {
		case *events.JobGone, *events.Erased: // what was erased may have been that create
			return true
		case *events.Decision:
			for _, c := range f.Commands() {
				if create, is := c.(*events.CreatePod); is && rec.Kind == events.KindDecided && create.Ordinal >= ordinal {
					return true
				}
			}
		}
	}
	return false
}

// pruned reports whether the log does not keep its first records.
func (l *Loop) pruned() bool {
	_, err := l.log.Chain(1)
	return err != nil
}

// lose records a loss. Nothing is decided any more in this run, and no command leaves that waits for its record.
func (l *Loop) lose(b *batch, loss events.Loss) error {
	l.giveBackWaiting(b)
	l.put(b, controllerDraft(events.KindLossFound, &events.LossFound{Loss: loss}))
	l.commit(b, true)
	return &LossError{loss}
}

// BeginEpoch begins another life of the log, after a loss that an operator has accepted, and returns when that is
// durable. The world is what the log says; it forgets the cluster, which knows more than the log now. Nothing else may
// append meanwhile.
func BeginEpoch(ctx context.Context, log store.Log, world *projector.World, now events.Time, salt func() events.Salt, epoch uint64, lost events.Loss) error {
	if err := log.Room(turnRoom); err != nil {
		return fmt.Errorf("begin epoch %d: %w", epoch, err)
	}
	l := New(Config{Log: log, World: world, Salt: salt, Settings: world.Settings})
	b := l.begin(now)
	l.put(b, controllerDraft(events.KindEpochChanged, &events.EpochChanged{Epoch: epoch, Reason: events.EpochRestored, Lost: lost}))
	l.startTerm(b)
	l.commit(b, true)
	if _, err := log.Wait(ctx, l.next-2); err != nil {
		return fmt.Errorf("begin epoch %d: %w", epoch, err)
	}
	return nil
}

// backward is the stream's records of this life of the log, the newest first, as far as the log keeps them. What cannot
// be read ends it, and the turn.
func (l *Loop) backward(s events.Stream) iter.Seq[*events.Record] {
	return func(yield func(*events.Record) bool) {
		for rec, err := range l.log.ReadStream(context.Background(), s, 0, store.Backward) {
			if err != nil && !errors.Is(err, store.ErrPruned) {
				l.broken = fmt.Errorf("look back in %s: %w", s, err)
			}
			if err != nil || rec.Sequence <= l.world.Rewound || !yield(&rec) {
				return
			}
		}
	}
}
