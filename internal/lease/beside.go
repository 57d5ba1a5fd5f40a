package lease

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Beside is who runs Jobs that are also ours, under another Lease of our name.
type Beside struct {
	// Above is what a Lease says that ranks above ours, and whose holder lives: this process must not work. Nil for none.
	Above *Said
	// Others is what Leases say that rank no higher than ours, and whose holders live: an honest one of them ends when it finds
	// ours. Any user who may write Leases in their namespaces may have written them.
	Others []Said
}

// OutrankedError ends Run: while this process led, another client took a Lease that ranks above its own, to run Jobs that are also ours.
type OutrankedError struct{ By Said }

// Error says who leads now.
func (e *OutrankedError) Error() string {
	return fmt.Sprintf("stopped leading: the Lease %s is now held by %s, whose Jobs include ours", e.By.Lease, e.By.Holder)
}

// neighbours are the other Leases of our name. It is safe for concurrent use: Beside looks at them, and each renewal does.
type neighbours struct {
	config Config
	above  []string // the namespaces where a Lease ranks above ours

	mu       sync.Mutex
	seen     map[string]sighting // by NAMESPACE/NAME, as they were first seen
	watching bool                // there was no holder above us while we had our Lease, so one that is there now has come since
	readable []string            // of above, where this user may read the Lease
	asked    time.Time           // when that was found out
}

// sighting is who held a Lease, renewed at that time by their clock, and when that was first seen by ours.
type sighting struct {
	holder  string
	renewed time.Time
	seen    time.Time
}

// newNeighbours fixes which Leases rank above ours. The namespace of the operator's Lease is first, because no tenant can write
// there; then, for the Jobs of one namespace, that namespace; then any other. Within a rank no holder yields.
func newNeighbours(c Config) *neighbours {
	ranks := []string{DefaultNamespace}
	if c.Scope != "" {
		ranks = append(ranks, c.Scope)
	}
	if i := slices.Index(ranks, c.Namespace); i >= 0 {
		ranks = ranks[:i]
	}
	return &neighbours{config: c, above: ranks, seen: map[string]sighting{}}
}

// Beside looks for who holds another Lease of that name and runs Jobs that are also ours: those of all namespaces beside those
// of one. It looks where this user may: in all namespaces, else where a Lease would rank above ours. A holder that was killed
// does not renew its Lease; Beside waits for as long as that takes to find out, and not twice for the same. While our own Lease
// is held it also waits until the other holders have given theirs back, for as long as ours is good for at most, so that an
// honest one has ended by then. From then on each renewal of ours looks at the Leases above it. Ctx ends it, with its error.
func (l *Lease) Beside(ctx context.Context) (Beside, error) {
	n := l.lock.beside
	for told := (time.Time{}); ; {
		leases, err := n.list(ctx)
		switch {
		case ctx.Err() != nil:
			return Beside{}, context.Cause(ctx)
		case err != nil && time.Since(told) >= l.config.Duration:
			l.config.Logger.Warn("cannot look for other controllers yet", "error", err)
			told = time.Now()
		case err == nil:
			if found, wait := n.judge(leases, l.isHeld()); found.Above != nil || !wait {
				return found, nil
			}
		}
		select {
		case <-time.After(l.config.RetryPeriod):
		case <-ctx.Done():
			return Beside{}, context.Cause(ctx)
		}
	}
}

// list returns the Leases of that name that may be read.
func (n *neighbours) list(ctx context.Context) ([]coordinationv1.Lease, error) {
	if err := n.ask(ctx); err != nil {
		return nil, err
	}
	switch may, err := n.may(ctx, "list", metav1.NamespaceAll); {
	case err != nil:
		return nil, err
	case !may:
		return n.readAbove(ctx)
	}
	list, err := n.config.Client.CoordinationV1().Leases(metav1.NamespaceAll).
		List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + n.config.Name})
	switch {
	case err == nil:
		return list.Items, nil
	case denied(err):
		return n.readAbove(ctx)
	}
	return nil, err
}

// askAgain is after how long a right is asked for again that was not there: an API server that has just started denies everything.
const askAgain = time.Minute

// ask finds out where a Lease above ours may be read.
func (n *neighbours) ask(ctx context.Context) error {
	var readable []string
	for _, namespace := range n.above {
		may, err := n.may(ctx, "get", namespace)
		if err != nil {
			return err
		}
		if may {
			readable = append(readable, namespace)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.readable, n.asked = readable, time.Now()
	return nil
}

// may asks whether this user has a right on Leases of our name. A request that is refused every few seconds fills audit logs, and
// alarms those who read them. A server that does not answer the question is asked for the Lease itself.
func (n *neighbours) may(ctx context.Context, verb, namespace string) (bool, error) {
	review, err := n.config.Client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: verb, Group: coordinationv1.GroupName, Resource: "leases", Name: n.config.Name,
		}},
	}, metav1.CreateOptions{})
	switch {
	case denied(err) || apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("ask whether Leases may be read: %w", err)
	}
	return review.Status.Allowed, nil
}

// readAbove reads the Leases that rank above ours, as far as they exist and may be read.
func (n *neighbours) readAbove(ctx context.Context) (found []coordinationv1.Lease, err error) {
	n.mu.Lock()
	readable := n.readable
	n.mu.Unlock()
	for _, namespace := range readable {
		object, err := n.config.Client.CoordinationV1().Leases(namespace).Get(ctx, n.config.Name, getOptions)
		switch {
		case err == nil:
			found = append(found, *object)
		case !apierrors.IsNotFound(err) && !denied(err):
			return nil, fmt.Errorf("read Lease %s/%s: %w", namespace, n.config.Name, err)
		}
	}
	return found, nil
}

// judge finds the holders beside us that live: those that have renewed their Leases since we first saw them. One that has not
// for as long as its Lease is good for has ended. Held says that our own Lease is.
func (n *neighbours) judge(leases []coordinationv1.Lease, held bool) (found Beside, wait bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range leases {
		said := saidBy(&leases[i])
		above := slices.Contains(n.above, leases[i].Namespace)
		if !n.concerns(leases[i].Namespace, &said) || !above && !held { // the others are told nothing before our Lease is there
			continue
		}
		changed, first := n.sight(&said)
		patience := n.config.Duration
		if above {
			patience = min(lasts(&leases[i]), n.longest())
		}
		switch {
		case above && changed:
			return Beside{Above: &said}, false
		case time.Since(first.seen) <= patience:
			wait = true
		case changed:
			found.Others = append(found.Others, said)
		}
	}
	n.watching = n.watching || held && !wait
	return found, wait
}

// sight reports whether a Lease was renewed or taken since it was first seen, which may be now.
func (n *neighbours) sight(said *Said) (changed bool, first sighting) {
	first, known := n.seen[said.Lease]
	if !known {
		first = sighting{said.Holder, said.Renewed, time.Now()}
		n.seen[said.Lease] = first
		n.config.Logger.Info("another Lease is held for Jobs that are also ours: finding out whether its holder lives",
			"lease", said.Lease, "holder", said.Holder)
	}
	return first.holder != said.Holder || !first.renewed.Equal(said.Renewed), first
}

// come looks, once watching, for who took a Lease that ranks above ours, and returns it. It can err only where it may look.
func (n *neighbours) come(ctx context.Context) (*Said, error) {
	n.mu.Lock()
	watching, stale := n.watching, len(n.readable) < len(n.above) && time.Since(n.asked) >= askAgain
	n.mu.Unlock()
	if !watching {
		return nil, nil
	}
	if stale {
		if err := n.ask(ctx); err != nil {
			return nil, err
		}
	}
	leases, err := n.readAbove(ctx)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range leases {
		said := saidBy(&leases[i])
		if !n.concerns(leases[i].Namespace, &said) {
			continue
		}
		first, known := n.seen[said.Lease]
		if !known || first.holder != said.Holder || !first.renewed.Equal(said.Renewed) {
			return &said, nil
		}
	}
	return nil, nil
}

// concerns reports whether a Lease is another one than ours, and is held for Jobs that are also ours.
func (n *neighbours) concerns(namespace string, said *Said) bool {
	return namespace != n.config.Namespace && said.Holder != "" && overlap(said.Scope, n.config.scope())
}

// overlap reports whether two scopes have Jobs in common. One that is not known has none.
func overlap(a, b string) bool {
	return a != "" && (a == b || a == Everywhere || b == Everywhere)
}

// longest is for how long a Lease above ours is waited for, whatever it says.
func (n *neighbours) longest() time.Duration { return max(time.Minute, 4*n.config.Duration) }

func lasts(object *coordinationv1.Lease) time.Duration {
	if s := object.Spec.LeaseDurationSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return DefaultDuration
}
