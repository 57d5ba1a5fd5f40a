package lease

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Pauses between requests for a Lease whose holder is about to release it: the first, which doubles, and the longest.
const (
	freedPause     = 20 * time.Millisecond
	mostFreedPause = 320 * time.Millisecond
)

// takeFreed asks for the Lease when bid.Freed says that its holder is about to release it. It ends when the Lease is
// held, or when ctx ends. client-go's elector asks only once in a retry period, and in twice that at times. It finds the
// Lease held by this process then, and goes on to renew it. Until then takeFreed renews it; if that fails for the renew
// deadline, it calls end, and the Lease is lost.
func (l *Lease) takeFreed(ctx context.Context, end context.CancelFunc) {
	for !l.isHeld() {
		select {
		case <-l.started:
			return
		case <-ctx.Done():
			return
		case <-l.lock.bid.Freed:
		}
		if l.askForFreed(ctx) {
			l.begin()
			l.keep(ctx, end)
			return
		}
	}
}

// keep renews the Lease, just taken, until the elector does.
func (l *Lease) keep(ctx context.Context, end context.CancelFunc) {
	for renewed := time.Now(); ; {
		left := l.config.RenewDeadline - time.Since(renewed)
		if left <= 0 {
			end()
			return
		}
		select {
		case <-time.After(min(left, l.config.RetryPeriod)):
		case <-l.elected:
			return
		case <-ctx.Done():
			return
		}
		began := time.Now()
		if l.renew(ctx) == nil {
			renewed = began
		}
	}
}

func (l *Lease) renew(ctx context.Context) error {
	record, _, err := l.lock.Get(ctx)
	switch {
	case err != nil:
		return err
	case record.HolderIdentity != l.config.Identity:
		return ErrLost
	}
	record.RenewTime = metav1.Now()
	return l.lock.Update(ctx, *record)
}

// askForFreed asks for the Lease until this process or a new holder has it, for at most a retry period. It reports
// whether it took the Lease.
func (l *Lease) askForFreed(ctx context.Context) (taken bool) {
	ctx, cancel := context.WithTimeout(ctx, l.config.RetryPeriod)
	defer cancel()
	before := ""
	for pause := freedPause; ; pause = min(2*pause, mostFreedPause) {
		record, _, err := l.lock.Get(ctx)
		switch {
		case err != nil:
		case record.HolderIdentity == "":
			if l.lock.Update(ctx, l.next(record)) == nil {
				l.config.Logger.Info("the Lease was released: taken at once", "lease", l.Name())
				return true
			}
		case record.HolderIdentity == l.config.Identity, before != "" && record.HolderIdentity != before:
			return false
		default:
			before = record.HolderIdentity
		}
		select {
		case <-time.After(pause):
		case <-l.started:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// next returns the record with which this process takes a released Lease.
func (l *Lease) next(released *resourcelock.LeaderElectionRecord) resourcelock.LeaderElectionRecord {
	now := metav1.Now()
	return resourcelock.LeaderElectionRecord{
		HolderIdentity: l.config.Identity, LeaseDurationSeconds: int(l.config.Duration / time.Second),
		AcquireTime: now, RenewTime: now, LeaderTransitions: released.LeaderTransitions + 1,
	}
}
