package invariants

import (
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// Each row is a short history. want is the rule of the violation that Check must report; empty for none.
//
//conformance:fact the simulation finds: %s
var histories = []struct {
	name    string
	want    string
	history func(*lab)
}{
	{"one write finishes a Job and counts its pods", "", func(l *lab) {
		l.job()
		l.end("a", -1, corev1.PodSucceeded)
		l.end("b", -1, corev1.PodSucceeded)
		l.status(counts(2, 0), complete)
		l.drop(l.controller, "a")
		l.drop(l.controller, "b")
	}},
	{"a pod is counted in three steps while others run", "", func(l *lab) {
		l.job()
		a := l.end("a", -1, corev1.PodFailed)
		l.run("b", -1)
		l.status(uncounted(nil, []types.UID{a}))
		l.drop(l.controller, "a")
		l.status(counts(0, 1), uncounted(nil, nil))
	}},
	{"the finishing write also counts what is in the lists", "", func(l *lab) {
		l.job()
		a := l.end("a", -1, corev1.PodSucceeded)
		l.status(uncounted([]types.UID{a}, nil))
		l.end("b", -1, corev1.PodSucceeded)
		l.status(counts(2, 0), uncounted(nil, nil), complete)
	}},
	{"a counter without a list is counted before the finalizer is gone", "J-085", func(l *lab) {
		l.job()
		l.end("a", -1, corev1.PodFailed)
		l.run("b", -1)
		l.status(counts(0, 1))
	}},
	{"a pod is counted twice: it enters a list again", "J-031, J-088", func(l *lab) {
		l.job()
		a := l.end("a", -1, corev1.PodFailed)
		l.status(uncounted(nil, []types.UID{a}))
		l.drop(l.controller, "a")
		l.status(counts(0, 1), uncounted(nil, nil))
		l.status(uncounted(nil, []types.UID{a}))
	}},
	{"a pod is counted twice: two for one that left the list", "J-085, each pod", func(l *lab) {
		l.job()
		a := l.end("a", -1, corev1.PodFailed)
		l.status(uncounted(nil, []types.UID{a}))
		l.drop(l.controller, "a")
		l.status(counts(0, 2), uncounted(nil, nil))
	}},
	{"a pod is forgotten when it leaves the list", "J-085, each pod", func(l *lab) {
		l.job()
		a := l.end("a", -1, corev1.PodFailed)
		l.status(uncounted(nil, []types.UID{a}))
		l.drop(l.controller, "a")
		l.status(uncounted(nil, nil))
	}},
	{"a pod leaves the list with its finalizer on", "J-085", func(l *lab) {
		l.job()
		a := l.end("a", -1, corev1.PodFailed)
		l.status(uncounted(nil, []types.UID{a}))
		l.status(counts(0, 1), uncounted(nil, nil))
	}},
	{"a pod changes from failed to succeeded between the lists", "J-031, J-088", func(l *lab) {
		l.job()
		a := l.end("a", -1, corev1.PodSucceeded)
		l.delete(l.user, "a")
		l.status(uncounted(nil, []types.UID{a}))
		l.status(uncounted([]types.UID{a}, nil), counts(0, 1))
	}},
	{"the finishing write forgets a failed pod", "J-085, each pod", func(l *lab) {
		l.job()
		l.end("a", -1, corev1.PodFailed)
		l.end("b", -1, corev1.PodFailed)
		l.status(counts(0, 1), failed)
	}},
	{"the finishing write invents a success", "J-085, each pod", func(l *lab) {
		l.job()
		l.end("a", -1, corev1.PodSucceeded)
		l.status(counts(2, 0), complete)
	}},
	{"a pod whose finalizer a user took may be counted at the finish", "", func(l *lab) {
		l.job()
		l.end("a", -1, corev1.PodSucceeded)
		l.end("b", -1, corev1.PodSucceeded)
		l.drop(l.user, "b")
		l.status(counts(2, 0), complete)
	}},
	{"a pod whose finalizer a user took may be left out at the finish", "", func(l *lab) {
		l.job()
		l.end("a", -1, corev1.PodFailed)
		l.end("b", -1, corev1.PodFailed)
		l.drop(l.user, "b")
		l.status(counts(0, 1), failed)
	}},
	{"a pod without a finalizer that fails after it was stripped is not counted", "J-085, each pod", func(l *lab) {
		l.job()
		l.run("a", -1)
		l.drop(l.user, "a")
		l.phase("a", corev1.PodSucceeded)
		l.status(counts(1, 0), complete)
	}},
	{"a deleted pod counts as failed a second later", "", func(l *lab) {
		l.job()
		a := l.run("a", -1).UID
		l.delete(l.user, "a")
		l.Clock().Advance(time.Second)
		l.status(uncounted(nil, []types.UID{a}))
		l.drop(l.controller, "a")
		l.status(counts(0, 1), uncounted(nil, nil))
	}},
	{"a deleted pod that may still end by itself does not count as failed", "J-022", func(l *lab) {
		l.job()
		a := l.run("a", -1).UID
		l.delete(l.user, "a")
		l.Clock().Advance(999 * time.Millisecond)
		l.status(uncounted(nil, []types.UID{a}))
	}},
	{"a deleted pod counts as failed as soon as it has failed", "", func(l *lab) {
		l.job()
		a := l.run("a", -1).UID
		l.delete(l.user, "a")
		l.phase("a", corev1.PodFailed)
		l.status(uncounted(nil, []types.UID{a}))
	}},
	{"in failed-only mode a terminating pod does not count yet", "J-022", func(l *lab) {
		l.job(func(s *batchv1.JobSpec) { s.PodReplacementPolicy = new(batchv1.Failed) })
		a := l.run("a", -1).UID
		l.delete(l.user, "a")
		l.status(uncounted(nil, []types.UID{a}))
	}},
	{"a running pod does not count", "J-022", func(l *lab) {
		l.job()
		a := l.run("a", -1).UID
		l.status(uncounted(nil, []types.UID{a}))
	}},
	{"running pods of a failing Job count as failed", "", func(l *lab) {
		l.job()
		a, b := l.run("a", -1).UID, l.run("b", -1).UID
		l.delete(l.controller, "a")
		l.delete(l.controller, "b")
		l.status(uncounted(nil, []types.UID{a, b}), isNow(batchv1.JobFailureTarget))
		l.drop(l.controller, "a")
		l.drop(l.controller, "b")
		l.confirm("a", corev1.PodFailed)
		l.confirm("b", corev1.PodFailed)
		l.status(counts(0, 2), uncounted(nil, nil), isNow(batchv1.JobFailed))
	}},
	{"a running pod is in the list of succeeded", "J-085", func(l *lab) {
		l.job()
		l.status(uncounted([]types.UID{l.run("a", -1).UID}, nil))
	}},
	{"a UID of no pod is in a list", "J-031", func(l *lab) {
		l.job()
		l.status(uncounted([]types.UID{"nobody"}, nil))
	}},
	{"a pod deleted because the Job succeeded counts as failed", "J-142", func(l *lab) {
		l.job()
		a := l.run("a", -1).UID
		l.status(isNow(batchv1.JobSuccessCriteriaMet))
		l.delete(l.controller, "a")
		l.status(uncounted(nil, []types.UID{a}))
	}},
	{"an Indexed Job finishes", "", func(l *lab) {
		l.job(indexedJob)
		l.end("a", 0, corev1.PodSucceeded)
		l.end("b", 1, corev1.PodSucceeded)
		l.status(indexes("0,1", 2), complete)
	}},
	{"an index set lets the finalizer go", "", func(l *lab) {
		l.job(indexedJob)
		l.end("a", 0, corev1.PodSucceeded)
		l.run("b", 1)
		l.status(indexes("0", 1))
		l.drop(l.controller, "a")
	}},
	{"two pods of one index succeeded: one index", "", func(l *lab) {
		l.job(indexedJob)
		l.end("a", 0, corev1.PodSucceeded)
		l.end("c", 0, corev1.PodSucceeded)
		l.end("b", 1, corev1.PodSucceeded)
		l.status(indexes("0,1", 2), complete)
	}},
	{"an index is completed that no pod completed", "J-039", func(l *lab) {
		l.job(indexedJob)
		l.end("a", 0, corev1.PodSucceeded)
		l.status(indexes("0,1", 2))
	}},
	{"a completed index is forgotten at the finish", "no pod is forgotten", func(l *lab) {
		l.job(indexedJob)
		l.end("a", 0, corev1.PodSucceeded)
		l.end("b", 1, corev1.PodSucceeded)
		l.status(indexes("0", 1), complete)
	}},
	{"succeeded is not the size of the set", "J-039", func(l *lab) {
		l.job(indexedJob)
		l.end("a", 0, corev1.PodSucceeded)
		l.status(indexes("0", 2))
	}},
	{"a completed index vanishes", "J-039", func(l *lab) {
		l.job(indexedJob)
		l.end("a", 0, corev1.PodSucceeded)
		l.status(indexes("0", 1))
		l.status(indexes("", 0))
	}},
	{"a pod without a valid index counts", "J-035", func(l *lab) {
		l.job(indexedJob)
		a := l.end("a", 7, corev1.PodFailed)
		l.status(uncounted(nil, []types.UID{a}))
	}},
	{"a pod without a valid index loses its finalizer uncounted", "", func(l *lab) {
		l.job(indexedJob)
		l.end("a", 7, corev1.PodFailed)
		l.drop(l.controller, "a")
	}},
	{"an index has two live pods", "J-052", func(l *lab) {
		l.job(indexedJob)
		l.run("a", 0)
		l.create("b", 0)
	}},
	{"an index has a second pod while the first is being deleted", "", func(l *lab) {
		l.job(indexedJob)
		l.run("a", 0)
		l.delete(l.user, "a")
		l.create("b", 0)
	}},
	{"an index has a second pod from another template", "", func(l *lab) {
		l.job(indexedJob)
		l.run("a", 0)
		l.create("b", 0, func(p *corev1.Pod) { p.Annotations[events.TemplateAnnotation] = "other" })
	}},
	{"more live pods than parallelism", "J-047", func(l *lab) {
		l.job(func(s *batchv1.JobSpec) { s.Completions = new(int32(9)) })
		l.create("a", -1)
		l.create("b", -1)
		l.create("c", -1)
	}},
	{"more live and succeeded pods than completions", "J-047", func(l *lab) {
		l.job()
		l.end("a", -1, corev1.PodSucceeded)
		l.create("b", -1)
		l.create("c", -1)
	}},
	{"a finished Job is changed", "J-008", func(l *lab) {
		l.job()
		l.end("a", -1, corev1.PodSucceeded)
		l.status(counts(1, 0), complete)
		l.status(func(s *batchv1.JobStatus) { s.Conditions[0].Message = "changed" })
	}},
	{"a finished Job gets a pod", "J-009", func(l *lab) {
		l.job()
		l.status(failed)
		l.create("a", -1)
	}},
	{"a pod of a finished Job is deleted", "J-082", func(l *lab) {
		l.job()
		l.end("a", -1, corev1.PodFailed)
		l.status(counts(0, 1), failed)
		l.delete(l.controller, "a")
	}},
	{"a Job is finished while a pod runs", "J-163", func(l *lab) {
		l.job()
		l.run("a", -1)
		l.status(failed)
	}},
	{"more pods carry the finalizer at the end than may", "J-085", func(l *lab) {
		l.job(func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = new(int32(4)), new(int32(4)) })
		l.end("a", -1, corev1.PodSucceeded)
		l.end("b", -1, corev1.PodSucceeded)
		l.end("c", -1, corev1.PodSucceeded)
		l.end("d", -1, corev1.PodSucceeded)
		l.status(counts(4, 0), complete)
	}},
	{"as many as may", "", func(l *lab) {
		l.job(func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = new(int32(4)), new(int32(4)) })
		a := l.end("a", -1, corev1.PodSucceeded)
		l.end("b", -1, corev1.PodSucceeded)
		l.end("c", -1, corev1.PodSucceeded)
		l.end("d", -1, corev1.PodSucceeded)
		l.status(counts(0, 0), uncounted([]types.UID{a}, nil))
		l.drop(l.controller, "a")
		l.status(counts(4, 0), uncounted(nil, nil), complete)
	}},
	{"a surplus pod is dropped, then deleted", "", func(l *lab) {
		l.job()
		l.run("a", -1)
		l.drop(l.controller, "a")
		l.delete(l.controller, "a")
		l.confirm("a", corev1.PodFailed)
		l.status(failed)
	}},
	{"a surplus pod is dropped and never deleted", "J-073", func(l *lab) {
		l.job()
		l.run("a", -1)
		l.drop(l.controller, "a")
		l.status(failed)
	}},
	{"a surplus pod that has ended is dropped and stays, with its logs", "", func(l *lab) {
		l.job()
		l.end("a", -1, corev1.PodFailed)
		l.drop(l.controller, "a")
		l.status(failed)
	}},
	{"a surplus pod whose drop was lost is neither missed nor required", "", func(l *lab) {
		l.job()
		a := l.run("a", -1)
		l.controller.FailNext(apiserver.Fault{Kind: apiserver.TimeoutBefore})
		if _, err := l.controller.PatchPod(ctx, "default", "a", []byte(`{"metadata":{"uid":"`+string(a.UID)+`"}}`)); err == nil {
			l.Fatal("no time-out")
		}
		l.phase("a", corev1.PodSucceeded)
		l.status(failed)
	}},
	{"a pod is made without the finalizer", "J-084", func(l *lab) {
		l.job()
		l.create("a", -1, func(p *corev1.Pod) { p.Finalizers = nil })
	}},
	{"somebody else's Job gets a status", "J-005", func(l *lab) {
		l.job(func(s *batchv1.JobSpec) { s.ManagedBy = new("example.com/other") })
		l.status()
	}},
	{"somebody else's Job gets a pod", "J-005", func(l *lab) {
		l.job(func(s *batchv1.JobSpec) { s.ManagedBy = nil })
		l.create("a", -1)
	}},
	{"a pod is deleted without its UID", "J-083", func(l *lab) {
		l.job()
		l.create("a", -1)
		l.must(l.controller.DeletePod(ctx, "default", "a", "", ""))
	}},
	{"a pod is patched without its UID", "J-083", func(l *lab) {
		l.job()
		l.create("a", -1)
		_, err := l.controller.PatchPod(ctx, "default", "a", []byte(`{"metadata":{"labels":{"x":"y"}}}`))
		l.must(err)
	}},
	{"the server refuses a status as invalid", "J-237", func(l *lab) {
		job := l.job()
		job.Status.Active = -1
		if _, err := l.controller.UpdateJobStatus(ctx, job); err == nil {
			l.Fatal("accepted")
		}
	}},
	{"a conflict is nobody's fault", "", func(l *lab) {
		job := l.job()
		l.Touch("someone", apiserver.Jobs, "default", "demo")
		if _, err := l.controller.UpdateJobStatus(ctx, job); err == nil {
			l.Fatal("accepted")
		}
	}},
	{"the first status lacks its parts", "J-027", func(l *lab) {
		job := l.job()
		job.Status.Active = 1
		_, err := l.controller.UpdateJobStatus(ctx, job)
		l.must(err)
	}},
	{"the terminal condition stands before the interim one", "J-162", func(l *lab) {
		l.job()
		l.status(isNow(batchv1.JobFailed, batchv1.JobFailureTarget))
	}},
	{"a condition stands twice", "J-044", func(l *lab) {
		l.job()
		l.status(isNow(batchv1.JobFailureTarget, batchv1.JobFailureTarget))
	}},
	{"a condition that somebody set to False is overwritten where it stands", "", func(l *lab) {
		l.job()
		l.status(func(s *batchv1.JobStatus) {
			s.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionFalse}}
		})
		l.status(func(s *batchv1.JobStatus) {
			s.Conditions = nil
			isNow(batchv1.JobFailed, batchv1.JobFailureTarget)(s)
		})
	}},
	{"a condition of somebody else is lost", "J-044", func(l *lab) {
		l.job()
		l.status(func(s *batchv1.JobStatus) {
			s.Conditions = []batchv1.JobCondition{{Type: "example.com/Noted", Status: corev1.ConditionTrue}}
		})
		l.status(func(s *batchv1.JobStatus) { s.Conditions = nil })
	}},
	{"an index is completed by a pod that had it when it was looked at", "", func(l *lab) {
		l.job(indexedJob)
		l.end("a", 0, corev1.PodSucceeded)
		l.reindex("a", 1)
		l.status(indexes("0", 1))
		l.drop(l.controller, "a")
	}},
	{"an index is completed that no pod ever had", "J-039", func(l *lab) {
		l.job(indexedJob, func(s *batchv1.JobSpec) { s.Completions = new(int32(3)) })
		l.end("a", 0, corev1.PodSucceeded)
		l.reindex("a", 1)
		l.status(indexes("2", 1))
	}},
	{"an index is made anew, whose pod somebody gave another", "", func(l *lab) {
		l.job(indexedJob)
		l.run("a", 0)
		l.reindex("a", 1)
		l.create("b", 0)
	}},
	{"a pod that is counted is with another Job meanwhile, and adopted with the finalizer again", "", func(l *lab) {
		l.job()
		a := l.end("a", -1, corev1.PodFailed)
		l.status(uncounted(nil, []types.UID{a}))
		l.drop(l.controller, "a")
		l.status(counts(0, 1), uncounted(nil, nil))
		l.orphan("a")
		_, err := l.user.PatchPod(ctx, "default", "a", []byte(`{"metadata":{"annotations":{"jobledger.dev/command":"log.1/another/0"}}}`))
		l.must(err)
		l.adopt("a", events.TrackingFinalizer)
	}},
	{"the controller changes a spec", "J-249", func(l *lab) {
		job := l.job()
		job.Spec.Parallelism = new(int32(1))
		_, err := l.controller.UpdateJob(ctx, job)
		l.must(err)
	}},
	{"a pod that the selector matches is released", "J-174", func(l *lab) {
		l.job()
		p := l.create("a", -1)
		_, err := l.controller.PatchPod(ctx, "default", "a", []byte(`{"metadata":{"uid":"`+string(p.UID)+`","ownerReferences":[{"$patch":"delete","uid":"`+string(l.current().UID)+`"}]}}`))
		l.must(err)
	}},
	{"an orphan is adopted and counted", "", func(l *lab) {
		l.job()
		l.stray("a", corev1.PodSucceeded)
		a := l.adopt("a", events.TrackingFinalizer)
		l.status(uncounted([]types.UID{a}, nil))
		l.drop(l.controller, "a")
		l.status(counts(1, 0), uncounted(nil, nil))
	}},
	{"an orphan is adopted without the finalizer, and would never count", "J-177", func(l *lab) {
		l.job()
		l.stray("a", corev1.PodSucceeded)
		l.adopt("a")
	}},
	{"a pod that is counted is orphaned and adopted with the finalizer again", "J-031", func(l *lab) {
		l.job()
		a := l.end("a", -1, corev1.PodFailed)
		l.status(uncounted(nil, []types.UID{a}))
		l.drop(l.controller, "a")
		l.status(counts(0, 1), uncounted(nil, nil))
		l.orphan("a")
		l.adopt("a", events.TrackingFinalizer)
	}},
	{"a pod that is counted is orphaned and adopted without the finalizer", "", func(l *lab) {
		l.job()
		a := l.end("a", -1, corev1.PodFailed)
		l.status(uncounted(nil, []types.UID{a}))
		l.drop(l.controller, "a")
		l.status(counts(0, 1), uncounted(nil, nil))
		l.orphan("a")
		l.adopt("a")
	}},
	{"an adopted pod that ended is forgotten at the finish", "J-085, each pod", func(l *lab) {
		l.job()
		l.stray("a", corev1.PodFailed)
		l.adopt("a", events.TrackingFinalizer)
		l.status(failed)
	}},
	{"an orphan that is being deleted is adopted", "J-178", func(l *lab) {
		l.job()
		l.stray("a", corev1.PodRunning)
		_, err := l.user.PatchPod(ctx, "default", "a", []byte(`{"metadata":{"finalizers":["jobledger.dev/job-tracking"]}}`))
		l.must(err)
		l.delete(l.user, "a")
		l.adopt("a", events.TrackingFinalizer)
	}},
	{"an orphan that the selector does not match is adopted", "J-175", func(l *lab) {
		l.job()
		l.stray("a", corev1.PodRunning)
		_, err := l.user.PatchPod(ctx, "default", "a", []byte(`{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":null}}}`))
		l.must(err)
		l.adopt("a", events.TrackingFinalizer)
	}},
	{"a deleted Job's pods lose their finalizer uncounted", "", func(l *lab) {
		l.job()
		l.end("a", -1, corev1.PodFailed)
		l.must(l.user.DeleteJob(ctx, "default", "demo", "", "Background"))
		l.drop(l.controller, "a")
	}},
}

func TestHistories(t *testing.T) {
	for _, row := range histories {
		t.Run(row.name, func(t *testing.T) {
			l := newLab(t, false)
			row.history(l)
			wantRule(t, l.checker.Check(), row.want)
			if err := l.checker.Check(); err != nil {
				t.Errorf("checked twice: %v", err)
			}
		})
	}
}

func wantRule(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("unexpected: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got %v, want a violation of %s", err, want)
	case err != nil && !errors.As(err, new(*Violation)):
		t.Errorf("%v is no Violation", err)
	}
}
