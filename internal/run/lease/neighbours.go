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

// ErrBlind is returned if this process cannot read a Lease under which another controller may run the same Jobs.
var ErrBlind = errors.New("it cannot be told whether another controller runs these Jobs")

func isBlind(err error) bool { return errors.Is(err, ErrBlind) }

// neighbours reads the other Leases named jobledger, and remembers which of their holders are alive. Beside and each
// renewal use it; it is safe for concurrent use.
type neighbours struct {
	config Config
	// places are the operators' namespaces, except the one of our Lease. If our Lease is in a tenant's namespace,
	// Leases in places outrank it (above is true). Otherwise, of two Leases the one that was taken first outranks
	// the other.
	places []string
	above  bool

	mu       sync.Mutex
	seen     map[string]sighting // each Lease as it was first seen, by NAMESPACE/NAME
	acquired uint64              // resource version of the write that took our Lease; 0 before
	took     time.Time           // when judge was first called while our Lease was held; zero before
	looked   bool                // that call of judge has returned; a process that takes a Lease later finds ours
	watching bool                // a check found no live holder that outranks us, so one found later is new
	unlisted bool                // Leases in tenants' namespaces cannot be listed
}

// sighting is a Lease as it was first read, and when that was.
type sighting struct {
	Judged
	seen   time.Time
	looked bool // first read after holders could find our Lease (neighbours.looked)
}

func newNeighbours(c Config) *neighbours {
	places := slices.DeleteFunc(slices.Clone(OperatorNamespaces), func(n string) bool { return n == c.Namespace })
	return &neighbours{config: c, places: places, above: len(places) == len(OperatorNamespaces), seen: map[string]sighting{}}
}

func (n *neighbours) ours(object *coordinationv1.Lease) bool {
	return object.Namespace == n.config.Namespace
}

// ranked reports whether a Lease is in one of places (operators' namespaces), and so may outrank ours.
func (n *neighbours) ranked(object *coordinationv1.Lease) bool {
	return slices.Contains(n.places, object.Namespace)
}

// early reports whether a Lease was first read before its holder could find ours. A holder that takes its Lease later
// looks for other Leases first, and finds ours.
func (n *neighbours) early(s sighting) bool { return !s.looked }

// sight reports whether a Lease was renewed or taken since it was first read, and how it was then. If it is read for
// the first time, changed is false.
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

// list returns the other Leases named jobledger that this process may read. It returns ErrBlind if one that may go
// before ours cannot be read.
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
	// If the Leases of all namespaces cannot be listed, a controller of all namespaces may overlook controllers of
	// single ones. A controller of one namespace need not expect such controllers.
	n.unlisted = n.config.Scope == ""
	n.mu.Unlock()
	return found, nil
}

func (n *neighbours) blind(namespace string, err error) error {
	return fmt.Errorf("%w: the Lease %s/%s may not be read: %w", ErrBlind, namespace, UsualName, err)
}

// may asks the API server whether this user has a right on Leases named jobledger. It asks instead of trying, because a
// try that is denied again and again fills audit logs. If the question itself is denied, may returns true, and the
// caller tries the request.
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

// read returns the Leases named jobledger that exist in places (operators' namespaces), and so may outrank ours.
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

// come returns a Lease to whose holder this process must yield; nil for none. This is a Lease in places that was taken
// newly, if Leases in places outrank ours, or if this process has just taken its own Lease again (anew). Before
// watching is set, come returns nil.
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

// takenBy stores the resource version of the write that took our Lease; 0 while that write is in flight.
func (n *neighbours) takenBy(version uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.acquired = version
}

// takenAt returns the resource version of the write that took our Lease; 0 before it.
func (n *neighbours) takenAt() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.acquired
}
