package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrBlind: a Lease may not be read under which another controller may run the same Jobs.
var ErrBlind = errors.New("it cannot be told whether another controller runs these Jobs")

func isBlind(err error) bool { return errors.Is(err, ErrBlind) }

// neighbours are the other Leases of our name. It is safe for concurrent use: Beside looks at them, and each renewal
// does.
type neighbours struct {
	config Config
	// places are the operator's namespaces but ours. A Lease there is above ours while ours is in a tenant's namespace,
	// and else its peer: the one that was taken first goes on.
	places []string
	above  bool

	mu       sync.Mutex
	seen     map[string]sighting // by NAMESPACE/NAME, as they were first seen
	acquired uint64              // the resource version by which we took our Lease; 0 before
	took     time.Time           // when the Leases were first looked at with ours held
	looked   bool                // that look is over: who takes a Lease from then on finds ours
	watching bool                // no living holder is above us while we have our Lease, so one that is there now has come since
	unlisted bool                // the Leases of tenants may not be listed
}

// sighting is how a Lease was first seen, and when.
type sighting struct {
	Judged
	seen   time.Time
	looked bool // that was after the first look with our Lease held
}

func newNeighbours(c Config) *neighbours {
	places := slices.DeleteFunc(slices.Clone(OperatorNamespaces), func(n string) bool { return n == c.Namespace })
	return &neighbours{config: c, places: places, above: len(places) == len(OperatorNamespaces), seen: map[string]sighting{}}
}

func (n *neighbours) ours(object *coordinationv1.Lease) bool {
	return object.Namespace == n.config.Namespace
}

// ranked reports whether a Lease is above ours or its peer.
func (n *neighbours) ranked(object *coordinationv1.Lease) bool {
	return slices.Contains(n.places, object.Namespace)
}

// early reports whether a Lease was seen by the end of the first look with ours held. The holder of a later one finds
// ours.
func (n *neighbours) early(s sighting) bool { return !s.looked }

// sight reports whether a Lease was renewed or taken since it was first seen, which may be now.
func (n *neighbours) sight(j *Judged) (changed bool, first sighting) {
	first, known := n.seen[j.Lease]
	if !known {
		first = sighting{*j, time.Now(), n.looked}
		n.seen[j.Lease] = first
		n.config.Logger.Info("another Lease is held for Jobs that are also ours: finding out whether its holder lives",
			"lease", j.Lease, "holder", j.Holder, "waits", j.Patience.String())
	}
	return j.Lives(&first.Judged), first
}

// list returns the Leases of our name that may be read. Those that rank above ours must be.
func (n *neighbours) list(ctx context.Context) ([]coordinationv1.Lease, error) {
	for _, namespace := range n.places {
		may, err := n.may(ctx, "get", namespace)
		if err != nil {
			return nil, err
		}
		if !may {
			return nil, n.blind(namespace, errors.New("no role gives the right to get it"))
		}
	}
	found, err := n.read(ctx)
	if err != nil {
		return nil, err
	}
	may, err := n.may(ctx, "list", metav1.NamespaceAll)
	if err != nil {
		return nil, err
	}
	if may {
		list, err := n.config.Client.CoordinationV1().Leases(metav1.NamespaceAll).List(ctx, byName)
		if err == nil {
			return append(found, slices.DeleteFunc(list.Items, func(l coordinationv1.Lease) bool { return n.ranked(&l) })...), nil
		}
		if !denied(err) {
			return nil, err
		}
	}
	n.mu.Lock()
	n.unlisted = n.config.Scope == "" // only then there may be others
	n.mu.Unlock()
	return found, nil
}

func (n *neighbours) blind(namespace string, err error) error {
	return fmt.Errorf("%w: the Lease %s/%s may not be read: %w", ErrBlind, namespace, UsualName, err)
}

// may asks whether this user has a right on Leases of our name. A request that is refused every few seconds fills audit
// logs, and alarms those who read them. A server that does not answer the question is asked for the Lease itself.
func (n *neighbours) may(ctx context.Context, verb, namespace string) (bool, error) {
	review, err := n.config.Client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: verb, Group: coordinationv1.GroupName, Resource: "leases", Name: UsualName,
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

// read reads the Leases that rank above ours, as far as they exist.
func (n *neighbours) read(ctx context.Context) (found []coordinationv1.Lease, err error) {
	for _, namespace := range n.places {
		object, err := n.config.Client.CoordinationV1().Leases(namespace).Get(ctx, UsualName, getOptions)
		switch {
		case err == nil:
			found = append(found, *object)
		case denied(err):
			return nil, n.blind(namespace, err)
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("read Lease %s/%s: %w", namespace, UsualName, err)
		}
	}
	return found, nil
}

// come looks, once watching, for who is to lead in our place from now on, and returns it: who took a Lease above ours,
// and, when we have just taken our Lease anew, who has a peer of it.
func (n *neighbours) come(ctx context.Context, anew bool) (*Said, error) {
	n.mu.Lock()
	watching := n.watching
	n.mu.Unlock()
	if !watching || !n.above && !anew {
		return nil, nil
	}
	leases, err := n.read(ctx)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range leases {
		j := Judge(&leases[i])
		if !j.Runs(n.config.scope()) {
			continue
		}
		if first, known := n.seen[j.Lease]; !known || j.Lives(&first.Judged) {
			return &j.Said, nil
		}
	}
	return nil, nil
}

// takenBy notes the write of the API server by which our Lease was taken; 0 for one that is on its way.
func (n *neighbours) takenBy(version uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.acquired = version
}

// takenAt is the write by which our Lease was taken; 0 before that.
func (n *neighbours) takenAt() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.acquired
}
