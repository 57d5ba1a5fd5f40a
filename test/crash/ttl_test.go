package crash

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// expiring is a Job with a TTL that is over when it finishes; lasting has a long TTL.
const expiring, lasting = "expiring", "lasting"

// ttlRow is a row about the deletion of an expired Job.
type ttlRow struct {
	sentence string
	crashes  []crash
	survives bool // a Job of that name exists at the end: its TTL was raised in time, or it is another Job
}

var ttlRows = []ttlRow{
	{"before the delete is sent", at("call.before.delete-job:1"), false},
	{"after the Job is deleted", at("call.after.delete-job:1"), false},
	{"before the delete is sent, twice, and then after it", at("call.before.delete-job:1", "call.before.delete-job:1", "call.after.delete-job:1"), false},
	{"before the delete is sent, and the TTL is raised", []crash{{point: "call.before.delete-job:1", then: raiseTTL}}, true},
	{"before the delete is sent, and there is another Job of that name", []crash{{point: "call.before.delete-job:1", then: createAgain}}, true},
	{"after the Job is deleted, and there is another Job of that name", []crash{{point: "call.after.delete-job:1", then: createAgain}}, true},
}

// TestCrashesAroundADelete: the controller is killed before and after it deletes an expired Job. The Job is deleted
// once. A Job with a TTL that was raised meanwhile stays, and so does another Job of that name (T-013, T-035, T-050,
// T-054, T-070).
func TestCrashesAroundADelete(t *testing.T) {
	for _, log := range []string{"the log is kept", "the log is lost"} {
		t.Run(log, func(t *testing.T) {
			for _, r := range effort.Each(3, ttlRows) {
				t.Run(r.sentence, func(t *testing.T) {
					t.Parallel()
					x := newTrialOf(t, "all")
					x.unended = func(n history.Now) string { return x.unsettled(n, false) }
					x.must(controller.GrantTTL(x.ctx, shared.ControlPlane, x.namespace, x.namespace))
					create := func() {
						x.createExpiring(expiring, 0)
						x.createExpiring(lasting, 3600)
					}
					for _, c := range r.crashes {
						x.crash(c, create)
						create = func() {}
						if log == "the log is lost" {
							x.loseLog()
						}
					}
					x.must(x.controller.Start(x.ctx))
					x.must(x.history.Await(x.ctx, func(n history.Now) string { return x.unsettled(n, r.survives) }))
					x.must(x.controller.Stop(x.ctx))
					x.deletedOnce(r.survives)
					x.violated(ledger.Read(ledger.Config{}, x.history.Changes()))
					x.must(x.controller.Check(x.ctx))
				})
			}
		})
	}
}

// createExpiring creates a Job with a pod that runs for a moment.
func (x *trial) createExpiring(name string, ttl int32) {
	x.t.Helper()
	job := newJob(name, map[string]string{controlplane.AnnotationRunFor: "100ms"})
	job.Spec.ManagedBy, job.Spec.TTLSecondsAfterFinished = nil, &ttl
	_, err := shared.Admin.BatchV1().Jobs(x.namespace).Create(x.ctx, job, metav1.CreateOptions{})
	x.must(err)
}

// raiseTTL acts as a user who wants to keep the Job.
func raiseTTL(x *trial) {
	x.t.Helper()
	patch := []byte(`{"spec":{"ttlSecondsAfterFinished":3600}}`)
	_, err := shared.Admin.BatchV1().Jobs(x.namespace).Patch(x.ctx, expiring, types.MergePatchType, patch, metav1.PatchOptions{})
	x.must(err)
}

// createAgain acts as a user who uses the name for another Job with a long TTL.
func createAgain(x *trial) {
	x.t.Helper()
	how := metav1.DeletePropagationBackground
	err := shared.Admin.BatchV1().Jobs(x.namespace).Delete(x.ctx, expiring, metav1.DeleteOptions{PropagationPolicy: &how})
	if err != nil && !apierrors.IsNotFound(err) {
		x.t.Fatal(err)
	}
	x.must(x.history.Await(x.ctx, func(history.Now) string { return x.there() }))
	x.createExpiring(expiring, 3600)
}

// unsettled returns what is missing at the end.
func (x *trial) unsettled(n history.Now, survives bool) string {
	if job := n.Jobs[lasting]; job == nil || !ledger.Finished(job) {
		return "job/" + lasting + " has not finished"
	}
	job := n.Jobs[expiring]
	if survives {
		if job == nil || !ledger.Finished(job) || *job.Spec.TTLSecondsAfterFinished == 0 {
			return "job/" + expiring + " has not finished"
		}
		return ""
	}
	return x.there()
}

// there says whether a Job of the name exists. It asks the API server again after each change that the watch reports.
func (x *trial) there() string {
	_, err := shared.Admin.BatchV1().Jobs(x.namespace).Get(x.ctx, expiring, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return ""
	case err != nil:
		return err.Error()
	}
	return "job/" + expiring + " is there"
}

// deletedOnce checks what was deleted, by whom, and what is left.
func (x *trial) deletedOnce(survives bool) {
	x.t.Helper()
	done, unheard, others := 0, 0, 0
	_, err := shared.ControlPlane.CountWrites(func(w controlplane.Write) bool {
		if w.User == x.namespace && w.Verb == "delete" && w.Resource == "jobs" {
			switch {
			case w.Name != expiring:
				others++
			case w.Code < 300:
				done++
			case w.Unheard():
				unheard++
			}
		}
		return false
	})
	x.must(err)
	x.must(x.history.CatchUp(x.ctx))
	if done > 1 || done+unheard == 0 && !survives || others > 0 {
		x.t.Errorf("job/%s was deleted %d times by the controller, and others %d times", expiring, done, others)
	}
	left := []string{lasting}
	if survives {
		left = append(left, expiring)
	}
	for _, name := range left {
		job, err := shared.Admin.BatchV1().Jobs(x.namespace).Get(x.ctx, name, metav1.GetOptions{})
		x.must(err)
		if job.DeletionTimestamp != nil {
			x.t.Errorf("job/%s is being deleted: its TTL is %d s", name, *job.Spec.TTLSecondsAfterFinished)
		}
	}
	for _, c := range x.history.Changes() {
		if wrong := early(c.Job); wrong != "" {
			x.t.Error(wrong)
		}
	}
}

// early returns a message if a Job is being deleted before its TTL has passed, by its own times.
func early(job *batchv1.Job) string {
	if job == nil || job.DeletionTimestamp == nil || job.Spec.TTLSecondsAfterFinished == nil || *job.Spec.TTLSecondsAfterFinished == 0 {
		return ""
	}
	for _, c := range job.Status.Conditions {
		expiry := c.LastTransitionTime.Add(time.Duration(*job.Spec.TTLSecondsAfterFinished) * time.Second)
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && !job.DeletionTimestamp.Time.Before(expiry) {
			return ""
		}
	}
	return fmt.Sprintf("job/%s is deleted at %s, and its TTL had not passed", job.Name, job.DeletionTimestamp)
}
