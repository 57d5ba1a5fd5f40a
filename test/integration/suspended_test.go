package integration

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/controlplane"
)

// J-014, J-157: users, or a queue like Kueue, may change the template of a suspended Job as soon as its status says
// Suspended and no active pod. Pods that are created after it is resumed have the change.
func TestAResumedJobUsesTheTemplateChangedMeanwhile(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	w := newWorld(t)
	w.run("")
	w.create(newJob("demo", outcome(controlplane.OutcomeRun)))
	w.eventually("its pod runs", func() (bool, error) { return w.job("demo").Status.Active == 1, nil })
	first := w.pods("demo")[0].UID
	w.patch("demo", `{"suspend":true}`)
	w.eventually("it is suspended", func() (bool, error) {
		j := w.job("demo")
		if condition(j, batchv1.JobSuspended) == nil {
			return false, nil
		}
		if j.Status.Active != 0 { // one write has all that a queue waits for
			t.Errorf("it is suspended with %d active pods", j.Status.Active)
		}
		return true, nil
	})
	w.patch("demo", `{"template":{"spec":{"nodeSelector":{"pool":"fast"},"containers":[{"name":"main","image":"any","resources":{"requests":{"cpu":"250m"}}}]}}}`)
	w.patch("demo", `{"suspend":false}`)
	var made *corev1.Pod
	w.eventually("a pod is made anew", func() (bool, error) {
		for _, p := range w.pods("demo") {
			if p.UID != first { // it may exist for a while: its deletion is in flight
				made = &p
				return true, nil
			}
		}
		return false, nil
	})
	if got := made.Spec.NodeSelector["pool"]; got != "fast" {
		t.Errorf("the new pod selects nodes of pool %q, want fast", got)
	}
	if got := made.Spec.Containers[0].Resources.Requests.Cpu(); got.Cmp(resource.MustParse("250m")) != 0 {
		t.Errorf("the new pod asks for %s of CPU, want 250m", got)
	}
}
