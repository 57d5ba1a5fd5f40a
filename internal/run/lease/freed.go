package lease

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// The first and the longest pause between two tries to take a Lease whose holder is about to release it. Each pause is
// twice as long as the one before: 20, 40, 80, 160, 320 ms.
const (
	freedPause     = 20 * time.Millisecond
	mostFreedPause = 320 * time.Millisecond
)

// takeFreed takes the Lease as soon as its holder releases it; bid.Freed says that this is about to happen. client-go's
// elector alone would try at most once in a retry period. After a success, takeFreed renews the Lease until the elector
// does. If renewals fail for the renew deadline, it calls end, and the Lease is lost. It returns when the elector
// renews the Lease, or when ctx ends.
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

// keep renews the Lease, which takeFreed has just taken, until client-go's elector renews it. end gives the Lease up if
// renewals fail.
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

// askForFreed tries to take the Lease again and again, for at most a retry period, until this process or another one
// has it. It reports whether this process has it.
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

// next returns what is written into a released Lease to take it.
func (l *Lease) next(released *resourcelock.LeaderElectionRecord) resourcelock.LeaderElectionRecord {
	now := metav1.Now()
	return resourcelock.LeaderElectionRecord{
		HolderIdentity: l.config.Identity, LeaseDurationSeconds: int(l.config.Duration / time.Second),
		AcquireTime: now, RenewTime: now, LeaderTransitions: released.LeaderTransitions + 1,
	}
}
