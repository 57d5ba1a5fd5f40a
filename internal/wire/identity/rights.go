package identity

import (
	"context"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Right says what a user may read: the whole log, or one namespace. The zero Right allows nothing.
type Right struct {
	All       bool      // the whole log
	Namespace string    // the only readable namespace, unless All is set
	Since     time.Time // creation time of the namespace: older records belong to an earlier namespace with that name
}

// asked is the key of a cached right: the key of a user (a hash), and a namespace; an empty namespace stands for all.
type asked struct{ user, namespace string }

// MayRead returns what a user may read. namespace is what the user asks about; empty for all namespaces. If the user
// may not read that, the error is a *RefusedError that names the missing right.
func (i *Identity) MayRead(ctx context.Context, u User, namespace string) (Right, error) {
	switch all, err := i.lists(ctx, u, ""); {
	case err != nil:
		return Right{}, err
	case all:
		return Right{All: true}, nil
	case namespace == "":
		return Right{}, lacks(u, "", ": name a namespace, such as -n NAMESPACE")
	}
	switch may, err := i.lists(ctx, u, namespace); {
	case err != nil:
		return Right{}, err
	case !may:
		return Right{}, lacks(u, namespace, "")
	}
	type found struct {
		created time.Time
		there   bool
	}
	f, err := ask(ctx, i, "a namespace", func(ctx context.Context) (found, error) {
		n, err := i.client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return found{}, nil
		case err != nil:
			return found{}, err
		}
		return found{n.CreationTimestamp.Time, true}, nil
	})
	switch {
	case err != nil:
		return Right{}, err
	case !f.there:
		return Right{}, lacks(u, "", ": that takes a namespace that is gone, and there is no "+namespace)
	}
	return Right{Namespace: namespace, Since: f.created}, nil
}

// lists reports whether a user may list Jobs in a namespace, or in all namespaces if that is empty.
func (i *Identity) lists(ctx context.Context, u User, namespace string) (bool, error) {
	q := asked{u.key, namespace}
	i.mu.Lock()
	known := i.rights[q]
	i.mu.Unlock()
	if time.Now().Before(known.until) {
		return known.answer, nil
	}
	may, err := ask(ctx, i, "a right", func(ctx context.Context) (bool, error) {
		extra := map[string]authorizationv1.ExtraValue{}
		for k, v := range u.Extra {
			extra[k] = v
		}
		access, err := i.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User: u.Name, UID: u.UID, Groups: u.Groups, Extra: extra,
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Verb: "list", Group: "batch", Resource: "jobs", Namespace: namespace,
				},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return access.Status.Allowed && !access.Status.Denied, nil
	})
	if err != nil {
		return false, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.rights) >= mostAnswers {
		clear(i.rights)
	}
	i.rights[q] = believed[bool]{may, time.Now().Add(believedFor)}
	return may, nil
}
