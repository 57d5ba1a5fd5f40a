package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/deployed"
)

// notRequests are rights that the API server asks for when something else is created (OwnerReferencesPermissionEnforcement), so no
// request shows them. TestPodsMayBlockTheDeletionOfTheirJob shows that without the first pods are refused.
var notRequests = []string{"update jobs/finalizers.batch", "update cronjobs/finalizers.batch"}

// streamed are rights that are not used on this API server, as it streams lists in a watch (WatchList). On one that does not they are.
var streamed = []string{"list nodes.", "list namespaces."}

// O-045: every right of an installation is used by it, and none is missing.
// O-044: also where the API server checks who makes an object that blocks the deletion of its owner.
//
// TestNoRightIsUnused installs each mode as the chart gives it, has it do all that it does, and compares its rights with the audit log.
func TestNoRightIsUnused(t *testing.T) {
	t.Parallel()
	cp := controlplane.ForTest(t, controlplane.Options{
		AuditReads:    true,
		APIServerArgs: []string{"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"},
	})
	for _, row := range []struct {
		name, values string
		long         bool
		works        bool
		deeds        []func(*world)
	}{
		{name: "delegated", values: "manage: delegated", works: true, deeds: []func(*world){runsJobs}},
		{name: "all", values: "manage: all", works: true, deeds: []func(*world){runsJobs, runsCronJobs, expires}},
		{name: "observe", values: "manage: observe"},
		{name: "without", values: "manage: all\nttlAfterFinished: false\ncronJobs: false\nwatchCluster: false", long: true, works: true, deeds: []func(*world){runsJobs}},
		{name: "others", values: "observeOthers: true", long: true, works: true, deeds: []func(*world){runsJobs}},
		{name: "ttl", values: "manage: all\ncronJobs: false", long: true, works: true, deeds: []func(*world){runsJobs, expires}},
		{name: "cron", values: "manage: all\nttlAfterFinished: false", long: true, works: true, deeds: []func(*world){runsJobs, runsCronJobs}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.long && !long {
				t.Skip("JOBLEDGER_LONG=1")
			}
			w := newWorldOn(t, cp)
			objects, err := deployed.Chart(t.Context(), "rights-"+row.name, row.values)
			if err != nil {
				t.Fatal(err)
			}
			w.deploy(objects, row.works)
			for _, do := range row.deeds {
				do(w)
			}
			w.stop(w.controllers[len(w.controllers)-1]) // a watch is in the audit log when it has ended
			w.usesAll(granted(t, objects), w.users[len(w.users)-1])
		})
	}
}

// granted are the rights in the roles of an installation, as "verb resource.group".
func granted(t *testing.T, objects []unstructured.Unstructured) (all []string) {
	t.Helper()
	for i := range objects {
		if kind := objects[i].GetKind(); kind != "ClusterRole" && kind != "Role" {
			continue
		}
		var role rbacv1.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(objects[i].Object, &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						all = append(all, right(verb, resource, group))
					}
				}
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) < 6 {
		t.Fatalf("the roles give no more than %v", all)
	}
	return all
}

func right(verb, resource, group string) string { return verb + " " + resource + "." + group }

// usesAll reports rights that the audit log does not show as used.
func (w *world) usesAll(rights []string, user string) {
	w.t.Helper()
	var unused []string
	defer func() {
		if len(unused) > 0 {
			w.t.Errorf("nothing uses these rights of %s: %s", user, strings.Join(unused, ", "))
		}
	}()
	w.eventually("the audit log has every right as used", func() (bool, error) {
		used, err := w.used(user)
		unused = slices.DeleteFunc(slices.Clone(rights), func(r string) bool { return used[r] || slices.Contains(notRequests, r) || slices.Contains(streamed, r) })
		return len(unused) == 0, err
	})
}

// used are the rights that a user has made use of.
func (w *world) used(user string) (map[string]bool, error) {
	requests, err := w.cp.Writes()
	all := map[string]bool{}
	for _, r := range requests {
		if r.User == user && r.Code != http.StatusForbidden { // what is not found was asked for as well
			all[right(r.Verb, r.Resource, r.Group)] = true
		}
	}
	return all, err
}

// runsJobs has what asks for each of the rights on Jobs, pods and Events: a Job is suspended and resumed twice, and a pod is found whose
// Job is gone.
func runsJobs(w *world) {
	finalizer := events.TrackingFinalizer
	w.create(newJob("stops", suspended, outcome(controlplane.OutcomeRun)))
	for range 2 {
		w.patch("stops", `{"suspend":false}`)
		w.eventually("its pod is there", func() (bool, error) { return len(w.pods("stops")) == 1, nil })
		w.patch("stops", `{"suspend":true}`)
		w.eventually("its pod is gone", func() (bool, error) { return len(w.pods("stops")) == 0, nil })
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "left", Finalizers: []string{finalizer},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: "gone", UID: types.UID("0d7c4b5a-0000-4000-8000-000000000000"), Controller: new(true),
			}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "any"}}},
	}
	if _, err := w.client.CoreV1().Pods(w.namespace).Create(w.t.Context(), pod, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.eventually("the pod of a Job that is gone loses its finalizer", func() (bool, error) {
		list, err := w.client.CoreV1().Pods(w.namespace).List(w.t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=left"})
		return err == nil && (len(list.Items) == 0 || len(list.Items[0].Finalizers) == 0), err
	})
}

// runsCronJobs: a CronJob has its Jobs made and deleted. Somebody goes on changing it, so its status is written to an old version, and it
// has to be read.
func runsCronJobs(w *world) {
	api := w.client.BatchV1().CronJobs(w.namespace)
	template := batchv1.JobTemplateSpec{Spec: newJob("template", managedBy(nil)).Spec}
	if _, err := api.Create(w.t.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly"},
		Spec: batchv1.CronJobSpec{
			Schedule: "@every 1s", ConcurrencyPolicy: batchv1.ForbidConcurrent, JobTemplate: template, SuccessfulJobsHistoryLimit: new(int32(0)),
		},
	}, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	user := w.users[len(w.users)-1]
	changes := 0
	w.eventually("the CronJob is read, and its Jobs are deleted", func() (bool, error) {
		for range 20 {
			changes++
			patch := fmt.Sprintf(`{"metadata":{"annotations":{"example.com/change":"%d"}}}`, changes)
			if _, err := api.Patch(w.t.Context(), "nightly", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				return false, err
			}
		}
		used, err := w.used(user)
		return used["get cronjobs.batch"] && used["delete jobs.batch"] && used["update cronjobs/status.batch"], err
	})
	w.suspendCronJob("nightly")
}

// expires: a Job goes by its TTL.
func expires(w *world) {
	job := w.create(newJob("expires", func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = new(int32(1)) }))
	w.gone(job)
}

func (w *world) suspendCronJob(name string) {
	w.t.Helper()
	patch := []byte(`{"spec":{"suspend":true}}`)
	if _, err := w.client.BatchV1().CronJobs(w.namespace).Patch(w.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		w.t.Fatal(err)
	}
}
