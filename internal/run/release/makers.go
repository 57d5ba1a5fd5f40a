package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/pager"

	"github.com/jobledger/jobledger/events"
)

// maker is a kind of object that may make new Jobs name our controller in spec.managedBy, such as a policy or a
// CronJob.
type maker struct {
	schema.GroupVersionResource
	kind    string
	cluster bool // cluster-scoped kind
	// makes reports whether an object of this kind makes Jobs for our controller. If it is nil, any object that
	// mentions our controller's name does.
	makes func(*unstructured.Unstructured) bool
	do    string // what the operator can do about it
}

// JobsLabel is the label of namespaces in which the policies of deploy/policy set spec.managedBy to our controller.
const JobsLabel = "jobledger.dev/jobs"

func admission(version, resource, kind string) maker {
	return maker{
		GroupVersionResource: schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: version, Resource: resource},
		kind:                 kind, cluster: true, makes: namesUs, do: "delete it",
	}
}

func custom(group, version, resource, kind string, cluster bool) maker {
	return maker{
		GroupVersionResource: schema.GroupVersionResource{Group: group, Version: version, Resource: resource}, kind: kind, cluster: cluster,
		do: "take spec.managedBy out of it, or delete it",
	}
}

// makers lists all kinds to check: those in deploy/, those that docs/beside.md names, and those of policy engines. The
// inner lists are versions of one kind; only the first version that the server has is listed.
var makers = [][]maker{
	{
		admission("v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
		admission("v1beta1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
		admission("v1alpha1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
	},
	{
		admission("v1", "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
		admission("v1beta1", "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
		admission("v1alpha1", "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
	},
	{admission("v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy")},
	{admission("v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding")},
	{admission("v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration")},
	{admission("v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration")},
	{{
		GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, kind: "Namespace", cluster: true,
		makes: func(o *unstructured.Unstructured) bool { _, has := o.GetLabels()[JobsLabel]; return has },
		do:    "take the label " + JobsLabel + " off it",
	}},
	{custom("batch", "v1", "cronjobs", "CronJob", false)},
	{custom("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet", false)},
	{custom("argoproj.io", "v1alpha1", "cronworkflows", "CronWorkflow", false)},
	{custom("argoproj.io", "v1alpha1", "workflowtemplates", "WorkflowTemplate", false)},
	{custom("argoproj.io", "v1alpha1", "clusterworkflowtemplates", "ClusterWorkflowTemplate", true)},
	{custom("argoproj.io", "v1alpha1", "workflows", "Workflow", false)},
	{custom("kyverno.io", "v1", "clusterpolicies", "ClusterPolicy", true)},
	{custom("kyverno.io", "v1", "policies", "Policy", false)},
	{
		custom("policies.kyverno.io", "v1", "mutatingpolicies", "MutatingPolicy", true),
		custom("policies.kyverno.io", "v1alpha1", "mutatingpolicies", "MutatingPolicy", true),
	},
	{custom("mutations.gatekeeper.sh", "v1", "assign", "Assign", true)},
}

// makers returns the objects that make new Jobs for our controller, which no controller will run after the release. A
// kind that may not be listed is reported as one unknown object that remains. If the config names one namespace,
// objects without a namespace are reported, but not counted.
func (c *Config) makers(ctx context.Context) (found []Item, err error) {
	if c.Dynamic == nil {
		return nil, nil
	}
	for _, versions := range makers {
		for _, m := range versions {
			if c.Served != nil && !c.Served(m.GroupVersion()) {
				continue
			}
			items, err := c.look(ctx, &m)
			if apierrors.IsNotFound(err) {
				continue // the server does not have this kind
			}
			if err != nil {
				return nil, err
			}
			found = append(found, items...)
			break
		}
	}
	return found, nil
}

// look returns the objects of one kind that make new Jobs for our controller.
func (c *Config) look(ctx context.Context, m *maker) (found []Item, err error) {
	whole := m.cluster || c.Namespace == ""
	tell := func(o *unstructured.Unstructured, message string) {
		item := Item{Kind: m.kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), Action: MakesJobs, Message: message}
		switch own := m.kind == "Namespace" && o.GetName() == c.Namespace; {
		case c.DryRun:
		case c.Namespace != "" && m.cluster && !own:
			item.Result = Left
		default:
			item.Result = Remains
		}
		found = append(found, item)
	}
	list := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		if m.kind == "Namespace" && c.Namespace != "" {
			o.FieldSelector = "metadata.name=" + c.Namespace
		}
		resource := c.Dynamic.Resource(m.GroupVersionResource)
		if whole {
			return resource.List(ctx, o)
		}
		return resource.Namespace(c.Namespace).List(ctx, o)
	})
	err = list.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		object, is := o.(*unstructured.Unstructured)
		if !is {
			return errors.New("no object")
		}
		if m.finds(object) {
			tell(object, m.do)
		}
		return nil
	})
	switch {
	case err == nil || apierrors.IsNotFound(err) || ctx.Err() != nil:
		return found, err
	case m.cluster && c.Namespace != "":
		return found, nil // if only one namespace is released, cluster-scoped kinds may be left out
	}
	why := fmt.Sprintf("you may not list %s (deploy/release/clusterrole.yaml)", m.GroupResource())
	// Another error, for example of a policy engine whose webhook is gone, is reported too; the release continues.
	if !apierrors.IsForbidden(err) {
		why = fmt.Sprintf("list %s: %v", m.GroupResource(), err)
	}
	unknown := &unstructured.Unstructured{}
	unknown.SetName("?")
	tell(unknown, "whether any does cannot be told: "+why)
	return found, nil
}

// finds reports whether an object makes new Jobs for our controller. An object that has completed makes none.
func (m *maker) finds(object *unstructured.Unstructured) bool {
	if m.makes != nil {
		return m.makes(object)
	}
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	state, _, _ := unstructured.NestedString(object.Object, "status", "terminalState")
	over := []string{"Succeeded", "Failed", "Error", "Completed"}
	return !slices.Contains(over, phase) && !slices.Contains(over, state) && contains(object.Object["spec"], events.ManagedBy)
}

// namesUs reports whether a policy names our controller anywhere, or is one of ours by its name, labels or annotations.
func namesUs(object *unstructured.Unstructured) bool {
	own := []any{object.GetName()}
	for key := range object.GetLabels() {
		own = append(own, key, object.GetLabels()[key])
	}
	for _, key := range []string{"spec", "webhooks"} {
		if contains(object.Object[key], events.ManagedBy) || contains(object.Object[key], JobsLabel) {
			return true
		}
	}
	return slices.ContainsFunc(own, func(text any) bool { return strings.Contains(text.(string), "jobledger") })
}

// contains reports whether text occurs anywhere in value.
func contains(value any, text string) bool {
	encoded, err := json.Marshal(value)
	return err == nil && strings.Contains(string(encoded), text)
}
