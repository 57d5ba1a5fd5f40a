package apiserver

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// GetLease reads a Lease from the server, not from a cache.
func (c *Client) GetLease(ctx context.Context, namespace, name string) (*coordinationv1.Lease, error) {
	call := Call{Verb: "get", Kind: Leases, Namespace: namespace, Name: name}
	return perform(ctx, c, call, func(request) (*coordinationv1.Lease, error) {
		if lease := lookup[*coordinationv1.Lease](c.server, Leases, Key{namespace, name}); lease != nil {
			return lease, nil
		}
		return nil, apierrors.NewNotFound(Leases.resource(), name)
	})
}

// CreateLease creates a Lease under the name in its metadata.
func (c *Client) CreateLease(ctx context.Context, in *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	lease := wireLease(in)
	call := Call{Verb: "create", Kind: Leases, Namespace: lease.Namespace, Name: lease.Name}
	return perform(ctx, c, call, func(r request) (*coordinationv1.Lease, error) {
		if err := c.server.create(r, lease, func() {}, func() field.ErrorList { return validateLease(lease) }); err != nil {
			return nil, err
		}
		return lease.DeepCopy(), nil
	})
}

// UpdateLease replaces a Lease. If in has a UID or a resource version, it must be the stored one.
func (c *Client) UpdateLease(ctx context.Context, in *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	lease := wireLease(in)
	call := Call{Verb: "update", Kind: Leases, Namespace: lease.Namespace, Name: lease.Name, UID: lease.UID}
	return perform(ctx, c, call, func(r request) (*coordinationv1.Lease, error) {
		sent := lease.DeepCopy()
		stored, err := c.server.replaces(Leases, sent)
		if err != nil {
			return nil, err
		}
		sent.Generation = stored.GetGeneration()
		if errs := validateLease(sent); len(errs) > 0 {
			return nil, apierrors.NewInvalid(Leases.groupKind(), sent.Name, errs)
		}
		return c.server.update(r, stored, sent).(*coordinationv1.Lease).DeepCopy(), nil
	})
}

// validateLease returns an error for an invalid name, and for a duration that is not positive.
func validateLease(lease *coordinationv1.Lease) field.ErrorList {
	errs := apivalidation.ValidateObjectMeta(&lease.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	if s := lease.Spec.LeaseDurationSeconds; s != nil && *s <= 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "leaseDurationSeconds"), *s, "must be greater than 0"))
	}
	return errs
}

func wireLease(in *coordinationv1.Lease) *coordinationv1.Lease {
	return wire(in, &coordinationv1.Lease{})
}
