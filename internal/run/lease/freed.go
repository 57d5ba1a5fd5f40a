package lease

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// The first pause between requests for a Lease whose holder is about to release it, and the longest. Each pause is
// twice as long as the one before.
const (
	freedPause     = 20 * time.Millisecond
	mostFreedPause = 320 * time.Millisecond
)

// takeFreed tries to take the Lease when bid.Freed says that its holder is about to release it. client-go's elector
// alone would try only once or less in a retry period. After a success, takeFreed renews the Lease until the elector
// finds that this process holds it, and renews it from then on. If renewals fail for the renew deadline, takeFreed
// calls end, and the Lease is lost. It returns when the Lease is held and the elector renews it, or when ctx ends.
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

// keep renews the Lease, which takeFreed has just taken, until the elector does.
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

// askForFreed tries to take the Lease until this process or another one has it, for at most a retry period. It reports
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
