package apiserver

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
)

// ListWorkloads lists all Workloads of a namespace, from the server and not from a cache.
func (c *Client) ListWorkloads(ctx context.Context, namespace string) ([]v1alpha2.Workload, error) {
	return listGroups[v1alpha2.Workload](ctx, c, Workloads, namespace)
}

// ListPodGroups lists all PodGroups of a namespace, from the server and not from a cache.
func (c *Client) ListPodGroups(ctx context.Context, namespace string) ([]v1alpha2.PodGroup, error) {
	return listGroups[v1alpha2.PodGroup](ctx, c, PodGroups, namespace)
}

func listGroups[T any, P interface {
	*T
	Object
}](ctx context.Context, c *Client, k Kind, namespace string) ([]T, error) {
	return perform(ctx, c, Call{Verb: "list", Kind: k, Namespace: namespace}, func(request) ([]T, error) {
		var out []T
		for _, o := range c.server.sorted(k) {
			if o.GetNamespace() == namespace {
				out = append(out, *clone(o.(P)))
			}
		}
		return out, nil
	})
}

// GetWorkload reads a Workload from the server, not from a cache.
func (c *Client) GetWorkload(ctx context.Context, namespace, name string) (*v1alpha2.Workload, error) {
	call := Call{Verb: "get", Kind: Workloads, Namespace: namespace, Name: name}
	return perform(ctx, c, call, func(request) (*v1alpha2.Workload, error) {
		if w := lookup[*v1alpha2.Workload](c.server, Workloads, Key{namespace, name}); w != nil {
			return w, nil
		}
		return nil, apierrors.NewNotFound(Workloads.resource(), name)
	})
}

// CreateWorkload creates a Workload under the name in its metadata.
func (c *Client) CreateWorkload(ctx context.Context, in *v1alpha2.Workload) (*v1alpha2.Workload, error) {
	w := in.DeepCopy()
	call := Call{Verb: "create", Kind: Workloads, Namespace: w.Namespace, Name: w.Name}
	return perform(ctx, c, call, func(r request) (*v1alpha2.Workload, error) {
		validate := func() field.ErrorList {
			errs := validateGroupName(&w.ObjectMeta)
			for i, t := range w.Spec.PodGroupTemplates {
				path := field.NewPath("spec", "podGroupTemplates").Index(i).Child("name")
				for _, why := range validation.IsDNS1123Label(t.Name) {
					errs = append(errs, field.Invalid(path, t.Name, why))
				}
			}
			return errs
		}
		if err := c.server.create(r, w, func() {}, validate); err != nil {
			return nil, err
		}
		return w.DeepCopy(), nil
	})
}

// CreatePodGroup creates a PodGroup under the name in its metadata.
func (c *Client) CreatePodGroup(ctx context.Context, in *v1alpha2.PodGroup) (*v1alpha2.PodGroup, error) {
	g := in.DeepCopy()
	call := Call{Verb: "create", Kind: PodGroups, Namespace: g.Namespace, Name: g.Name}
	return perform(ctx, c, call, func(r request) (*v1alpha2.PodGroup, error) {
		if err := c.server.create(r, g, func() {}, func() field.ErrorList { return validateGroupName(&g.ObjectMeta) }); err != nil {
			return nil, err
		}
		return g.DeepCopy(), nil
	})
}

func validateGroupName(meta *metav1.ObjectMeta) field.ErrorList {
	return apivalidation.ValidateObjectMeta(meta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
}
