package loop

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// LossError is the error that ends the Loop when records of the log are proven to be lost. The log already has a record
// about the loss.
type LossError struct{ Loss events.Loss }

// Error describes the loss and its proof.
func (e *LossError) Error() string { return "records of the log are lost: " + e.Loss.String() }

// loses reports whether an observation proves that records of the log are lost. Proof is that the stream on NATS has
// later records, or that a pod was made by a create command that the log does not have. Proof from an earlier epoch
// (life of the log) does not count.
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

// Undecided returns a loss of records if a pod's annotation names a create command of this epoch (life of the log) that
// the log does not have. claim is the content of that annotation; the caller must have checked that it is genuine. It
// needs no running Loop.
func Undecided(log store.Log, world *projector.World, claim events.Claim, pod types.UID) (events.Loss, bool, error) {
	l := &Loop{log: log, world: world}
	loss, is := l.loses(&events.Observation{Claim: claim, Facts: &events.PodSeen{UID: pod}})
	return loss, is, l.broken
}

// decided reports whether the log has the create command that a pod's annotation names. It also returns true if the log
// cannot tell: the Job has ended, old records were deleted, or a read of the log failed.
func (l *Loop) decided(c events.Claim) bool {
	s := events.JobStream(c.Job)
	known := false
	switch j := l.world.Job(s); {
	// A late pod may have reopened the stream of a retired Job, so that j knows no earlier creates: search the records,
	// too
	case j != nil:
		known = c.Ordinal <= j.Ordinal || l.decidedBefore(s, c.Ordinal)
	default:
		known = l.world.Retired(s) != nil || l.heads[s] != 0 || l.past(s) != 0
	}
	return known || l.broken != nil || l.pruned()
}

// decidedBefore reports whether the records of the Job s have the decision to create the pod with this ordinal (number
// of the create), or the Job's end. There may be no record of the end: if a read did not find the Job, it is gone
// without one.
func (l *Loop) decidedBefore(s events.Stream, ordinal uint64) bool {
	for rec := range l.backward(s) {
		switch f := rec.Facts.(type) {
		case *events.JobGone, *events.Erased: // the erased record may have been the wanted decision
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

// pruned reports whether the oldest records of the log were deleted (pruned), so that a missing create command proves
// nothing. Any other error of Chain counts as pruned, too: the log is then not proven to have lost records, and the
// only effect is that this pod does not end the Loop with a LossError.
func (l *Loop) pruned() bool {
	_, err := l.log.Chain(1)
	return err != nil
}

// lose records a loss of log records and ends the loop with a LossError. No further decision is made, and commands
// whose record is not durable are withdrawn.
func (l *Loop) lose(b *batch, loss events.Loss) error {
	l.giveBackWaiting(b)
	l.put(b, controllerDraft(events.KindLossFound, &events.LossFound{Loss: loss}))
	l.commit(b, true)
	return &LossError{loss}
}

// BeginEpoch starts a new epoch (life of the log) after a loss of records that the operator has accepted, lost. It
// returns when the epoch's first record is durable. world is the state of the log; what it knows of the cluster is
// cleared, because the cluster is ahead of the log. No other process may write the log. If the log has no space, the
// error is store.ErrNoRoom.
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

// backward yields the records of a stream in this epoch, newest first, as far back as the log has them. A read error
// ends the iteration and sets l.broken, which ends the turn.
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
