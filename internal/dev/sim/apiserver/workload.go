package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// The API of Workloads and PodGroups in Kubernetes 1.37. Requests and answers are in protobuf, and changes are JSON
// patches.

const beta = "scheduling.k8s.io/v1beta1"

// ReadWorkload reads a Workload from the server, not from a cache.
func (c *Client) ReadWorkload(ctx context.Context, namespace, name string) (*kubewire.Workload, error) {
	return readBeta[*schedulingv1beta1.Workload](ctx, c, Workloads, Key{namespace, name}, kubewire.ReadWorkload)
}

// ReadPodGroup reads a PodGroup from the server, not from a cache.
func (c *Client) ReadPodGroup(ctx context.Context, namespace, name string) (*kubewire.PodGroup, error) {
	return readBeta[*schedulingv1beta1.PodGroup](ctx, c, PodGroups, Key{namespace, name}, kubewire.ReadPodGroup)
}

func readBeta[O interface {
	Object
	message
}, R any](ctx context.Context, c *Client, k Kind, key Key, read func([]byte) (R, error)) (R, error) {
	call := Call{Verb: "get", Kind: k, Namespace: key.Namespace, Name: key.Name}
	return perform(ctx, c, call, func(request) (none R, err error) {
		if err := c.server.unserved(call); err != nil {
			return none, err
		}
		o, is := c.server.tables[k].live[key].(O)
		if !is {
			return none, apierrors.NewNotFound(k.resource(), key.Name)
		}
		raw, err := o.Marshal()
		if err != nil {
			return none, err
		}
		return read(kubewire.Wrap(beta, k.groupKind().Kind, raw))
	})
}

// ReadWorkloads returns the Workloads of a namespace, all as one page; it reads from the server, not from a cache.
func (c *Client) ReadWorkloads(ctx context.Context, namespace, _ string) (all []*kubewire.Workload, next string, err error) {
	call := Call{Verb: "list", Kind: Workloads, Namespace: namespace}
	all, err = perform(ctx, c, call, func(request) ([]*kubewire.Workload, error) {
		if err := c.server.unserved(call); err != nil {
			return nil, err
		}
		list := &schedulingv1beta1.WorkloadList{}
		for _, o := range c.server.sorted(Workloads) {
			if w, is := o.(*schedulingv1beta1.Workload); is && w.Namespace == namespace {
				list.Items = append(list.Items, *w)
			}
		}
		raw, err := list.Marshal()
		if err != nil {
			return nil, err
		}
		all, _, err := kubewire.ReadWorkloads(kubewire.Wrap(beta, "WorkloadList", raw))
		return all, err
	})
	return all, "", err
}

// MakeWorkload creates a Workload under the name in its metadata.
func (c *Client) MakeWorkload(ctx context.Context, namespace string, workload []byte) (kubewire.Stored, error) {
	w := &schedulingv1beta1.Workload{}
	return makeBeta(ctx, c, namespace, workload, w, func() field.ErrorList {
		errs := validateGroupName(&w.ObjectMeta)
		path := field.NewPath("spec", "podGroupTemplates")
		if n := len(w.Spec.PodGroupTemplates); n == 0 || n > schedulingv1beta1.WorkloadMaxPodGroupTemplates {
			errs = append(errs, field.Invalid(path, n, "1 to 8"))
		}
		for i := range w.Spec.PodGroupTemplates {
			t := &w.Spec.PodGroupTemplates[i]
			for _, why := range validation.IsDNS1123Label(t.Name) {
				errs = append(errs, field.Invalid(path.Index(i).Child("name"), t.Name, why))
			}
			errs = append(errs, validatePolicy(path.Index(i), &t.SchedulingPolicy)...)
		}
		return errs
	})
}

// MakePodGroup creates a PodGroup under the name in its metadata.
func (c *Client) MakePodGroup(ctx context.Context, namespace string, group []byte) (kubewire.Stored, error) {
	g := &schedulingv1beta1.PodGroup{}
	return makeBeta(ctx, c, namespace, group, g, func() field.ErrorList {
		return append(validateGroupName(&g.ObjectMeta), validatePolicy(field.NewPath("spec"), &g.Spec.SchedulingPolicy)...)
	})
}

// validatePolicy checks that exactly one of basic and gang is set, and that a gang has at least one pod.
func validatePolicy(path *field.Path, p *schedulingv1beta1.PodGroupSchedulingPolicy) (errs field.ErrorList) {
	path = path.Child("schedulingPolicy")
	if (p.Basic == nil) == (p.Gang == nil) {
		errs = append(errs, field.Invalid(path, "", "exactly one of basic and gang"))
	}
	if p.Gang != nil && p.Gang.MinCount < 1 {
		errs = append(errs, field.Invalid(path.Child("gang", "minCount"), p.Gang.MinCount, "at least 1"))
	}
	return errs
}

func makeBeta[O interface {
	Object
	message
}](ctx context.Context, c *Client, namespace string, body []byte, o O, validate func() field.ErrorList) (kubewire.Stored, error) {
	if err := o.Unmarshal(body); err != nil {
		return kubewire.Stored{}, fmt.Errorf("decode an object that is to be created: %w", err)
	}
	if o.GetNamespace() != namespace {
		return kubewire.Stored{}, fmt.Errorf("an object of namespace %q is to be created in %q", o.GetNamespace(), namespace)
	}
	call := Call{Verb: "create", Kind: KindOf(o), Namespace: namespace, Name: o.GetName()}
	return perform(ctx, c, call, func(r request) (kubewire.Stored, error) {
		if err := c.server.unserved(call); err != nil {
			return kubewire.Stored{}, err
		}
		if err := c.server.create(r, o, func() {}, validate); err != nil {
			return kubewire.Stored{}, err
		}
		return kubewire.StoredOf(o), nil
	})
}

// PatchWorkload changes the minCount of a Workload's template.
func (c *Client) PatchWorkload(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error) {
	const path = "/spec/podGroupTemplates/0/schedulingPolicy/gang/minCount"
	return patchBeta(ctx, c, Workloads, Key{namespace, name}, patch, path, func(w *schedulingv1beta1.Workload) *schedulingv1beta1.PodGroupSchedulingPolicy {
		if len(w.Spec.PodGroupTemplates) == 0 {
			return &schedulingv1beta1.PodGroupSchedulingPolicy{}
		}
		return &w.Spec.PodGroupTemplates[0].SchedulingPolicy
	})
}

// PatchPodGroup changes the minCount of a PodGroup.
func (c *Client) PatchPodGroup(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error) {
	const path = "/spec/schedulingPolicy/gang/minCount"
	return patchBeta(ctx, c, PodGroups, Key{namespace, name}, patch, path, func(g *schedulingv1beta1.PodGroup) *schedulingv1beta1.PodGroupSchedulingPolicy {
		return &g.Spec.SchedulingPolicy
	})
}

// patchBeta applies a JSON patch that replaces minCount if the first owner has a certain UID. It supports no other
// patch. path is where minCount is, and policy returns the part of the object that has it.
func patchBeta[O Object](
	ctx context.Context, c *Client, k Kind, key Key, patch []byte, path string, policy func(O) *schedulingv1beta1.PodGroupSchedulingPolicy,
) (kubewire.Stored, error) {
	var owner string
	var count int32
	var steps []struct {
		Op, Path string
		Value    json.RawMessage
	}
	err := json.Unmarshal(patch, &steps)
	if err == nil && (len(steps) != 2 || steps[0].Op != "test" || steps[0].Path != "/metadata/ownerReferences/0/uid" ||
		steps[1].Op != "replace" || steps[1].Path != path) {
		err = fmt.Errorf("a patch of another form than is modelled: %s", patch)
	}
	for i, to := range []any{&owner, &count} {
		if err == nil {
			err = json.Unmarshal(steps[i].Value, to)
		}
	}
	if err != nil {
		return kubewire.Stored{}, err
	}
	call := Call{Verb: "patch", Kind: k, Namespace: key.Namespace, Name: key.Name}
	return perform(ctx, c, call, func(r request) (none kubewire.Stored, err error) {
		if err := c.server.unserved(call); err != nil {
			return none, err
		}
		before, is := c.server.tables[k].live[key].(O)
		if !is {
			return none, apierrors.NewNotFound(k.resource(), key.Name)
		}
		after := clone(before)
		owners, p := after.GetOwnerReferences(), policy(after)
		if len(owners) == 0 || string(owners[0].UID) != owner || p.Gang == nil || count < 1 {
			return none, apierrors.NewInvalid(k.groupKind(), key.Name, nil)
		}
		p.Gang.MinCount = count
		return kubewire.StoredOf(c.server.update(r, before, after)), nil
	})
}

// ServeGroups switches the API of Workloads and PodGroups off and on again. Stored objects stay.
func (s *Server) ServeGroups(on bool) { s.groupsOff = !on }

// unserved returns the error 404 if the API of Workloads and PodGroups is switched off; otherwise nil.
func (s *Server) unserved(c Call) error {
	if !s.groupsOff {
		return nil
	}
	return apierrors.NewGenericServerResponse(http.StatusNotFound, c.Verb, c.Kind.resource(), "", "404 page not found", 0, true)
}

// DropPodGroup deletes the first PodGroup that no unfinished pod uses, in the name of an actor. It reports whether
// there was one.
func (s *Server) DropPodGroup(actor string) bool {
	used := map[string]bool{}
	for _, p := range s.StoredPods() {
		if g := p.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil && !PodTerminal(p) {
			used[p.Namespace+"/"+*g.PodGroupName] = true
		}
	}
	for _, o := range s.sorted(PodGroups) {
		if !used[o.GetNamespace()+"/"+o.GetName()] {
			s.commit(request{actor: actor, verb: "delete"}, o, nil)
			return true
		}
	}
	return false
}
