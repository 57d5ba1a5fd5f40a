package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrDenied is returned if this user may not read or write the Lease, or its namespace does not exist.
var ErrDenied = errors.New("the Lease cannot be held")

// deniedPatience is how long all requests may be denied, at a start, until this counts as an error. An API server that
// starts denies everything until it has read its roles.
const deniedPatience = 5 * time.Second

// noteDenied returns err. If all requests with this verb have been denied for 5 seconds, and the Lease is not held, it
// also ends the wait for the Lease.
func (k *lock) noteDenied(verb string, err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	since, before := k.deniedSince[verb]
	switch {
	case k.ours || err != nil && !denied(err):
	case err == nil:
		delete(k.deniedSince, verb)
	case !before:
		k.deniedSince[verb] = time.Now()
	case time.Since(since) >= deniedPatience:
		k.refuse(fmt.Errorf("%w: %s: %w", ErrDenied, k.Describe(), err))
	}
	return err
}

func denied(err error) bool {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return false // not denied for good: a namespace that is being deleted may be created again
	}
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || noNamespace(err)
}

// noNamespace reports whether an object could not be created because its namespace does not exist.
func noNamespace(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Kind == "namespaces"
}

// makeNamespace creates the Lease's namespace, if Config.MakeNamespace allows it.
func (k *lock) makeNamespace(ctx context.Context) error {
	if !k.config.MakeNamespace {
		return apierrors.NewNotFound(corev1.Resource("namespaces"), k.config.Namespace)
	}
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: k.config.Namespace}}
	_, err := k.config.Client.CoreV1().Namespaces().Create(ctx, n, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil
	case err != nil:
		return fmt.Errorf("there is no namespace %s, and it cannot be made: %w", k.config.Namespace, err)
	}
	k.config.Logger.Info("made the namespace of the Lease", "namespace", k.config.Namespace)
	return nil
}

// refuse ends the wait for the Lease, or its renewal, with err. Only the first call has an effect.
func (k *lock) refuse(err error) {
	select {
	case k.refused <- err:
	default:
	}
}
