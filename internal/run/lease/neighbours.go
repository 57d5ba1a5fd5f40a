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

// ErrBlind is returned if a Lease cannot be read under which another controller may run the same Jobs.
var ErrBlind = errors.New("it cannot be told whether another controller runs these Jobs")

func isBlind(err error) bool { return errors.Is(err, ErrBlind) }

// neighbours tracks the other Leases of our name. It is safe for concurrent use: Beside and each renewal use it.
type neighbours struct {
	config Config
	// places are the operator's namespaces except ours. If our Lease is in a tenant's namespace, Leases there rank above
	// it; otherwise they are peers, and the one taken first leads.
	places []string
	above  bool

	mu       sync.Mutex
	seen     map[string]sighting // by NAMESPACE/NAME: first observation
	acquired uint64              // resource version by which we took our Lease; 0 before
	took     time.Time           // first look with our Lease held
	looked   bool                // that look is over: later holders find our Lease
	watching bool                // no live holder ranks above us, so one found later is new
	unlisted bool                // tenants' Leases cannot be listed
}

// sighting is the first observation of a Lease, and its time.
type sighting struct {
	Judged
	seen   time.Time
	looked bool // observed after the first look with our Lease held
}

func newNeighbours(c Config) *neighbours {
	places := slices.DeleteFunc(slices.Clone(OperatorNamespaces), func(n string) bool { return n == c.Namespace })
	return &neighbours{config: c, places: places, above: len(places) == len(OperatorNamespaces), seen: map[string]sighting{}}
}

func (n *neighbours) ours(object *coordinationv1.Lease) bool {
	return object.Namespace == n.config.Namespace
}

// ranked reports whether a Lease ranks above ours or is a peer.
func (n *neighbours) ranked(object *coordinationv1.Lease) bool {
	return slices.Contains(n.places, object.Namespace)
}

// early reports whether a Lease was seen by the end of the first look with ours held. Holders of later ones find ours.
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

// list returns the readable Leases of our name. It returns an error if one that ranks above ours is not readable.
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

// may asks whether this user has a right on Leases of our name, because repeated denied requests fill audit logs and
// alarm their readers. If the server does not answer, the Lease itself is requested.
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

// read returns the existing Leases that rank above ours.
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

// come returns, once watching, the Lease that is to lead in our place: one newly taken above ours, or, if we have just
// taken ours anew, a peer; nil for none.
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

// takenBy records the API server's write that took our Lease; 0 while it is in flight.
func (n *neighbours) takenBy(version uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.acquired = version
}

// takenAt returns the write that took our Lease; 0 before it.
func (n *neighbours) takenAt() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.acquired
}
