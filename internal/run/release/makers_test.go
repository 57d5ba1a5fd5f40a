package release

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"
)

const ofMakers = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: by-its-text}
spec: {mutations: [{applyConfiguration: {expression: "Object{spec: Object.spec{managedBy: 'jobledger.dev/job-controller'}}"}}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: another}
spec: {mutations: [{applyConfiguration: {expression: "Object{}"}}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: by-our-label}
spec: {policyName: other, matchResources: {namespaceSelector: {matchExpressions: [{key: jobledger.dev/jobs, operator: Exists}]}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: hook, labels: {app.kubernetes.io/part-of: jobledger}}
webhooks: [{name: jobs.example.com}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: other-hook}
webhooks: [{name: jobs.example.com}]
---
apiVersion: v1
kind: Namespace
metadata: {name: web, labels: {jobledger.dev/jobs: all}}
---
apiVersion: v1
kind: Namespace
metadata: {name: batch}
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {namespace: batch, name: train}
spec: {replicatedJobs: [{template: {spec: {managedBy: jobledger.dev/job-controller}}}]}
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {namespace: batch, name: trained}
spec: {replicatedJobs: [{template: {spec: {managedBy: jobledger.dev/job-controller}}}]}
status: {terminalState: Completed}
---
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {namespace: web, name: etl}
spec: {templates: [{resource: {manifest: "spec: {managedBy: jobledger.dev/job-controller}"}}]}
---
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {namespace: web, name: etl-1}
spec: {templates: [{resource: {manifest: "spec: {managedBy: jobledger.dev/job-controller}"}}]}
status: {phase: Succeeded}
---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: jobs}
spec: {rules: [{mutate: {patchStrategicMerge: {spec: {managedBy: jobledger.dev/job-controller}}}}]}
`

// TestMakers: each kind of object that makes Jobs of ours is found by its fields, not by its kind. An object that is
// over makes none.
func TestMakers(t *testing.T) {
	everywhere := []string{
		"MutatingAdmissionPolicy/by-its-text remains", "MutatingAdmissionPolicyBinding/by-our-label remains", "MutatingWebhookConfiguration/hook remains",
		"Namespace/web remains", "JobSet/train remains", "WorkflowTemplate/etl remains", "ClusterPolicy/jobs remains",
	}
	for _, row := range []struct {
		sentence  string
		namespace string
		forbidden string // resource
		want      []string
	}{
		{"all namespaces", "", "", everywhere},
		{"a kind whose webhook is gone keeps nothing from being told", "", "broken clusterpolicies", append(slices.DeleteFunc(slices.Clone(everywhere), func(s string) bool {
			return strings.HasPrefix(s, "ClusterPolicy")
		}), "ClusterPolicy/? remains")},
		{"one namespace: the cluster's are told, and left", "web", "", []string{
			"MutatingAdmissionPolicy/by-its-text left", "MutatingAdmissionPolicyBinding/by-our-label left", "MutatingWebhookConfiguration/hook left",
			"Namespace/web remains", "WorkflowTemplate/etl remains", "ClusterPolicy/jobs left",
		}},
		{"what may not be listed cannot be told", "", "jobsets", append(slices.DeleteFunc(slices.Clone(everywhere), func(s string) bool {
			return strings.HasPrefix(s, "JobSet")
		}), "JobSet/? remains")},
		{"of one namespace the cluster's need not be listed", "batch", "mutatingadmissionpolicies", []string{
			"MutatingAdmissionPolicyBinding/by-our-label left", "MutatingWebhookConfiguration/hook left", "JobSet/train remains", "ClusterPolicy/jobs left",
		}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			c := Config{Dynamic: dynamicOf(t, ofMakers, row.forbidden), Namespace: row.namespace}
			found, err := c.makers(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, item := range found {
				got = append(got, fmt.Sprintf("%s/%s %s", item.Kind, item.Name, item.Result))
			}
			slices.Sort(got)
			slices.Sort(row.want)
			if !slices.Equal(got, row.want) {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(row.want, "\n"))
			}
		})
	}
}

// dynamicOf is a server with these objects.
func dynamicOf(t *testing.T, text, forbidden string) *dynamicfake.FakeDynamicClient {
	t.Helper()
	var objects []runtime.Object
	for document := range strings.SplitSeq(text, "---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	kinds := map[schema.GroupVersionResource]string{}
	for _, versions := range makers {
		for _, m := range versions {
			kinds[m.GroupVersionResource] = m.kind + "List"
		}
	}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...)
	client.PrependReactor("list", "namespaces", func(a clienttesting.Action) (bool, runtime.Object, error) { // the fake knows no field selectors
		fields := a.(clienttesting.ListAction).GetListRestrictions().Fields
		if fields == nil || fields.Empty() {
			return false, nil, nil
		}
		list := &unstructured.UnstructuredList{}
		list.SetKind("NamespaceList")
		list.SetAPIVersion("v1")
		for _, o := range objects {
			if u := o.(*unstructured.Unstructured); u.GetKind() == "Namespace" && strings.HasSuffix(fields.String(), "="+u.GetName()) {
				list.Items = append(list.Items, *u)
			}
		}
		return true, list, nil
	})
	if resource, broken := strings.CutPrefix(forbidden, "broken "); broken {
		client.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewInternalError(errors.New("conversion webhook failed"))
		})
	} else if forbidden != "" {
		client.PrependReactor("list", forbidden, func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: forbidden}, "", errors.New("no role"))
		})
	}
	return client
}
