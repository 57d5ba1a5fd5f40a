package integration

import (
	"fmt"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/kubelet"
)

// TestADeletedJobLeavesNoFinalizer: J-102, and its name is free for another Job, which inherits
// nothing (J-107).
func TestADeletedJobLeavesNoFinalizer(t *testing.T) {
	t.Parallel()
	for _, down := range []bool{false, true} {
		for _, how := range []metav1.DeletionPropagation{
			metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
		} {
			name := fmt.Sprintf("deleted while running, propagation %s", how)
			if down {
				name = fmt.Sprintf("deleted while the controller is down, propagation %s", how)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				deleteAndCreateAgain(t, how, down)
			})
		}
	}
}

func deleteAndCreateAgain(t *testing.T, how metav1.DeletionPropagation, down bool) {
	w := newWorld(t)
	c := w.run("")
	// One index fails, so that there is a backoff that another Job must not inherit.
	first := w.create(newJob("demo", indexed, completions(4), parallelism(4), outcome(controlplane.OutcomeRun), failIndexes("3")))
	w.eventually("three pods run and one failed and was counted", func() (bool, error) {
		j := w.job("demo")
		return j.Status.Ready != nil && *j.Status.Ready == 3 && j.Status.Failed == 1, nil
	})
	before := w.pods("demo")
	if down {
		w.stop(c)
	}
	if err := w.client.BatchV1().Jobs(w.namespace).Delete(t.Context(), "demo", metav1.DeleteOptions{PropagationPolicy: &how}); err != nil {
		t.Fatal(err)
	}
	if down {
		if how == metav1.DeletePropagationBackground {
			w.gone(first) // the others wait for the garbage collector, and it maybe for our finalizers: any order is right
		}
		w.start(c)
	}
	w.gone(first)
	w.letGo("demo")
	if how == metav1.DeletePropagationOrphan {
		w.orphansStay(before)
	} else {
		w.eventually("the pods are gone with their Job", func() (bool, error) { return len(w.pods("demo")) == 0, nil })
	}

	second := w.create(newJob("demo", indexed, completions(4), parallelism(4)))
	w.ends("demo", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 4, completed: "0-3"})
	w.noneWaitedFirst(c) // the new Job inherits no backoff of the old one (J-107)
	got, err := c.Job(t.Context(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	if got.UID != string(second.UID) {
		t.Errorf("get job/demo shows Job %s, want the newest, %s", got.UID, second.UID)
	}
}

// orphansStay checks that the pods exist, run as before, and have no owner.
func (w *world) orphansStay(before []corev1.Pod) {
	w.t.Helper()
	for _, p := range before {
		now, err := w.client.CoreV1().Pods(w.namespace).Get(w.t.Context(), p.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			w.t.Errorf("pod %s went with its Job, which was deleted with propagation Orphan", p.Name)
		case err != nil:
			w.t.Fatal(err)
		case now.UID != p.UID || now.DeletionTimestamp != nil || metav1.GetControllerOf(now) != nil || now.Status.Phase != p.Status.Phase:
			w.t.Errorf("orphan %s is not as it was: %s, deleted %v, owners %v", p.Name, now.Status.Phase, now.DeletionTimestamp, now.OwnerReferences)
		}
	}
}

// TestScaleDownDeletesUncounted: J-070, J-073, and the Job still completes after it was scaled up again.
func TestScaleDownDeletesUncounted(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		job  []option
		want result
	}{
		{
			name: "fixed completions",
			want: result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 4},
		},
		{
			name: "Indexed",
			job:  []option{indexed},
			want: result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 4, completed: "0-3"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.run("")
			w.create(newJob("demo", append(row.job, completions(4), parallelism(4), outcome(controlplane.OutcomeRun))...))
			w.eventually("four pods run", func() (bool, error) { return w.runs("demo") == 4, nil })
			w.patch("demo", `{"parallelism":1}`)
			w.eventually("one pod is left", func() (bool, error) { return len(w.pods("demo")) == 1, nil })
			w.eventually("the status says so, and that nothing failed (J-073)", func() (bool, error) {
				s := w.job("demo").Status
				if s.Failed != 0 || s.Succeeded != 0 {
					return false, fmt.Errorf("the deleted pods were counted: %+v", s)
				}
				return s.Active == 1 && s.Terminating != nil && *s.Terminating == 0, nil
			})
			w.patch("demo", `{"parallelism":4}`)
			w.eventually("four pods run again", func() (bool, error) { return w.runs("demo") == 4, nil })
			w.succeed("demo")
			w.ends("demo", row.want)
		})
	}
}

// succeed ends all pods of the Job as succeeded; they would else run until they are deleted.
func (w *world) succeed(job string) {
	w.t.Helper()
	k, err := kubelet.New(w.t.Context(), w.client)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range w.pods(job) {
		if err := k.Succeed(w.t.Context(), &p); err != nil {
			w.t.Fatal(err)
		}
	}
}

// runs returns how many pods of the Job are Ready.
func (w *world) runs(job string) int {
	n := 0
	for _, p := range w.pods(job) {
		if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			n++
		}
	}
	return n
}
