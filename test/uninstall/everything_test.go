package uninstall

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/internal/deployed"
	"github.com/jobledger/jobledger/test/internal/dump"
)

// allValues are values of the chart with which, in one of these releases, each template makes an object.
var allValues = map[string]string{
	"whole": `
manage: all
gangScheduling: true
metrics: {authorize: true, tlsSecret: any}
networkPolicy: {enabled: true}
serviceMonitor: {enabled: true}
alerts: {enabled: true}
dashboard: {enabled: true}
lease: {createNamespace: false}
copy: {url: "s3://backups/jobledger"}
drill: {schedule: "17 4 * * 1"}
reader: {enabled: true, namespace: whole-reader}
`,
	"several":    "ha: {enabled: true}\nlease: {createNamespace: false}\n",
	"replicated": "ha: {enabled: true, mode: replicate, url: \"nats://nats:4222\", monitorUrl: \"http://nats:8222\"}\nlease: {createNamespace: false}\n",
	"single":     "watchNamespace: team-a\nwatchCluster: false\n",
}

// templates are the chart's templates, each with the release in allValues that has it.
var templates = map[string]string{
	"clusterrole.yaml": "whole", "clusterrolebinding.yaml": "whole", "cronjobs.yaml": "whole", "dashboard.yaml": "whole", "drill.yaml": "whole",
	"gang.yaml":              "whole",
	"metrics-authorize.yaml": "whole", "namespace.yaml": "whole", "networkpolicy.yaml": "whole", "prometheusrule.yaml": "whole", "role.yaml": "whole",
	"ha.yaml": "several", "reader.yaml": "whole",
	"rolebinding.yaml": "whole", "service.yaml": "whole", "serviceaccount.yaml": "whole", "servicemonitor.yaml": "whole", "statefulset.yaml": "whole",
	"ttl.yaml": "whole", "watch-cluster.yaml": "whole", "namespaced.yaml": "single",
}

// parts are the files of deploy/ that other files use.
var parts = []string{
	"kustomization.yaml", "chart/Chart.yaml", "chart/values.yaml", "chart/values.schema.json", "chart/.helmignore", "chart/templates/_rules.tpl",
	"chart/templates/_checks.tpl", "chart/templates/_names.tpl", "chart/monitoring/dashboard.json", "chart/monitoring/alerts.yaml", "chart/monitoring/alerts_test.yaml",
}

// everything returns what each file of deploy/ installs. An unknown file fails the test: its remains would go
// unnoticed.
func everything(t *testing.T, root string) (all []unstructured.Unstructured) {
	t.Helper()
	add := func(objects []unstructured.Unstructured, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, objects...)
	}
	deploy := filepath.Join(root, "deploy")
	err := filepath.WalkDir(deploy, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(deploy, path)
		if err != nil {
			return err
		}
		dir, base := filepath.Split(filepath.ToSlash(name))
		overlay, isOverlay := strings.CutPrefix(dir, "overlays/")
		switch {
		case slices.Contains(parts, name), dir == "chart/templates/" && templates[base] != "":
		case isOverlay && base == "values.yaml": // kustomize builds the same: internal/dev/manifests
			overlay = strings.TrimSuffix(overlay, "/")
			add(deployed.Overlay(t.Context(), overlay, "overlay-"+overlay))
		case isOverlay && (base == "kustomization.yaml" || name == "overlays/namespace/rights.yaml"):
		case base == "kustomization.yaml": // a list of files beside it
		case name == "overlays/nats-log/nats.conf": // in a ConfigMap that kustomize makes there
		case strings.HasPrefix(dir, "chart/"), filepath.Ext(base) != ".yaml":
			t.Errorf("nothing installs deploy/%s: add it to this test", name)
		default:
			add(deployed.File(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(allValues)) { // the namespace of the Lease exists
		add(deployed.Chart(t.Context(), name, allValues[name]))
	}
	return all
}

// monitoring adds the kinds of the Prometheus operator to the API server.
func (c *cluster) monitoring() {
	c.t.Helper()
	client, err := dynamic.NewForConfig(c.cp.RESTConfig())
	if err != nil {
		c.t.Fatal(err)
	}
	crds := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	for kind, plural := range map[string]string{"ServiceMonitor": "servicemonitors", "PrometheusRule": "prometheusrules"} {
		crd := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": plural + ".monitoring.coreos.com"},
			"spec": map[string]any{
				"group": "monitoring.coreos.com", "scope": "Namespaced", "names": map[string]any{"kind": kind, "plural": plural},
				"versions": []any{map[string]any{
					"name": "v1", "served": true, "storage": true,
					"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
				}},
			},
		}}
		if _, err := crds.Create(c.t.Context(), crd, metav1.CreateOptions{}); err != nil {
			c.t.Fatal(err)
		}
		c.await("the kind "+kind, func() error {
			_, err := client.Resource(schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: plural}).List(c.t.Context(), metav1.ListOptions{})
			return err
		})
	}
}

// TestEverythingIsTakenOff installs everything that a file of deploy/ installs, and uninstalls it again. While an
// object is left that creates Jobs for a controller that is gone, release names the object and exits with code 1. In
// the end the cluster is as before.
func TestEverythingIsTakenOff(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.monitoring()
	c.namespace("batch")
	c.namespace("team-a")
	before, err := dump.Settle(t.Context(), c.cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	objects := slices.DeleteFunc(everything(t, c.root), func(o unstructured.Unstructured) bool {
		return o.GetKind() == "ClusterRole" && o.GetName() == "jobledger-release" // is there: who leaves has it
	})
	if len(objects) < 80 {
		t.Fatalf("%d objects are not everything", len(objects))
	}
	c.each(objects, false)
	cronJob := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}, Spec: batchv1.CronJobSpec{
		Schedule: "@yearly",
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{ManagedBy: new(events.ManagedBy), Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "any"}}},
		}}},
	}}
	if _, err := c.client.BatchV1().CronJobs("batch").Create(t.Context(), cronJob, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if out, code := c.sh("kubectl label namespace batch jobledger.dev/jobs=unqueued"); code != 0 {
		t.Fatal(out)
	}
	turnOff := []struct{ names, by string }{
		{"mutatingadmissionpolicy/jobledger-jobs", ""},
		{"mutatingadmissionpolicybinding/jobledger-jobs", "kubectl delete -f deploy/policy/mutating.yaml --ignore-not-found"},
		{"validatingadmissionpolicy/jobledger-jobs", ""},
		{"validatingadmissionpolicybinding/jobledger-jobs", "kubectl delete -f deploy/policy/validating.yaml --ignore-not-found"},
		{"namespace/batch", "kubectl label namespaces --all jobledger.dev/jobs-"},
		{"cronjob/nightly", ""},
		{"cronjob/jobledger-drill", ""},
	}
	for i, step := range turnOff {
		out, code := c.sh("jobledger release --let-go")
		for _, rest := range turnOff[i:] {
			if code != 1 || !strings.Contains(out, rest.names) {
				t.Errorf("exit code %d, and release does not name %s:\n%s", code, rest.names, out)
			}
		}
		if step.by != "" {
			if out, code := c.sh(step.by); code != 0 {
				t.Fatal(out)
			}
		}
	}
	all, err := c.client.BatchV1().CronJobs("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(all.Items) < 3 {
		t.Fatalf("%d CronJobs: %v", len(all.Items), err)
	}
	for i := range all.Items {
		o := &all.Items[i]
		if err := c.client.BatchV1().CronJobs(o.Namespace).Delete(t.Context(), o.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if out, code := c.sh("jobledger release --let-go"); code != 0 || !strings.Contains(out, "Nothing of Jobledger's is there") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	slices.Reverse(objects)
	c.each(objects, true)
	c.await("the cluster to be as it was", func() error {
		if left := c.since(before); len(left) > 0 {
			return errors.New(strings.Join(left, "\n"))
		}
		return nil
	})
}

// each creates or deletes each object, like kubectl. It skips existing or missing objects, respectively.
func (c *cluster) each(objects []unstructured.Unstructured, remove bool) {
	c.t.Helper()
	k, err := newKube(c.cp.Kubeconfig())
	if err != nil {
		c.t.Fatal(err)
	}
	do := k.createIfAbsent
	if remove {
		do = k.forget // the test waits for all at once
	}
	if err := k.eachIn(c.t.Context(), objects, false, do); err != nil {
		c.t.Fatal(fmt.Errorf("remove %t: %w", remove, err))
	}
}
