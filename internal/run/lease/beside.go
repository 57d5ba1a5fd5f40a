package lease

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// Beside is who runs Jobs that are also ours, under another Lease.
type Beside struct {
	// Above is what a Lease in an operator's namespace says, whose holder lives and is to go on: this process must not
	// work. Nil for none.
	Above *Said
	// Others is what Leases in tenants' namespaces say, whose holders live: an honest one of them ends when it finds ours.
	// Any user who may write Leases in their namespaces may have written them.
	Others []Said
}

// OutrankedError ends Run: while this process led, another client took our Lease, or one that ranks above it.
type OutrankedError struct{ By Said }

// Error says who leads now.
func (e *OutrankedError) Error() string {
	return fmt.Sprintf("stopped leading: the Lease %s is now held by %s, whose Jobs include ours", e.By.Lease, e.By.Holder)
}

// Beside looks for who holds another Lease and runs Jobs that are also ours. A holder that was killed does not renew
// its Lease; Beside waits for as long as that takes to find out, and not twice for the same. While our own Lease is
// held, it also waits until holders that are to yield to us have given theirs back, so that an honest one has ended by
// then. From then on each renewal of ours looks again. An error that is ErrBlind says that a Lease may not be read
// which may be above ours. Ctx ends it, with its error.
func (l *Lease) Beside(ctx context.Context) (found Beside, err error) {
	n := l.lock.beside
	err = n.until(ctx, func(leases []coordinationv1.Lease) (wait bool) {
		found, wait = n.judge(leases, l.isHeld())
		return found.Above == nil && wait
	})
	return found, err
}

// Stranger looks for a controller that runs Jobs that are also ours with another log than the named one, under whatever
// Lease may be read. A log that some Lease names has no strangers: it ran here before. Stranger waits until it knows
// whether a holder lives.
func (l *Lease) Stranger(ctx context.Context, logID string) (found *Said, err error) {
	n := l.lock.beside
	err = n.until(ctx, func(leases []coordinationv1.Lease) (wait bool) {
		found, wait = n.stranger(leases, logID)
		return found == nil && wait
	})
	return found, err
}

// Elsewhere is what the Leases in the operator's namespaces say, but for ours.
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

// until reads the Leases again and again, for as long as wait says so.
func (n *neighbours) until(ctx context.Context, wait func([]coordinationv1.Lease) bool) error {
	blind := time.Now()
	for told := (time.Time{}); ; {
		leases, err := n.list(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isBlind(err) && time.Since(blind) >= deniedPatience: // an API server that has just started denies everything
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

// judge finds the holders beside us that live. Held says that our own Lease is.
func (n *neighbours) judge(leases []coordinationv1.Lease, held bool) (found Beside, wait bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if held && n.took.IsZero() {
		n.took = time.Now()
	}
	wait = held && n.unlisted && time.Since(n.took) < DefaultDuration // an honest one of those that are not seen has ended by then
	for i := range leases {
		j := Judge(&leases[i])
		if n.ours(&leases[i]) || !j.Runs(n.config.scope()) {
			continue
		}
		changed, first := n.sight(&j)
		waiting := time.Since(first.seen) <= j.Patience
		switch {
		case n.ranked(&leases[i]):
			// One that took its Lease after ours yields when it looks. One that does not by the end of its patience is no such
			// one.
			if changed && (!held || !waiting || n.above || j.before(n.acquired, n.config.Namespace)) {
				return Beside{Above: &j.Said}, false
			}
			wait = wait || waiting
		case !held: // it is told nothing before our Lease is there
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

// before reports whether an operator's Lease was taken before ours: by the order in which the API server wrote the two.
// Where it does not tell, the one in the namespace that comes first in the alphabet was.
func (j *Judged) before(ours uint64, namespace string) bool {
	if j.Acquired == 0 || ours == 0 || j.Acquired == ours {
		return j.Lease < namespace+"/"
	}
	return j.Acquired < ours
}

// stranger finds the holder of a Lease with another log.
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
