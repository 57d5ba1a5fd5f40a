package beside

import (
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/controlplane"
)

var kueueScenarios = []scenario{
	{"no quota, then admitted", (*world).heldThenAdmitted},
	{"drained, then admitted on other nodes", (*world).drained},
	{"preempted", (*world).preempted},
	{"admitted in part", (*world).admittedInPart},
	{"requests lowered while held", (*world).requestsLowered},
	{"TTL", (*world).expiresInAQueue},
	{"a JobSet in a queue", (*world).jobSetInAQueue},
}

// heldThenAdmitted: the quota is enough for one pod. Three Jobs use it one after the other, each when the one before
// has ended. The third is the built-in controller's, if that runs.
func (w *world) heldThenAdmitted() {
	w.makeQueue(quota{"spot", "1"})
	w.create(queued(w.newJob("first", 1, "1")))
	w.run("first", 1, "spot")

	second := w.create(queued(w.newJob("second", 1, "1")))
	w.waits(second.UID)
	w.suspended("second")
	w.explains("second", "SUSPENDED for", "queue "+queueName)
	waiting := time.Now()
	w.eventually("another second has begun", func() (string, error) { // of two Jobs from one second either is first
		if now := time.Now(); now.Unix() == waiting.Unix() {
			return now.String(), nil
		}
		return "", nil
	})
	third := w.newJob("third", 1, "1")
	third.Spec.ManagedBy = nil
	third = w.create(queued(third))
	w.waits(third.UID)
	w.suspended("third")
	w.holds("the queue holds two Jobs", func() error {
		for _, name := range []string{"second", "third"} {
			if n := len(w.pods(name)); n > 0 || !*w.job(name).Spec.Suspend {
				return fmt.Errorf("Job %s has %d pods", name, n)
			}
		}
		return nil
	})

	w.end("first", controlplane.OutcomeSucceed)
	w.complete("first", 1)
	w.run("second", 1, "spot")
	if n := len(w.pods("third")); n > 0 {
		w.t.Errorf("the third Job has %d pods while the second has the quota", n)
	}
	w.end("second", controlplane.OutcomeSucceed)
	w.complete("second", 1)
	w.run("third", 1, "spot")
	w.end("third", controlplane.OutcomeSucceed)
	w.eventually("the third Job is complete", func() (string, error) {
		if s := w.job("third").Status; s.Succeeded != 1 || s.Failed != 0 || condition(w.job("third"), batchv1.JobComplete) == nil {
			return fmt.Sprintf("%+v", s), nil
		}
		return "", nil
	})
}

// drained: an administrator drains the queue and removes its nodes. The Job has two indexes that may not fail; it goes
// on elsewhere.
func (w *world) drained() {
	w.makeQueue(quota{"spot", "2"}, quota{"reserved", "2"})
	job := queued(w.newJob("train", 2, "1"))
	job.Spec.Template.Annotations[controlplane.AnnotationStopAfter] = "1s" // so its pods are Failed, which is no failure
	made := w.create(job)
	w.run("train", 2, "spot")

	w.changeQueue(map[string]any{"stopPolicy": "HoldAndDrain"})
	w.suspended("train")
	w.waits(made.UID)
	w.eventually("the Job is as before it was admitted", func() (string, error) {
		j := w.job("train")
		if j.Status.StartTime != nil || len(j.Spec.Template.Spec.NodeSelector) > 0 {
			return fmt.Sprintf("start time %v, node selector %v", j.Status.StartTime, j.Spec.Template.Spec.NodeSelector), nil
		}
		return "", nil
	})
	w.explains("train", "SUSPENDED for", "by kueue", "queue "+queueName)

	w.changeQueue(map[string]any{"stopPolicy": "None", "resourceGroups": resourceGroups([]quota{{"spot", "0"}, {"reserved", "2"}})})
	w.run("train", 2, "reserved")
	w.end("train", controlplane.OutcomeSucceed)
	w.complete("train", 2)
	w.workload(made.UID, "has ended", finished)
}

// preempted: a Job of higher priority takes the quota, and later releases it.
func (w *world) preempted() {
	w.makeQueue(quota{"spot", "2"})
	w.create(queued(w.newJob("low", 2, "1")))
	w.run("low", 2, "spot")

	high := queued(w.newJob("high", 1, "2"))
	high.Labels[priorityLabel] = "urgent"
	w.create(high)
	w.suspended("low")
	w.run("high", 1, "spot")
	w.explains("low", "SUSPENDED for", "by kueue")
	w.end("high", controlplane.OutcomeSucceed)
	w.complete("high", 1)

	w.run("low", 2, "spot")
	w.end("low", controlplane.OutcomeSucceed)
	w.complete("low", 2)
}

// admittedInPart: four pods at a time do not fit, two do. All four run in the end.
func (w *world) admittedInPart() {
	w.makeQueue(quota{"reserved", "2"})
	job := queued(w.newJob("sweep", 4, "1"))
	job.Annotations = map[string]string{"kueue.x-k8s.io/job-min-parallelism": "2"}
	w.create(job)
	w.run("sweep", 2, "reserved")
	if got := *w.job("sweep").Spec.Parallelism; got != 2 {
		w.t.Errorf("the parallelism is %d, want 2", got)
	}
	w.end("sweep", controlplane.OutcomeSucceed)
	w.eventually("two of four pods are counted", func() (string, error) {
		if s := w.job("sweep").Status; s.Succeeded != 2 {
			return fmt.Sprintf("%+v", s), nil
		}
		return "", nil
	})
	w.run("sweep", 2, "reserved")
	w.end("sweep", controlplane.OutcomeSucceed)
	w.complete("sweep", 4)
	if got := w.job("sweep").Status.CompletedIndexes; got != "0-3" {
		w.t.Errorf("the indexes %q are complete, want 0-3", got)
	}
}

// requestsLowered: a Job requests more than the quota. Its user lowers the requests while it is suspended.
func (w *world) requestsLowered() {
	w.makeQueue(quota{"spot", "1"})
	made := w.create(queued(w.newJob("greedy", 2, "2")))
	w.waits(made.UID)
	w.suspended("greedy")
	patch := `{"spec":{"template":{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"500m"}}}]}}}}`
	_, err := shared.Admin.BatchV1().Jobs(w.namespace).Patch(w.t.Context(), "greedy", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	w.must(err)
	w.run("greedy", 2, "spot")
	for _, p := range w.pods("greedy") {
		if got := p.Spec.Containers[0].Resources.Requests.Cpu(); got.Cmp(quantity("500m")) != 0 {
			w.t.Errorf("pod %s asks for %s of CPU, want 500m", p.Name, got)
		}
	}
	w.end("greedy", controlplane.OutcomeSucceed)
	w.complete("greedy", 2)
}

// expiresInAQueue: a Job with a TTL ends, and its quota is free. If Jobledger runs all Jobs it deletes the Job; else it
// leaves the Job alone.
func (w *world) expiresInAQueue() {
	w.makeQueue(quota{"spot", "1"})
	job := queued(w.newJob("short", 1, "1"))
	job.Spec.TTLSecondsAfterFinished = new(int32(1))
	w.create(job)
	w.run("short", 1, "spot")
	next := w.create(queued(w.newJob("next", 1, "1")))
	w.waits(next.UID)
	w.end("short", controlplane.OutcomeSucceed)
	if w.mode.manage == "all" {
		w.eventually("the Job, its pods and its workload are gone", func() (string, error) {
			list, err := w.objects.Resource(kueue("workloads")).Namespace(w.namespace).List(w.t.Context(), metav1.ListOptions{})
			if j := w.job("short"); err != nil || j != nil || len(w.pods("short")) > 0 || len(list.Items) > 1 {
				return "they are there", err
			}
			return "", nil
		})
		w.logged("short", "Complete", 1)
		w.explains("short", "by Jobledger, as its ttlSecondsAfterFinished had passed")
	} else {
		w.complete("short", 1)
	}
	w.run("next", 1, "spot")
	w.end("next", controlplane.OutcomeSucceed)
	w.complete("next", 1)
	if w.mode.manage != "all" {
		w.holds("the finished Job stays", func() error { // longer than its TTL
			if w.job("short") == nil {
				return errors.New("it is gone")
			}
			return nil
		})
	}
}
