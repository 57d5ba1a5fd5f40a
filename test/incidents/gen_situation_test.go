package incidents

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/judge"
)

// situation is one row of the generator: a cause, at a phase of a Job of some shape, in one mode. The code that stages
// it writes its truth.
type situation struct {
	*scene
	row  row
	told told

	outage *outage
	truth  *truth       // the truth of the Job
	played map[uid]bool // pods that the script has ended, or leaves alone
}

type uid = types.UID

// What was staged, and the questions about due times.
type (
	told      = judge.Told
	tickTruth = judge.TickTruth
)

// play stages a situation in its own namespace.
func (s *situation) play(t *testing.T) {
	s.scene.script = func(*scene) {
		s.told.Began = now()
		s.row.stage(s)
		s.over()
		s.must(s.as(janitor).CoreV1().Pods(s.name).DeleteCollection(s.ctx, metav1.DeleteOptions{}, metav1.ListOptions{})) // pods of no Job
	}
	s.scene.play(t)
}

// over waits until Jobledger had time to see the last action, and notes what the API server has stored.
func (s *situation) over() {
	s.t.Helper()
	if !s.told.Over.IsZero() {
		return // the script said so
	}
	s.pass(4 * time.Second)
	s.told.Over = now()
	s.told.State = "Open"
	if s.truth == nil {
		return
	}
	s.told.Job, s.told.UID = s.truth.Job, s.truth.UID
	s.truth.ending(s.history.Changes(types.UID(s.truth.UID)))
	s.told.Reason = s.truth.Reason
	if job := s.history.Now().Jobs[s.truth.Job]; s.truth.Result != "Deleted" {
		s.told.State = s.truth.Result
	} else if job == nil || job.DeletionTimestamp != nil || s.gone(job) {
		s.told.State = "Deleted"
	}
}

func (s *situation) gone(job *batchv1.Job) bool {
	changes := s.history.Changes(job.UID)
	return slices.ContainsFunc(changes, func(c history.Change) bool { return c.Job != nil && c.Gone })
}

// says adds a group; an answer about the Job must match one of it.
func (s *situation) says(any ...string) { s.told.Says = append(s.told.Says, any) }

// may adds signatures that are true.
func (s *situation) may(signatures ...string) { s.told.True = append(s.told.True, signatures...) }

// submit creates the Job of the situation as maria.
func (s *situation) submit(options ...option) {
	s.t.Helper()
	s.truth = s.create(maria, newJob("etl", "etl:1.9.0", slices.Concat([]option{byHand()}, options)...))
}

// next waits for a pod of the Job that has a node and was not played before; of several, that with the lowest index.
func (s *situation) next() *corev1.Pod {
	s.t.Helper()
	return s.fresh(s.await(s.truth, "a pod has a node", func(v view) bool { return s.fresh(v) != nil }))
}

func (s *situation) fresh(v view) *corev1.Pod {
	var found *corev1.Pod
	for _, p := range v.live() {
		if p.Spec.NodeName == "" || s.played[p.UID] {
			continue
		}
		index := p.Annotations[batchv1.JobCompletionIndexAnnotation]
		if found == nil || index < found.Annotations[batchv1.JobCompletionIndexAnnotation] {
			found = p
		}
	}
	return found
}

// hitPod reads the pod of the action.
func (s *situation) hitPod() *corev1.Pod {
	s.t.Helper()
	p, err := s.admin.CoreV1().Pods(s.name).Get(s.ctx, s.told.Pod, metav1.GetOptions{})
	s.must(err)
	return p
}

func gone(err error) bool { return apierrors.IsNotFound(err) }

// hit notes the pod of the action.
func (s *situation) hit(p *corev1.Pod) {
	s.played[p.UID] = true
	s.told.Pod, s.told.PodUID = p.Name, string(p.UID)
}

// fail plays a pod with a program that fails.
func (s *situation) fail(p *corev1.Pod, code int32) {
	s.t.Helper()
	s.played[p.UID] = true
	s.kubelet(p, runs(0))
	s.pass(time.Second)
	s.exit(p, code)
}

// exit ends the container of a pod, and also the pod if its containers are not restarted.
func (s *situation) exit(p *corev1.Pod, code int32) {
	s.t.Helper()
	s.told.Exits = append(s.told.Exits, code)
	s.kubelet(p, all(ends(0, code, "Error", ""), is(corev1.PodFailed)))
}

// succeedRest plays all other pods, which succeed, until the Job has ended or is gone.
func (s *situation) succeedRest() {
	s.t.Helper()
	for {
		var p *corev1.Pod
		s.await(s.truth, "a try, or the end of the Job", func(v view) bool {
			p = s.fresh(v)
			return p != nil || v.job.DeletionTimestamp != nil || finished(v.job) != nil
		})
		if p == nil {
			return
		}
		s.succeed(p)
	}
}

// succeed plays a pod that succeeds, unless it is stopped meanwhile.
func (s *situation) succeed(p *corev1.Pod) {
	s.t.Helper()
	s.played[p.UID] = true
	for _, change := range []func(*corev1.PodStatus){
		runs(0), all(ends(0, 0, "Completed", ""), is(corev1.PodSucceeded)),
	} {
		err := s.tryKubelet(p, unlessEnded(change))
		if apierrors.IsNotFound(err) {
			return
		}
		s.must(err)
		s.pass(time.Second)
	}
}

// unlessEnded skips a pod that has ended: its kubelet has nothing more to write.
func unlessEnded(change func(*corev1.PodStatus)) func(*corev1.PodStatus) {
	return func(p *corev1.PodStatus) {
		if p.Phase != corev1.PodSucceeded && p.Phase != corev1.PodFailed {
			change(p)
		}
	}
}
