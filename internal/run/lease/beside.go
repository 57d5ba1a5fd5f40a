package lease

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// Beside lists other Leases for Jobs that include ours whose holders are alive: two controllers run the same Jobs
// (split brain).
type Beside struct {
	// Above is such a Lease in an operator's namespace. Its holder has precedence, so this process must not work. Nil
	// for none.
	Above *Said
	// Others are such Leases in tenants' namespaces. A correct controller that holds one stops when it finds our Lease.
	// Any user who may write Leases in those namespaces may have written them.
	Others []Said
}

// OutrankedError ends Run: while this process led, another process took our Lease, or a Lease with precedence over
// ours.
type OutrankedError struct{ By Said }

// Error names the new leader.
func (e *OutrankedError) Error() string {
	return fmt.Sprintf("stopped leading: the Lease %s is now held by %s, whose Jobs include ours", e.By.Lease, e.By.Holder)
}

// Beside looks for other Leases for Jobs that include ours whose holders are alive. To see whether a holder is alive,
// it waits for the duration of that holder's Lease, once for each Lease. While our Lease is held, it also waits until
// correct controllers with lower precedence have stopped. After that, each renewal of our Lease checks again. It
// returns ErrBlind if a Lease that may have precedence over ours cannot be read, and ctx's error if ctx ends first.
func (l *Lease) Beside(ctx context.Context) (found Beside, err error) {
	n := l.lock.beside
	err = n.until(ctx, func(leases []coordinationv1.Lease) (wait bool) {
		found, wait = n.judge(leases, l.isHeld())
		return found.Above == nil && wait
	})
	return found, err
}

// Stranger looks for a live controller of our Jobs that has another log than logID, under any Lease that can be read;
// nil for none. If some Lease names logID, that log has run here before, and the result is nil. Stranger waits until it
// knows which holders are alive.
func (l *Lease) Stranger(ctx context.Context, logID string) (found *Said, err error) {
	n := l.lock.beside
	err = n.until(ctx, func(leases []coordinationv1.Lease) (wait bool) {
		found, wait = n.stranger(leases, logID)
		return found == nil && wait
	})
	return found, err
}

// Elsewhere returns the contents of the Leases in the operator's namespaces, except our own.
func (l *Lease) Elsewhere(ctx context.Context) (all []Said, err error) {
	n := l.lock.beside
	err = n.until(ctx, func(leases []coordinationv1.Lease) (wait bool) {
		for i := range leases {
			if j := Judge(&leases[i]); j.Word == Operators && !n.ours(&leases[i]) {
				all = append(all, j.Said)
			}
		}
		return false
	})
	return all, err
}

// until reads the other Leases again and again, until wait returns false for them.
func (n *neighbours) until(ctx context.Context, wait func([]coordinationv1.Lease) bool) error {
	blind := time.Now()
	for told := (time.Time{}); ; {
		leases, err := n.list(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isBlind(err) && time.Since(blind) >= deniedPatience: // an API server denies everything while it starts
			return err
		case isBlind(err):
		case err != nil && time.Since(told) >= n.config.Duration:
			n.config.Logger.Warn("cannot look for other controllers yet", "error", err)
			told = time.Now()
		case err == nil:
			if !wait(leases) {
				return nil
			}
		}
		select {
		case <-time.After(n.config.RetryPeriod):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// judge returns the other Leases for our Jobs whose holders are alive. held says that our own Lease is held. wait says
// that more time is needed to tell.
func (n *neighbours) judge(leases []coordinationv1.Lease, held bool) (found Beside, wait bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if held && n.took.IsZero() {
		n.took = time.Now()
	}
	// until correct holders of unlisted Leases have stopped
	wait = held && n.unlisted && time.Since(n.took) < DefaultDuration
	for i := range leases {
		j := Judge(&leases[i])
		if n.ours(&leases[i]) || !j.Runs(n.config.scope()) {
			continue
		}
		changed, first := n.sight(&j)
		waiting := time.Since(first.seen) <= j.Patience
		switch {
		case n.ranked(&leases[i]):
			// This holder has precedence if it took its Lease before ours. If it took it later, it stops at its next
			// check; one that has not stopped by the end of its patience never will.
			if changed && (!held || !waiting || n.above || j.before(n.acquired, n.config.Namespace)) {
				return Beside{Above: &j.Said}, false
			}
			wait = wait || waiting
		case !held: // holders find our Lease only after it exists
		case n.early(first) && waiting:
			wait = true
		case changed:
			found.Others = append(found.Others, j.Said)
		}
	}
	n.watching = n.watching || held && !wait
	n.looked = n.looked || held
	return found, wait
}

// before reports whether this Lease, in an operator's namespace, was taken before ours, in the order of the API
// server's writes. If that order is unknown, the alphabetical order of the namespaces decides.
func (j *Judged) before(ours uint64, namespace string) bool {
	if j.Acquired == 0 || ours == 0 || j.Acquired == ours {
		return j.Lease < namespace+"/"
	}
	return j.Acquired < ours
}

// stranger returns a Lease for our Jobs whose live holder has another log than logID; nil for none. wait says that more
// time is needed to tell.
func (n *neighbours) stranger(leases []coordinationv1.Lease, logID string) (found *Said, wait bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range leases {
		if said := saidBy(&leases[i]); said.LogID == logID && logID != "" {
			return nil, false
		}
	}
	for i := range leases {
		j := Judge(&leases[i])
		claimed := saidBy(&leases[i])
		if n.ours(&leases[i]) || j.Holder == "" || j.LogID == "" || claimed.Scope != "" && !overlap(claimed.Scope, n.config.scope()) {
			continue
		}
		changed, first := n.sight(&j)
		if changed {
			return &claimed, false
		}
		wait = wait || time.Since(first.seen) <= j.Patience
	}
	return nil, wait
}
