package integration

import (
	"cmp"
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/deployed"
)

// section18 are the rights of the built-in Job controller.
var section18 = []rbacv1.PolicyRule{
	{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"get", "list", "watch", "update", "patch"}},
	{APIGroups: []string{"batch"}, Resources: []string{"jobs/status"}, Verbs: []string{"update"}},
	{APIGroups: []string{"batch"}, Resources: []string{"jobs/finalizers"}, Verbs: []string{"update"}},
	{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch", "create", "delete", "patch"}},
	{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch", "update"}},
}

// J-249, J-250, O-045: the rights that a deployment gives the controller, which it has in every test, are within those
// of the contract, plus a Lease. It may read CronJobs.
// O-023: it has rights on Leases of its own name only.
// O-043: it may neither get nor update a pod, nor delete a Job.
// O-064: of a Job it may write only the status, so it puts no finalizer on one.
//
// TestRightsAreThoseOfAJobController reads the roles of deploy/.
func TestRightsAreThoseOfAJobController(t *testing.T) {
	rights, err := controller.Rights()
	if err != nil {
		t.Fatal(err)
	}
	allowed := append(slices.Clone(section18), rbacv1.PolicyRule{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "list", "create", "update"},
	}, rbacv1.PolicyRule{APIGroups: []string{"batch"}, Resources: []string{"cronjobs"}, Verbs: []string{"list", "watch"}})
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

// TestDeployment applies deploy/ to the API server, strictly. The API server checks the pod by the namespace's own
// policy. The controller runs as the ServiceAccount of the installation, with its arguments.
func TestDeployment(t *testing.T) {
	t.Parallel()
	objects, err := deployed.Base()
	if err != nil {
		t.Fatal(err)
	}
	newWorld(t).deploy(objects, true)
}

// TestOverlays does the same with each overlay of deploy/overlays, as the chart renders it; internal/dev/manifests
// compares that with the output of kustomize. An overlay that needs more than this test has is only applied.
func TestOverlays(t *testing.T) {
	effort.Whole(t)
	for _, row := range []struct {
		overlay, applyOnly string
		works              bool
	}{
		{overlay: "all", works: true},
		{overlay: "history", works: true},
		{overlay: "observe"},
		{overlay: "gang", applyOnly: "the API server has gang scheduling off"},
		{overlay: "nats", applyOnly: "there is no NATS server with these certificates"},
		{overlay: "ha", applyOnly: "there is no certificate; test/ha runs these flags, with these rights"},
		{overlay: "ha-nats", applyOnly: "there are no NATS servers; test/ha runs these flags"},
		{overlay: "nats-log", applyOnly: "there are no three nodes; TestTheServersOfTheOverlay runs servers with their file"},
		{overlay: "reader", applyOnly: "there is no certificate, and TestTheAPIServerDecidesWhoReadsTheLog has these rights"},
		{overlay: "namespace", works: true},
	} {
		t.Run(row.overlay, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if row.overlay == "namespace" {
				if _, err := w.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				w.namespace = "team-a"
			}
			objects, err := deployed.Overlay(t.Context(), row.overlay, "overlay-"+row.overlay)
			if err != nil {
				t.Fatal(err)
			}
			if row.applyOnly != "" {
				for _, set := range w.sets(objects) {
					w.admit(set)
				}
				return
			}
			w.deploy(objects, row.works)
		})
	}
}

// deploy applies the objects of an installation and runs its controller, as its ServiceAccount and with its arguments,
// in the world's namespace. If works is set it must finish a Job, else it must write nothing.
func (w *world) deploy(objects []unstructured.Unstructured, works bool) {
	t := w.t
	t.Helper()
	if !w.alone {
		objects = append(objects, w.leaseHere(objects)...)
	}
	set := w.apply(objects)
	w.admit(set)
	template := set.Spec.Template
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
	w.allows(user, granted(t, objects))
	dir := filepath.Join(w.dir, "deployed")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	watched := w.namespace
	if w.alone {
		watched = "" // its arguments have the namespace
	}
	c := controller.New(controller.Config{Program: shared.Program, Kubeconfig: kubeconfig, Namespace: watched, Dir: dir, Args: w.arguments(set)})
	w.controllers = append(w.controllers, c)
	w.start(c)
	address := w.metricsAddress(c.Output)
	for _, probe := range []*corev1.Probe{template.Spec.Containers[0].LivenessProbe, template.Spec.Containers[0].ReadinessProbe} {
		if scheme := strings.ToLower(cmp.Or(string(probe.HTTPGet.Scheme), "http")); !strings.HasPrefix(address, scheme+"://") {
			t.Errorf("the probe of %s asks by %s, and %s answers", probe.HTTPGet.Path, scheme, address)
		}
		if got := w.status(address + probe.HTTPGet.Path); got != 200 {
			t.Errorf("%s: %d", probe.HTTPGet.Path, got)
		}
	}
	w.create(newJob("demo"))
	if works {
		w.finishes("demo")
	}
	made, err := w.cp.CountWrites(func(x controlplane.Write) bool {
		return x.User == user && !slices.Contains([]string{"get", "list", "watch"}, x.Verb)
	})
	if err != nil || (len(made) > 0) != works {
		t.Errorf("%v; the ServiceAccount wrote %v", err, made)
	}
}

// arguments returns the arguments of the installation's controller, adapted to this machine. If other tests share the
// control plane, it watches only the test's namespace, and has its Lease there.
func (w *world) arguments(set *appsv1.StatefulSet) (args []string) {
	w.t.Helper()
	has := map[string]bool{}
	for _, arg := range set.Spec.Template.Spec.Containers[0].Args[1:] {
		name, _, _ := strings.Cut(arg, "=")
		has[name] = true
		switch name {
		case "--log", "--metrics-tls-key-file":
		case "--namespace":
			if w.alone {
				args = append(args, arg)
			}
		case "--metrics-bind-address":
			args = append(args, "--metrics-bind-address=127.0.0.1:0")
		case "--metrics-tls-cert-file":
			cert, key, trusted := w.certificate()
			w.web = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}, Timeout: patience.Time()}
			args = append(args, "--metrics-tls-cert-file="+cert, "--metrics-tls-key-file="+key)
		default:
			args = append(args, arg)
		}
	}
	if w.alone {
		return args
	}
	if !has["--namespace"] && !has["--watch-cluster"] {
		args = append(args, "--watch-cluster") // the default where all namespaces are watched
	}
	return args
}

// leaseHere returns the rights on a Lease in the world's namespace for the installation's controller.
func (w *world) leaseHere(objects []unstructured.Unstructured) (more []unstructured.Unstructured) {
	for i := range objects {
		o := objects[i].DeepCopy()
		if kind := o.GetKind(); (kind != "Role" && kind != "RoleBinding") || !strings.HasSuffix(o.GetName(), "-leader-election") {
			continue
		}
		o.SetNamespace(w.namespace)
		more = append(more, *o)
	}
	return more
}

// admit lets the API server check the pod of the installation by the policy of its namespace.
func (w *world) admit(set *appsv1.StatefulSet) {
	t := w.t
	t.Helper()
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
}

// apply creates the objects of an installation, strictly, and returns the controller's StatefulSet.
func (w *world) apply(objects []unstructured.Unstructured) *appsv1.StatefulSet {
	return w.sets(objects)[0]
}

// sets creates the objects of an installation, strictly, and returns its StatefulSets, the controller's first.
func (w *world) sets(objects []unstructured.Unstructured) (all []*appsv1.StatefulSet) {
	w.t.Helper()
	for _, made := range w.make(objects) {
		if made.GetKind() != "StatefulSet" {
			continue
		}
		set := &appsv1.StatefulSet{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(made.Object, set); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, set)
	}
	if len(all) == 0 {
		w.t.Fatal("there is no StatefulSet")
	}
	return all
}

// make creates objects, strictly, and returns them as stored.
func (w *world) make(objects []unstructured.Unstructured) (made []*unstructured.Unstructured) {
	w.t.Helper()
	resource := w.resources()
	for i := range objects {
		o := &objects[i]
		m, err := resource(o).Create(w.t.Context(), o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		if apierrors.IsAlreadyExists(err) && o.GetKind() == "Namespace" { // several installations share the Lease's namespace
			m, err = o, nil
		}
		if err != nil {
			w.t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
		made = append(made, m)
	}
	return made
}

// resources returns a function that gives the client for an object's resource in its namespace.
func (w *world) resources() func(*unstructured.Unstructured) dynamic.ResourceInterface {
	w.t.Helper()
	client, err := dynamic.NewForConfig(w.cp.RESTConfig())
	if err != nil {
		w.t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(w.client.Discovery()))
	return func(o *unstructured.Unstructured) dynamic.ResourceInterface {
		mapping, err := mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
		if err != nil {
			w.t.Fatal(err)
		}
		return client.Resource(mapping.Resource).Namespace(o.GetNamespace())
	}
}
