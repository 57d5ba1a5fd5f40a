package doctor

import (
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

// hook is what matters here of an admission webhook, mutating or validating.
type hook struct {
	configuration, name string
	client              admissionv1.WebhookClientConfig
	rules               []admissionv1.RuleWithOperations
	must                bool // requests fail while the webhook does not answer
}

// writes lists the requests of the controller that a webhook can block.
var writes = []struct {
	group, resource string
	operation       admissionv1.OperationType
	what            string
}{
	{"", "pods", admissionv1.Create, "creates of pods"},
	{"", "pods", admissionv1.Update, "removals of finalizers"},
	{"", "pods", admissionv1.Delete, "deletions of pods"},
	{"batch", "jobs/status", admissionv1.Update, "writes of a Job's status"},
}

// webhooks reports webhooks that block the controller's writes, because the API server calls them and no endpoint
// serves them.
func webhooks(ctx context.Context, c *Config) []Finding {
	if c.Settings.Mode == events.ModeObserve {
		return nil // observe mode writes nothing
	}
	all, err := hooks(ctx, c)
	if err != nil {
		return []Finding{cannotList("webhooks", err)}
	}
	var found []Finding
	seen := 0
	for _, h := range all {
		var asked []string
		for _, w := range writes {
			if slices.ContainsFunc(h.rules, func(r admissionv1.RuleWithOperations) bool { return asksAbout(r, w.group, w.resource, w.operation) }) {
				asked = append(asked, w.what)
			}
		}
		if len(asked) == 0 {
			continue
		}
		seen++
		if f, ok := h.gone(ctx, c, asked); ok {
			found = append(found, f)
		}
	}
	if found == nil {
		return well(fmt.Sprintf("%s asked about our writes, and none is missing", many(seen, "webhook is", "webhooks are")))
	}
	return found
}

// gone returns a finding if requests fail without an answer of the webhook, and no endpoint serves it. It can tell only
// for a webhook behind a Service. asked are the requests of ours for which the webhook is called.
func (h *hook) gone(ctx context.Context, c *Config, asked []string) (Finding, bool) {
	if h.client.Service == nil || !h.must {
		return Finding{}, false
	}
	s := h.client.Service
	slicesOf, err := c.Client.DiscoveryV1().EndpointSlices(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + s.Name})
	if err != nil {
		if apierrors.IsForbidden(err) {
			return Finding{
				Level: Unknown, Text: fmt.Sprintf("whether webhook %s of %s answers: its endpoints cannot be listed", h.name, h.configuration),
				Do: "look as one who may list endpointslices",
			}, true
		}
		return Finding{Level: Unknown, Text: fmt.Sprintf("the endpoints of webhook %s: %v", h.name, err)}, true
	}
	for _, slice := range slicesOf.Items {
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				return Finding{}, false
			}
		}
	}
	return Finding{
		Level: Problem, Text: fmt.Sprintf("webhook %s of %s has no ready pod behind service %s/%s: %s fail", h.name, h.configuration, s.Namespace, s.Name, list(asked)),
		Do: "start what answers for it, or set its failurePolicy to Ignore, or take its configuration away",
	}, true
}

func list(what []string) string {
	switch n := len(what); n {
	case 1:
		return what[0]
	default:
		text := what[0]
		for _, w := range what[1 : n-1] {
			text += ", " + w
		}
		return text + " and " + what[n-1]
	}
}

func hooks(ctx context.Context, c *Config) ([]hook, error) {
	var all []hook
	api := c.Client.AdmissionregistrationV1()
	mutating, err := api.MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, m := range mutating.Items {
		for _, w := range m.Webhooks {
			all = append(all, hook{m.Name, w.Name, w.ClientConfig, w.Rules, failing(w.FailurePolicy)})
		}
	}
	validating, err := api.ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, v := range validating.Items {
		for _, w := range v.Webhooks {
			all = append(all, hook{v.Name, w.Name, w.ClientConfig, w.Rules, failing(w.FailurePolicy)})
		}
	}
	return all, nil
}

func failing(p *admissionv1.FailurePolicyType) bool { return p == nil || *p == admissionv1.Fail }

// asksAbout reports whether the webhook's rule covers such a request. It ignores selectors, because an object that they
// exclude today may match tomorrow.
func asksAbout(r admissionv1.RuleWithOperations, group, resource string, operation admissionv1.OperationType) bool {
	has := func(list []string, words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	operations := slices.Contains(r.Operations, operation) || slices.Contains(r.Operations, admissionv1.OperationAll)
	resources := []string{resource, "*/*"}
	if resource == "jobs/status" {
		resources = append(resources, "jobs/*", "*/status")
	} else {
		resources = append(resources, "*")
	}
	return operations && has(r.APIGroups, group, "*") && has(r.Resources, resources...)
}
