package crash

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/kubelet"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// TestADeletionInDoubtDelaysNoVerdict: one of ten pods fails its Job, and the crash comes while the nine others are
// being deleted. They end by themselves before the controller starts again, so nothing is left to wait for. The Job is
// Failed at once, and not a minute later, when the server can no longer act on those deletions (J-080, J-163).
func TestADeletionInDoubtDelaysNoVerdict(t *testing.T) {
	t.Parallel()
	for _, end := range []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed} {
		t.Run(string(end), func(t *testing.T) {
			t.Parallel()
			x := newTrial(t)
			x.unended = func(n history.Now) string {
				if job := n.Jobs["verdict"]; job == nil || !ledger.True(job, batchv1.JobFailed) {
					return "job/verdict is not Failed"
				}
				return ""
			}
			node, err := kubelet.New(x.ctx, shared.Admin)
			x.must(err)
			job := newJob("verdict", nil)
			kubelet.Place(&job.Spec.Template)
			job.Spec.Completions, job.Spec.Parallelism, job.Spec.BackoffLimit = new(int32(10)), new(int32(10)), new(int32(0))
			point := "call.before.delete-pod:5"
			x.must(x.controller.Launch("JOBLEDGER_FAILPOINT=" + point))
			_, err = shared.Admin.BatchV1().Jobs(x.namespace).Create(x.ctx, job, metav1.CreateOptions{})
			x.must(err)
			x.must(x.history.Await(x.ctx, tenPods))
			all := live(x.history.Now())
			for _, pod := range all {
				x.must(node.Run(x.ctx, pod, true))
			}
			x.must(node.Fail(x.ctx, all[0], 1))
			x.awaitEnd(point)
			x.reached(point)
			x.must(x.controller.Kill())
			x.must(x.history.CatchUp(x.ctx))
			for _, pod := range live(x.history.Now()) {
				if end == corev1.PodSucceeded {
					x.must(node.Succeed(x.ctx, pod))
				} else {
					x.must(node.Fail(x.ctx, pod, 1))
				}
				if pod.DeletionTimestamp != nil {
					x.must(node.Remove(x.ctx, pod))
				}
			}

			x.must(x.controller.Start(x.ctx))
			x.must(x.history.Await(x.ctx, x.unended))
			x.must(x.controller.Stop(x.ctx))
			x.waitedForNothing()
			x.violated(ledger.Read(ledger.Config{}, x.history.Changes()))
		})
	}
}

// waitedForNothing checks that, after its newest start, the controller ended no wait of a Job before it decided that
// the Job is Failed.
func (x *trial) waitedForNothing() {
	x.t.Helper()
	records, err := x.controller.Records(x.ctx)
	x.must(err)
	waits, failed := 0, false
	for _, r := range records {
		switch r.Kind {
		case "ControllerStarted":
			waits, failed = 0, false
		case "TimerFired":
			waits++
		case "Decided":
			if strings.Contains(string(r.Facts), `"type":"Failed"`) && !failed {
				failed = true
				if waits > 0 {
					x.t.Errorf("before record %d, which decides that the Job is Failed, %d waits were served", r.Sequence, waits)
				}
			}
		}
	}
	if !failed {
		x.t.Error("since the newest start no Job was decided to be Failed")
	}
}

func (x *trial) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func tenPods(n history.Now) string {
	if len(n.Pods) < 10 {
		return fmt.Sprintf("%d of 10 pods are there", len(n.Pods))
	}
	return ""
}

// live are the pods that have not ended.
func live(n history.Now) (pods []*corev1.Pod) {
	for _, pod := range n.Pods {
		if !ledger.Terminal(pod) {
			pods = append(pods, pod)
		}
	}
	return pods
}
