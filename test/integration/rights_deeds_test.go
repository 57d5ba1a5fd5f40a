package integration

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/controlplane"
)

// renews waits until the Lease was renewed twice: with each renewal the controller looks for a Lease with precedence
// over its own.
func renews(w *installation) {
	w.eventually("the Lease is renewed", func() (bool, error) {
		lease, err := w.client.CoordinationV1().Leases("jobledger").Get(w.t.Context(), "jobledger", metav1.GetOptions{})
		if apierrors.IsNotFound(err) { // or that of the watched namespace
			lease, err = w.client.CoordinationV1().Leases(w.namespace).Get(w.t.Context(), "jobledger", metav1.GetOptions{})
		}
		if apierrors.IsNotFound(err) {
			return false, nil // not yet
		}
		s := &lease.Spec
		return s.AcquireTime != nil && s.RenewTime != nil && s.RenewTime.Sub(s.AcquireTime.Time) > 3*time.Second, err
	})
}

// runsJobs uses each right on Jobs, pods and Events: a Job is suspended and resumed twice, and there is a pod whose Job
// does not exist.
func runsJobs(w *installation) {
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

// runsCronJobs: the Jobs of a CronJob are created and deleted. A user keeps changing the CronJob, so a status write
// meets a newer version, and the controller must read it.
func runsCronJobs(w *installation) {
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
	changes := 0
	w.eventually("the CronJob is read, and its Jobs are deleted", func() (bool, error) {
		for range 20 {
			changes++
			patch := fmt.Sprintf(`{"metadata":{"annotations":{"example.com/change":"%d"}}}`, changes)
			if _, err := api.Patch(w.t.Context(), "nightly", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				return false, err
			}
		}
		requests, err := w.log.of(w.user)
		did := func(verb, resource string) bool {
			return slices.ContainsFunc(requests, func(r controlplane.Write) bool { return r.Verb == verb && r.Resource == resource })
		}
		return did("get", "cronjobs") && did("delete", "jobs") && did("update", "cronjobs/status"), err
	})
}

// expires: a Job is deleted by its TTL.
func expires(w *installation) {
	job := w.create(newJob("expires", func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = new(int32(1)) }))
	w.gone(job)
}

// asksWhoReads: a client reads the metrics with a token.
func asksWhoReads(w *installation) {
	token := w.token("scraper")
	w.mayScrape("scraper")
	address := w.metricsAddress(w.controllers[len(w.controllers)-1].NewestOutput)
	w.eventually("the metrics are read with a token", func() (bool, error) { // the API server learns of a role by and by
		request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, address+"/metrics", nil)
		if err != nil {
			return false, err
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := w.web.Do(request)
		if err != nil {
			return false, err
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
}

// clear deletes the CronJobs and Jobs of the namespace and waits until they and their pods are gone, so that the next
// controller of all namespaces finds none.
func (w *world) clear() {
	w.t.Helper()
	batch := w.client.BatchV1()
	background := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
	w.eventually("the CronJobs and Jobs are gone", func() (bool, error) {
		if err := batch.CronJobs(w.namespace).DeleteCollection(w.t.Context(), background, metav1.ListOptions{}); err != nil {
			return false, err
		}
		if err := batch.Jobs(w.namespace).DeleteCollection(w.t.Context(), background, metav1.ListOptions{}); err != nil {
			return false, err
		}
		crons, err := batch.CronJobs(w.namespace).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		jobs, err := batch.Jobs(w.namespace).List(w.t.Context(), metav1.ListOptions{})
		return err == nil && len(crons.Items)+len(jobs.Items)+len(w.pods("")) == 0, err
	})
}
