package lease

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/pager"
)

// UsualName is the name of a Lease of ours, unless an operator chose another.
const UsualName = "jobledger"

// Found is a Lease of a Jobledger as it was found in the cluster.
type Found struct {
	client coordinationclient.LeaseInterface
	object *coordinationv1.Lease
}

// Find lists the Leases of all Jobledgers in a namespace, or with an empty one in all of them. They are known by what they say
// of a log; one that says nothing yet is known by its name.
func Find(ctx context.Context, client kubernetes.Interface, namespace string) ([]*Found, error) {
	var all []*Found
	list := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return client.CoordinationV1().Leases(namespace).List(ctx, options)
	})
	err := list.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		object := o.(*coordinationv1.Lease)
		if object.Name == UsualName || object.Annotations[LogIDAnnotation] != "" {
			all = append(all, &Found{client: client.CoordinationV1().Leases(object.Namespace), object: object.DeepCopy()})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list Leases: %w", err)
	}
	return all, nil
}

// Read reads the Lease of that name, which is nil where there is none.
func Read(ctx context.Context, client kubernetes.Interface, namespace, name string) (*Found, error) {
	leases := client.CoordinationV1().Leases(namespace)
	object, err := leases.Get(ctx, name, getOptions)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Lease %s/%s: %w", namespace, name, err)
	}
	return &Found{client: leases, object: object}, nil
}

// Object is the Lease as it was found. It must not be changed.
func (f *Found) Object() *coordinationv1.Lease { return f.object }

// Said is what the Lease says.
func (f *Found) Said() Said { return saidBy(f.object) }

// Duration is how long others wait for a holder that does not renew the Lease.
func (f *Found) Duration() time.Duration {
	if s := f.object.Spec.LeaseDurationSeconds; s != nil && *s > 0 {
		return time.Duration(*s) * time.Second
	}
	return DefaultDuration
}

// Renewed waits until the holder renews the Lease, or another takes it, and reports whether that happened within the Lease's
// duration: then a controller runs. No clock of another machine is believed. A Lease without a holder is not waited for.
func (f *Found) Renewed(ctx context.Context) (bool, error) {
	deadline := time.NewTimer(f.Duration())
	defer deadline.Stop()
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for first := f.Said(); f.Said().Holder != ""; {
		select {
		case <-tick.C:
		case <-deadline.C:
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		object, err := f.client.Get(ctx, f.object.Name, getOptions)
		switch {
		case apierrors.IsNotFound(err):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("read Lease %s: %w", f.Said().Lease, err)
		}
		f.object = object
		if now := f.Said(); now.Holder != "" && (now.Holder != first.Holder || !now.Renewed.Equal(first.Renewed)) {
			return true, nil
		}
	}
	return false, nil
}

// lookAgain is the time between looks at a Lease that may be renewed.
const lookAgain = 500 * time.Millisecond

// Delete deletes the Lease, if it still is as it was seen last; one that is gone already is no error.
func (f *Found) Delete(ctx context.Context) error {
	err := f.client.Delete(ctx, f.object.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{
		UID: &f.object.UID, ResourceVersion: &f.object.ResourceVersion,
	}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
