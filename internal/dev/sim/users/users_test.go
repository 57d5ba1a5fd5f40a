package users

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/clock"
)

// village makes a server with one Job and one of its pods, and users.
func village(t *testing.T, seed uint64, off ...Deed) (*apiserver.Server, *Users) {
	t.Helper()
	s := apiserver.New(apiserver.Config{Clock: clock.New(time.Unix(1e9, 0)), Rand: rand.New(rand.NewPCG(seed, 1))})
	u := New(Config{Server: s, Rand: rand.New(rand.NewPCG(seed, 2)), Off: off})
	job, err := u.Create(&batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo"},
		Spec: batchv1.JobSpec{CompletionMode: new(batchv1.IndexedCompletion), Completions: new(int32(3)), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main"}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Client("controller").CreatePod(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "demo-a", Labels: job.Spec.Template.Labels,
			Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: "0"}, Finalizers: []string{events.TrackingFinalizer, "example.com/keep"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, u
}

func TestDeeds(t *testing.T) {
	for _, row := range []struct {
		deeds []Deed
		want  func(*batchv1.Job, *corev1.Pod) bool
	}{
		{[]Deed{DeletePod}, func(_ *batchv1.Job, p *corev1.Pod) bool { return p.DeletionTimestamp != nil }},
		{[]Deed{StripFinalizer}, func(_ *batchv1.Job, p *corev1.Pod) bool {
			return slices.Equal(p.Finalizers, []string{"example.com/keep"})
		}},
		{[]Deed{RelabelPod}, func(j *batchv1.Job, p *corev1.Pod) bool { return !apiserver.Selects(j, p.Labels) }},
		{[]Deed{RelabelPod, RestoreLabels}, func(j *batchv1.Job, p *corev1.Pod) bool {
			return apiserver.Selects(j, p.Labels) && labelled(p, 1) == nil
		}},
		{[]Deed{OrphanPod}, func(_ *batchv1.Job, p *corev1.Pod) bool { return len(p.OwnerReferences) == 0 }},
		{[]Deed{MakeOrphan, OrphanPod}, func(_ *batchv1.Job, p *corev1.Pod) bool { return len(p.OwnerReferences) == 0 }},
		{[]Deed{TouchPod}, func(_ *batchv1.Job, p *corev1.Pod) bool { return p.Annotations[apiserver.AnnotationTouched] != "" }},
		{[]Deed{TouchJob}, func(j *batchv1.Job, _ *corev1.Pod) bool {
			return j.Annotations[apiserver.AnnotationTouched] != "" && j.Generation == 1
		}},
		{[]Deed{DeleteJob}, func(j *batchv1.Job, _ *corev1.Pod) bool { return j == nil || j.DeletionTimestamp != nil }},
		{[]Deed{SuspendJob}, func(j *batchv1.Job, _ *corev1.Pod) bool { return *j.Spec.Suspend && j.Generation == 2 }},
		{[]Deed{ResizeJob}, func(j *batchv1.Job, _ *corev1.Pod) bool { return j.Generation > 1 && *j.Spec.Completions != 3 }},
		{[]Deed{PauseJob}, func(j *batchv1.Job, _ *corev1.Pod) bool { return *j.Spec.Parallelism == 0 }},
		{[]Deed{PauseJob, ScaleJob}, func(j *batchv1.Job, _ *corev1.Pod) bool { return *j.Spec.Parallelism == 1 }},
		{[]Deed{LimitJob}, func(j *batchv1.Job, _ *corev1.Pod) bool { return *j.Spec.BackoffLimit < 6 && j.Generation == 2 }},
		{[]Deed{HurryJob}, func(j *batchv1.Job, _ *corev1.Pod) bool { return *j.Spec.ActiveDeadlineSeconds >= 5 }},
		{[]Deed{ReplaceJob}, func(j *batchv1.Job, _ *corev1.Pod) bool { return *j.Spec.PodReplacementPolicy == batchv1.Failed }},
		{[]Deed{ReindexPod}, func(_ *batchv1.Job, p *corev1.Pod) bool {
			return p.Annotations[batchv1.JobCompletionIndexAnnotation] != "0"
		}},
		{[]Deed{MeddleJob}, func(j *batchv1.Job, _ *corev1.Pod) bool {
			return len(j.Status.Conditions) > 0 || j.Status.StartTime != nil || j.Status.Active > 0
		}},
		{[]Deed{SuspendJob, ResumeJob}, func(j *batchv1.Job, _ *corev1.Pod) bool { return !*j.Spec.Suspend }},
	} {
		t.Run(fmt.Sprint(row.deeds), func(t *testing.T) {
			s, u := village(t, 1)
			for _, d := range row.deeds {
				if what := u.Do(d); what == "" || strings.Contains(what, "refused") {
					t.Fatalf("%s: %q", d, what)
				}
			}
			if !row.want(s.Job("default", "demo"), s.Pod("default", "demo-a")) {
				t.Errorf("job %+v, pod %+v", s.Job("default", "demo"), s.Pod("default", "demo-a"))
			}
		})
	}
}

func TestDeedsThatFitNothing(t *testing.T) {
	_, u := village(t, 1)
	for _, d := range []Deed{RestoreLabels, RecreateJob, ResumeJob} {
		if what := u.Do(d); what != "" {
			t.Errorf("%s: %s", d, what)
		}
	}
}

func TestARecreatedJobHasAnotherUID(t *testing.T) {
	s, u := village(t, 1)
	first := s.Job("default", "demo")
	if err := u.client.DeleteJob(t.Context(), "default", "demo", "", metav1.DeletePropagationBackground); err != nil {
		t.Fatal(err)
	}
	u.Do(RecreateJob)
	if again := s.Job("default", "demo"); again == nil || again.UID == first.UID {
		t.Errorf("recreated: %+v", again)
	}
}

func TestStepsRepeatWithTheSeedAndMayBeSwitchedOff(t *testing.T) {
	run := func(seed uint64, off ...Deed) string {
		_, u := village(t, seed, off...)
		var all []string
		for range 60 {
			all = append(all, u.Step())
		}
		return strings.Join(all, "\n")
	}
	if one, again := run(1), run(1); one != again || one == run(2) {
		t.Error("the seed and nothing else should decide")
	}
	without := run(1, DeletePod, ScaleJob, DeleteJob)
	if strings.Contains(without, string(DeletePod)) || strings.Contains(without, string(ScaleJob)) || strings.Contains(without, string(DeleteJob)) {
		t.Errorf("did what is switched off:\n%s", without)
	}
	if _, u := village(t, 1, Deeds...); u.Step() != "" {
		t.Error("all is off, and something was done")
	}
	if strings.Contains(run(3), "refused") {
		t.Errorf("refused:\n%s", run(3))
	}
}
