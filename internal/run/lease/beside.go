package lease

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// Beside lists other controllers that run some of our Jobs, too: their holders are alive, and their Leases are in other
// namespaces.
type Beside struct {
	// Above is the Lease of such a controller in an operator's namespace that outranks ours: this process must not
	// work. Nil for none.
	Above *Said
	// Others are the Leases of such controllers in tenants' namespaces. A correct controller with such a Lease stops
	// when it finds ours. Any user with the right to write Leases in that namespace may have written it.
	Others []Said
}

// OutrankedError ends Run: while this process led, another process took our Lease, or a Lease that outranks ours.
type OutrankedError struct{ By Said }

// Error says which controller leads now.
func (e *OutrankedError) Error() string {
	return fmt.Sprintf("stopped leading: the Lease %s is now held by %s, whose Jobs include ours", e.By.Lease, e.By.Holder)
}

// Beside returns the other controllers whose Jobs include some of ours, and whose holders are alive. To see whether a
// holder is alive, it waits for a renewal for as long as that Lease's duration. If our Lease is held, it also waits
// until correct controllers that must yield to us have stopped. After that, each renewal of our Lease looks for new
// ones. It returns ErrBlind if a Lease that may outrank ours cannot be read, and ctx's error if ctx ends first.
func (l *Lease) Beside(ctx context.Context) (found Beside, err error) {
	n := l.lock.beside
	err = n.until(ctx, func(leases []coordinationv1.Lease) (wait bool) {
		found, wait = n.judge(leases, l.isHeld())
		return found.Above == nil && wait
	})
	return found, err
}

// Stranger returns what the Lease of a live controller says that runs our Jobs with another log than logID; nil if
// there is none. It reads all Leases that it may read. If one of them names logID, that log has run here before, and
// the result is nil. Stranger waits until it knows which holders are alive.
func (l *Lease) Stranger(ctx context.Context, logID string) (found *Said, err error) {
	n := l.lock.beside
	err = n.until(ctx, func(leases []coordinationv1.Lease) (wait bool) {
		found, wait = n.stranger(leases, logID)
		return found == nil && wait
	})
	return found, err
}

// Elsewhere returns what the Leases in the operators' namespaces say, except our own Lease.
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

// until reads the other controllers' Leases, again and again, until wait returns false for them.
func (n *neighbours) until(ctx context.Context, wait func([]coordinationv1.Lease) bool) error {
	blind := time.Now()
	for told := (time.Time{}); ; {
		leases, err := n.list(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		// An API server that starts denies everything, so a denial counts only if it lasts for deniedPatience.
		case isBlind(err) && time.Since(blind) >= deniedPatience:
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

// judge returns the other Leases for our Jobs whose holders are alive. held says whether our own Lease is held. wait is
// true if more time is needed to know which holders are alive.
func (n *neighbours) judge(leases []coordinationv1.Lease, held bool) (found Beside, wait bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if held && n.took.IsZero() {
		n.took = time.Now()
	}
	// If our Lease is held, and Leases in tenants' namespaces cannot be listed, wait as long as their holders may need
	// to find ours and stop.
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
			// A holder that lives (changed) outranks us if we do not hold our Lease yet, if its namespace ranks
			// above ours (above), or if it took its Lease before us. Otherwise it stops at its next check. If it has
			// not stopped when the wait is over, it never will, so we stop.
			if changed && (!held || !waiting || n.above || j.before(n.acquired, n.config.Namespace)) {
				return Beside{Above: &j.Said}, false
			}
			wait = wait || waiting
		case !held: // tenants' holders cannot find our Lease before we hold it
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

// before reports whether the Lease j was taken before ours; both are in operators' namespaces. ours is the resource
// version of the write that took our Lease, and namespace its namespace. If the order is unknown, the alphabetical
// order of the namespaces decides.
func (j *Judged) before(ours uint64, namespace string) bool {
	if j.Acquired == 0 || ours == 0 || j.Acquired == ours {
		return j.Lease < namespace+"/"
	}
	return j.Acquired < ours
}

// stranger returns a Lease for our Jobs whose holder is alive and has another log than logID; nil for none. wait is
// true if more time is needed to know which holders are alive.
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
