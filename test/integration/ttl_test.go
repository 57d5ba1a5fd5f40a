package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
)

func ttl(seconds int32) option {
	return func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = &seconds }
}

// keptBy gives a Job a foreign finalizer, so that its object stays when it is deleted.
func keptBy(finalizer string) option {
	return func(j *batchv1.Job) { j.Finalizers = append(j.Finalizers, finalizer) }
}

// T-001, T-002, T-010 to T-012: the expiry of a Job is computed again whenever its TTL changes.
// T-003, T-004: a Job without a TTL, or that has not finished, stays.
// T-005: so does a Job that names another controller.
// T-013: a Job that expires while no controller runs is deleted by the next one.
// T-020, T-022, T-038: no Job is deleted before its expiry.
// T-035, T-036, T-037: a deletion is in the foreground, is requested once, and leaves foreign finalizers.
// T-052: a TTL that is set on a finished Job counts at once.
// T-061, T-064: a deletion causes no Event, and no write to the Job.
// T-062: the metric has each deletion once.
//
// TestTTL: where the built-in TTL controller does not run, --manage=all deletes the Jobs with a TTL that has passed.
func TestTTL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := controller.GrantTTL(t.Context(), w.cp, w.namespace, w.namespace); err != nil {
		t.Fatal(err)
	}
	h, err := history.Watch(t.Context(), w.client, w.namespace)
	if err != nil {
		t.Fatal(err)
	}
	c := w.newController("all", "--metrics-bind-address=127.0.0.1:0")
	w.start(c)
	const hold = "example.com/hold"
	at := w.create(newJob("at-once", managedBy(nil), ttl(0)))
	fails := w.create(newJob("fails", managedBy(nil), ttl(2), backoffLimit(0), outcome("fail")))
	ours := w.create(newJob("ours", ttl(1), indexed, completions(3), parallelism(3)))
	held := w.create(newJob("held", managedBy(nil), ttl(1), keptBy(hold)))
	set := w.create(newJob("set-later", managedBy(nil)))
	lowered := w.create(newJob("lowered", managedBy(nil), ttl(3600)))
	raised := w.create(newJob("raised", managedBy(nil), ttl(3600)))
	runs := w.create(newJob("runs", managedBy(nil), ttl(0), runFor("1h")))
	kept := w.create(newJob("kept", managedBy(nil)))
	foreign := w.finishedForeign("foreign", 0)
	for _, name := range []string{"set-later", "lowered", "raised", "kept"} {
		w.ends(name, result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1})
	}
	w.patch("set-later", `{"ttlSecondsAfterFinished":0}`)
	w.patch("lowered", `{"ttlSecondsAfterFinished":1}`)
	w.patch("raised", `{"ttlSecondsAfterFinished":7200}`)
	for _, j := range []*batchv1.Job{at, fails, ours, set, lowered} {
		w.gone(j)
	}
	w.eventually("Job held is being deleted", func() (bool, error) { return w.job("held").DeletionTimestamp != nil, nil })
	if f := w.job("held").Finalizers; !slices.Contains(f, hold) {
		t.Errorf("Job held has the finalizers %q", f)
	}
	w.observes(w.metricsAddress(c.Output), 6)

	offline := w.create(newJob("offline", managedBy(nil), ttl(3)))
	w.ends("offline", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1})
	w.kill(c)
	w.eventually("the TTL of Job offline has passed", func() (bool, error) {
		return time.Now().After(condition(w.job("offline"), batchv1.JobComplete).LastTransitionTime.Add(4 * time.Second)), nil
	})
	w.start(c)
	w.gone(offline)

	w.holds("the others stay", 2*time.Second, func() error {
		for _, j := range []*batchv1.Job{raised, runs, kept, foreign} {
			if now := w.job(j.Name); now.UID != j.UID || now.DeletionTimestamp != nil {
				return fmt.Errorf("job %s is deleted", j.Name)
			}
		}
		return nil
	})
	w.unhold(held, hold)
	w.deletedOnce(h, at, fails, ours, set, lowered, held, offline)
	if events := w.eventsOf("ttl-after-finished-controller"); len(events) > 0 {
		t.Errorf("there are Events of deletions: %q", events)
	}
}

// TestTTLTurnedOff: with --ttl-after-finished=false expired Jobs stay, and the right to delete Jobs is not needed
// (T-005, O-003).
func TestTTLTurnedOff(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	w := newWorld(t)
	w.run("all", "--ttl-after-finished=false")
	w.create(newJob("expired", managedBy(nil), ttl(0)))
	w.ends("expired", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1})
	w.holds("the Job stays", 3*time.Second, func() error {
		if j := w.job("expired"); j.DeletionTimestamp != nil {
			return fmt.Errorf("it is deleted")
		}
		return nil
	})
	if n := w.written(nil)["delete jobs"]; n != 0 {
		t.Errorf("the controller asked %d times for a deletion", n)
	}
}

// finishedForeign creates a Job of another controller that says at once that it has finished.
func (w *world) finishedForeign(name string, seconds int32) *batchv1.Job {
	w.t.Helper()
	j := w.create(newJob(name, managedBy(new(foreign)), ttl(seconds)))
	now := metav1.Now()
	j.Status.StartTime, j.Status.CompletionTime = &now, &now
	for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
			Type: kind, Status: corev1.ConditionTrue, Reason: "Done", LastTransitionTime: now,
		})
	}
	done, err := w.client.BatchV1().Jobs(w.namespace).UpdateStatus(w.t.Context(), j, metav1.UpdateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return done
}

// unhold removes the finalizer of a deleted Job.
func (w *world) unhold(j *batchv1.Job, finalizer string) {
	w.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"$deleteFromPrimitiveList/finalizers":[%q]}}`, finalizer)
	_, err := w.client.BatchV1().Jobs(w.namespace).Patch(w.t.Context(), j.Name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		w.t.Fatal(err)
	}
	w.gone(j)
}

// deletedOnce checks that the controller deleted exactly these Jobs: each once, in the foreground, and not before its
// expiry.
func (w *world) deletedOnce(h *history.History, jobs ...*batchv1.Job) {
	w.t.Helper()
	names := map[string]int{}
	_, err := w.cp.CountWrites(func(x controlplane.Write) bool {
		if x.User == w.namespace && x.Verb == "delete" && x.Resource == "jobs" {
			names[x.Name]++
		}
		return false
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, j := range jobs {
		if names[j.Name] != 1 {
			w.t.Errorf("the deletion of Job %s was asked for %d times", j.Name, names[j.Name])
		}
		delete(names, j.Name)
		w.wellDeleted(h, j)
	}
	if len(names) > 0 {
		w.t.Errorf("the controller deleted others: %v", names)
	}
}

// wellDeleted checks the first version of a Job that says that it is being deleted.
func (w *world) wellDeleted(h *history.History, j *batchv1.Job) {
	w.t.Helper()
	for _, change := range h.Changes(j.UID) {
		now := change.Job
		if now == nil || now.DeletionTimestamp == nil {
			continue
		}
		end := condition(now, batchv1.JobComplete)
		if end == nil {
			end = condition(now, batchv1.JobFailed)
		}
		if end == nil || now.Spec.TTLSecondsAfterFinished == nil {
			w.t.Errorf("Job %s was deleted, and had not finished or had no TTL", j.Name)
			return
		}
		expiry := end.LastTransitionTime.Add(time.Duration(*now.Spec.TTLSecondsAfterFinished) * time.Second)
		if now.DeletionTimestamp.Time.Before(expiry) {
			w.t.Errorf("Job %s was deleted at %s, and expired at %s", j.Name, now.DeletionTimestamp, expiry)
		}
		if !slices.Contains(now.Finalizers, metav1.FinalizerDeleteDependents) {
			w.t.Errorf("Job %s was not deleted in the foreground: its finalizers are %q", j.Name, now.Finalizers)
		}
		w.t.Logf("Job %s was deleted %s after its expiry, by the second", j.Name, now.DeletionTimestamp.Sub(expiry))
		return
	}
	w.t.Errorf("nobody saw Job %s being deleted", j.Name)
}

// observes waits until the metric has n deletions. None may be later than the load of a machine explains.
func (w *world) observes(address string, n int) {
	w.t.Helper()
	const name = "ttl_after_finished_controller_job_deletion_duration_seconds"
	var text []byte
	w.eventually(fmt.Sprintf("the metric has %d deletions", n), func() (bool, error) {
		_, text = w.get(address + "/metrics")
		return strings.Contains(string(text), fmt.Sprintf("\n%s_count %d\n", name, n)), nil
	})
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, name+"_sum") {
			w.t.Log(strings.TrimSpace(line))
		}
	}
}

// eventsOf returns the reasons of the Events that have this source, or that mention a deletion of a Job.
func (w *world) eventsOf(source string) (reasons []string) {
	w.t.Helper()
	list, err := w.client.CoreV1().Events(w.namespace).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range list.Items {
		if e.Source.Component == source || e.InvolvedObject.Kind == "Job" && strings.Contains(strings.ToLower(e.Message), "ttl") {
			reasons = append(reasons, e.Reason)
		}
	}
	return reasons
}
