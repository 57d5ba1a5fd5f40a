package lease

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// Found is a Lease named jobledger that was read from the cluster.
type Found struct {
	client coordinationclient.LeaseInterface
	object *coordinationv1.Lease
}

// byName selects the Leases named jobledger. A role that grants rights to this name only allows a list with this
// selector, too.
var byName = metav1.ListOptions{FieldSelector: "metadata.name=" + UsualName}

// Find returns the Leases named jobledger that are trusted to name a controller of Jobs. It looks in namespace or, if
// that is empty, in all namespaces.
func Find(ctx context.Context, client kubernetes.Interface, namespace string) (found []*Found, err error) {
	list, err := client.CoordinationV1().Leases(namespace).List(ctx, byName)
	if err != nil {
		return nil, fmt.Errorf("list Leases: %w", err)
	}
	for i := range list.Items {
		object := &list.Items[i]
		if Judge(object).Word != Nobodys {
			found = append(found, &Found{client: client.CoordinationV1().Leases(object.Namespace), object: object})
		}
	}
	return found, nil
}

// Read reads the Lease of a namespace; nil if there is none.
func Read(ctx context.Context, client kubernetes.Interface, namespace string) (*Found, error) {
	leases := client.CoordinationV1().Leases(namespace)
	object, err := leases.Get(ctx, UsualName, getOptions)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Lease %s/%s: %w", namespace, UsualName, err)
	}
	return &Found{client: leases, object: object}, nil
}

// Object returns the Lease as it was read. The caller must not change it.
func (f *Found) Object() *coordinationv1.Lease { return f.object }

// Judged returns what the Lease says, as far as it is trusted; see Judge.
func (f *Found) Judged() Judged { return Judge(f.object) }

// Living returns the Leases whose holders are alive: within the Lease's duration, it is renewed, or taken by another
// holder. It watches all Leases at the same time. It does not compare clocks of different machines. A Lease without a
// holder is left out.
func Living(ctx context.Context, all []*Found) (living []*Found, err error) {
	lives, errs := make([]bool, len(all)), make([]error, len(all))
	var watches sync.WaitGroup
	for i, f := range all {
		watches.Go(func() { lives[i], errs[i] = f.Renewed(ctx) }) // ends at most a Lease's duration later
	}
	watches.Wait()
	for i, f := range all {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if lives[i] {
			living = append(living, f)
		}
	}
	return living, nil
}

// Holders returns the trusted Leases for scope, a namespace or Everywhere, that a live controller holds. It waits up to
// each Lease's duration to see a renewal. If the server does not answer, it returns the error without another request.
func Holders(ctx context.Context, client kubernetes.Interface, scope string) ([]*Found, error) {
	places := slices.Clone(OperatorNamespaces)
	if scope != Everywhere && !slices.Contains(places, scope) {
		places = append(places, scope)
	}
	var held []*Found
	for _, namespace := range places {
		f, err := Read(ctx, client, namespace)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		if said := f.Judged(); said.Runs(scope) {
			held = append(held, f)
		}
	}
	return Living(ctx, held)
}

// Renewed waits until the holder renews the Lease, or another process takes it. It returns false if neither happens
// within the Lease's duration.
func (f *Found) Renewed(ctx context.Context) (bool, error) {
	first := f.Judged()
	deadline := time.NewTimer(first.Patience)
	defer deadline.Stop()
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for f.Judged().Holder != "" {
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
			return false, fmt.Errorf("read Lease %s: %w", first.Lease, err)
		}
		f.object = object
		if now := f.Judged(); now.Lives(&first) {
			return true, nil
		}
	}
	return false, nil
}

// lookAgain is the time between two reads of a Lease while Renewed waits.
const lookAgain = 500 * time.Millisecond

// Delete deletes the Lease unless it has changed since it was last read. A deleted Lease is no error.
func (f *Found) Delete(ctx context.Context) error {
	err := f.client.Delete(ctx, f.object.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{
		UID: &f.object.UID, ResourceVersion: &f.object.ResourceVersion,
	}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
