package integration

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// section18 are the rights of the built-in Job controller.
var section18 = []rbacv1.PolicyRule{
	{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"get", "list", "watch", "update", "patch"}},
	{APIGroups: []string{"batch"}, Resources: []string{"jobs/status"}, Verbs: []string{"update"}},
	{APIGroups: []string{"batch"}, Resources: []string{"jobs/finalizers"}, Verbs: []string{"update"}},
	{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch", "create", "delete", "patch"}},
	{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch", "update"}},
}

// J-249, J-250, O-045: what a deployment gives the controller, and what it runs with in every test, is within what the contract lists,
// and a Lease.
// O-023: it has rights on Leases of its own name, and on no others.
// O-043: it may neither get nor update a pod, nor delete a Job.
// O-064: it may write nothing of a Job but its status, so it puts no finalizer on one.
//
// TestRightsAreThoseOfAJobController reads the roles of deploy/.
func TestRightsAreThoseOfAJobController(t *testing.T) {
	rights, err := controller.Rights()
	if err != nil {
		t.Fatal(err)
	}
	allowed := append(slices.Clone(section18), rbacv1.PolicyRule{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "list", "create", "update"},
	})
	ofLeases := []string{"coordination.k8s.io"}
	for _, rule := range rights {
		if len(rule.NonResourceURLs) > 0 {
			t.Errorf("%+v is about more than resources", rule)
		}
		if named := slices.Equal(rule.ResourceNames, []string{"jobledger"}); slices.Equal(rule.APIGroups, ofLeases) {
			if !named && !slices.Equal(rule.Verbs, []string{"create"}) {
				t.Errorf("%+v is about other Leases than its own", rule)
			}
		} else if len(rule.ResourceNames) > 0 {
			t.Errorf("%+v is about single objects", rule)
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					if resource == "events" && (group == "events.k8s.io" || verb == "update") || resource == "jobs" && (verb == "update" || verb == "patch") {
						t.Errorf("nothing uses %s %s.%s", verb, resource, group)
					}
					if !slices.ContainsFunc(allowed, func(a rbacv1.PolicyRule) bool {
						return slices.Contains(a.APIGroups, group) && slices.Contains(a.Resources, resource) && slices.Contains(a.Verbs, verb)
					}) {
						t.Errorf("a Job controller may not %s %s.%s", verb, resource, group)
					}
				}
			}
		}
	}
}

// TestDeployment applies deploy/ to the API server, strictly, has it check the pod by the namespace's own policy, and runs the
// controller as the ServiceAccount that it makes, with its arguments.
func TestDeployment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var set appsv1.StatefulSet
	w.apply(&set)

	template := set.Spec.Template
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "as-deployed", Namespace: set.Namespace, Labels: template.Labels}, Spec: template.Spec}
	for _, claim := range set.Spec.VolumeClaimTemplates {
		if !slices.Equal(claim.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}) {
			t.Errorf("the volume %s is for %v: two pods could mount it", claim.Name, claim.Spec.AccessModes)
		}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
			Name:         claim.Name,
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}},
		})
	}
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	if _, err := w.client.CoreV1().Pods(set.Namespace).Create(t.Context(), pod, dryRun); err != nil {
		t.Errorf("the API server does not admit the controller's pod: %v", err)
	}
	bad := pod.DeepCopy()
	bad.Spec.Containers[0].SecurityContext = nil
	if _, err := w.client.CoreV1().Pods(set.Namespace).Create(t.Context(), bad, dryRun); err == nil {
		t.Error("the API server admits a pod that the namespace's policy forbids: the check before says nothing")
	}

	config, err := w.cp.ServiceAccountConfig(t.Context(), set.Namespace, template.Spec.ServiceAccountName)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(w.dir, "deployed.kubeconfig")
	if err := controlplane.WriteKubeconfig(config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	user := "system:serviceaccount:" + set.Namespace + ":" + template.Spec.ServiceAccountName
	w.users = append(w.users, user)
	args := []string{"--leader-elect-resource-namespace=" + set.Namespace} // where it is for all namespaces
	for _, arg := range template.Spec.Containers[0].Args[1:] {
		switch {
		case strings.HasPrefix(arg, "--log="): // elsewhere on this machine
		case strings.HasPrefix(arg, "--metrics-bind-address="):
			args = append(args, "--metrics-bind-address=127.0.0.1:0")
		default:
			args = append(args, arg)
		}
	}
	dir := filepath.Join(w.dir, "deployed")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := controller.New(controller.Config{
		Program: shared.Program, Kubeconfig: kubeconfig, Namespace: w.namespace, Dir: dir, Args: args,
	})
	w.controllers = append(w.controllers, c)
	w.start(c)
	address := w.metricsAddress(c.Output)
	for _, probe := range []*corev1.Probe{template.Spec.Containers[0].LivenessProbe, template.Spec.Containers[0].ReadinessProbe} {
		if got := w.status(address + probe.HTTPGet.Path); got != 200 {
			t.Errorf("%s: %d", probe.HTTPGet.Path, got)
		}
	}
	w.create(newJob("demo"))
	w.finishes("demo")
	made, err := w.cp.CountWrites(func(x controlplane.Write) bool { return x.User == user })
	if err != nil || len(made) == 0 {
		t.Errorf("%v; the ServiceAccount wrote %v", err, made)
	}
}

// apply creates every object of deploy/, strictly. The StatefulSet is decoded into set.
func (w *world) apply(set *appsv1.StatefulSet) {
	w.t.Helper()
	root, err := binaries.FindRoot()
	if err != nil {
		w.t.Fatal(err)
	}
	var list struct{ Resources []string }
	text, err := os.ReadFile(filepath.Join(root, "deploy", "kustomization.yaml"))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &list); err != nil {
		w.t.Fatal(err)
	}
	for _, dir := range []string{".", "watch-cluster"} {
		files, err := filepath.Glob(filepath.Join(root, "deploy", dir, "*.yaml"))
		if err != nil {
			w.t.Fatal(err)
		}
		for _, file := range files {
			if name := filepath.Join(dir, filepath.Base(file)); name != "kustomization.yaml" && !slices.Contains(list.Resources, name) {
				w.t.Errorf("kustomization.yaml does not name %s", name)
			}
		}
	}
	client, err := dynamic.NewForConfig(w.cp.RESTConfig())
	if err != nil {
		w.t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(w.client.Discovery()))
	for _, name := range list.Resources {
		text, err := os.ReadFile(filepath.Join(root, "deploy", name))
		if err != nil {
			w.t.Fatal(err)
		}
		for documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
			var o unstructured.Unstructured
			if err := documents.Decode(&o); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				w.t.Fatalf("%s: %v", name, err)
			}
			if o.GetKind() == "StatefulSet" {
				if err := yaml.Unmarshal(text, set); err != nil {
					w.t.Fatal(err)
				}
			}
			mapping, err := mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
			if err != nil {
				w.t.Fatalf("%s: %v", name, err)
			}
			_, err = client.Resource(mapping.Resource).Namespace(o.GetNamespace()).Create(
				w.t.Context(), &o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
			if err != nil {
				w.t.Errorf("%s: %v", name, err)
			}
		}
	}
}
