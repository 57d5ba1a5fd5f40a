package lease

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// Beside lists live holders of other Leases whose Jobs include ours (split-brain).
type Beside struct {
	// Above is a Lease in an operator's namespace whose live holder has precedence: this process must not work. Nil for
	// none.
	Above *Said
	// Others are Leases in tenants' namespaces with live holders. An honest holder stops when it finds our Lease. Any
	// user who may write Leases in those namespaces may have written them.
	Others []Said
}

// OutrankedError ends Run: another client took our Lease, or one that ranks above it, while this process led.
type OutrankedError struct{ By Said }

// Error names the new leader.
func (e *OutrankedError) Error() string {
	return fmt.Sprintf("stopped leading: the Lease %s is now held by %s, whose Jobs include ours", e.By.Lease, e.By.Holder)
}

// Beside looks for live holders of other Leases whose Jobs include ours. To detect a dead holder it waits for the
// duration of its Lease, once per Lease. While our Lease is held, it also waits for honest lower-ranking holders to
// stop. Later each renewal of ours checks again. It returns ErrBlind if a Lease that may rank above ours cannot be
// read, and ctx's error if ctx ends first.
func (l *Lease) Beside(ctx context.Context) (found Beside, err error) {
	n := l.lock.beside
	err = n.until(ctx, func(leases []coordinationv1.Lease) (wait bool) {
		found, wait = n.judge(leases, l.isHeld())
		return found.Above == nil && wait
	})
	return found, err
}

// Stranger looks for a live controller of our Jobs that has another log than logID, under any readable Lease; nil for
// none. If some Lease names logID, that log has run here before and nothing is a stranger. Stranger waits until it
// knows whether a holder lives.
func (l *Lease) Stranger(ctx context.Context, logID string) (found *Said, err error) {
	n := l.lock.beside
	err = n.until(ctx, func(leases []coordinationv1.Lease) (wait bool) {
		found, wait = n.stranger(leases, logID)
		return found == nil && wait
	})
	return found, err
}

// Elsewhere returns the contents of the other Leases in the operator's namespaces.
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

// until reads the Leases repeatedly while wait returns true.
func (n *neighbours) until(ctx context.Context, wait func([]coordinationv1.Lease) bool) error {
	blind := time.Now()
	for told := (time.Time{}); ; {
		leases, err := n.list(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isBlind(err) && time.Since(blind) >= deniedPatience: // a starting API server denies everything
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

// judge finds the live holders beside us. held says that our own Lease is held.
func (n *neighbours) judge(leases []coordinationv1.Lease, held bool) (found Beside, wait bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if held && n.took.IsZero() {
		n.took = time.Now()
	}
	wait = held && n.unlisted && time.Since(n.took) < DefaultDuration // until honest unlisted holders have stopped
	for i := range leases {
		j := Judge(&leases[i])
		if n.ours(&leases[i]) || !j.Runs(n.config.scope()) {
			continue
		}
		changed, first := n.sight(&j)
		waiting := time.Since(first.seen) <= j.Patience
		switch {
		case n.ranked(&leases[i]):
			// A holder that took its Lease after ours yields at its next look; one that has not by the end of its patience
			// will not.
			if changed && (!held || !waiting || n.above || j.before(n.acquired, n.config.Namespace)) {
				return Beside{Above: &j.Said}, false
			}
			wait = wait || waiting
		case !held: // holders learn of us only once our Lease exists
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

// before reports whether an operator's Lease was taken before ours, in the order of the API server's writes. If that
// is unknown, the alphabetical order of the namespaces decides.
func (j *Judged) before(ours uint64, namespace string) bool {
	if j.Acquired == 0 || ours == 0 || j.Acquired == ours {
		return j.Lease < namespace+"/"
	}
	return j.Acquired < ours
}

// stranger finds a Lease whose holder has another log.
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
