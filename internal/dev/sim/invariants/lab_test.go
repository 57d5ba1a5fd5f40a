package invariants

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/clock"
)

var ctx = context.Background()

// lab is a server on which a test plays all parts by hand. Its methods fail the test if the server refuses a request.
type lab struct {
	*testing.T
	*apiserver.Server
	checker          *Checker
	controller, user *apiserver.Client
	intents          map[types.UID]Intent // of writes of pods
}

func newLab(t *testing.T, withIntents bool) *lab {
	s := apiserver.New(apiserver.Config{Clock: clock.New(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), Rand: rand.New(rand.NewPCG(1, 1))})
	l := &lab{T: t, Server: s, controller: s.Client("jobledger"), user: s.Client("user"), intents: map[types.UID]Intent{}}
	cfg := Config{Server: s, Actor: "jobledger", DeletedPodWait: time.Second, HeldAtEnd: 3}
	if withIntents {
		cfg.Intent = func(w apiserver.Write) (Intent, bool) { i, ok := l.intents[w.UID]; return i, ok }
	}
	l.checker = New(cfg)
	return l
}

func (l *lab) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// job creates the Job "demo": NonIndexed with 2 completions, parallelism 2, unless changed.
func (l *lab) job(change ...func(*batchv1.JobSpec)) *batchv1.Job {
	l.Helper()
	in := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo"}, Spec: batchv1.JobSpec{
		ManagedBy: new(events.ManagedBy), Completions: new(int32(2)), Parallelism: new(int32(2)), ActiveDeadlineSeconds: new(int64(3600)),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main"}}}},
	}}
	for _, f := range change {
		f(&in.Spec)
	}
	job, err := l.user.CreateJob(ctx, in)
	l.must(err)
	return job
}

// update changes the Job's spec, as a user.
func (l *lab) update(change func(*batchv1.JobSpec)) {
	l.Helper()
	job := l.current()
	change(&job.Spec)
	_, err := l.user.UpdateJob(ctx, job)
	l.must(err)
}

// reindex gives a pod another index, as a user.
func (l *lab) reindex(name string, index int) {
	l.Helper()
	_, err := l.user.PatchPod(ctx, "default", name, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, batchv1.JobCompletionIndexAnnotation, index))
	l.must(err)
}

func indexedJob(s *batchv1.JobSpec) { s.CompletionMode = new(batchv1.IndexedCompletion) }

func (l *lab) current() *batchv1.Job { return l.Server.Job("default", "demo") }

// create makes a pod as the controller; index -1 for none.
func (l *lab) create(name string, index int, change ...func(*corev1.Pod)) *corev1.Pod {
	l.Helper()
	job := l.current()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, Labels: job.Spec.Template.Labels, Annotations: map[string]string{}, Finalizers: []string{events.TrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	}
	if index >= 0 {
		pod.Annotations[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(index)
	}
	for _, f := range change {
		f(pod)
	}
	out, err := l.controller.CreatePod(ctx, pod)
	l.must(err)
	return out
}

// run creates a pod and lets it run.
func (l *lab) run(name string, index int) *corev1.Pod {
	l.Helper()
	pod := l.create(name, index)
	l.must(l.user.BindPod(ctx, "default", name, pod.UID, "node-0"))
	l.phase(name, corev1.PodRunning)
	return pod
}

func (l *lab) phase(name string, phase corev1.PodPhase) {
	l.Helper()
	l.must(l.user.UpdatePodStatus(ctx, "default", name, "", func(s *corev1.PodStatus) { s.Phase = phase }))
}

// end lets a pod run and end.
func (l *lab) end(name string, index int, phase corev1.PodPhase) types.UID {
	l.Helper()
	pod := l.run(name, index)
	l.phase(name, phase)
	return pod.UID
}

// status writes the Job's status as the controller.
func (l *lab) status(change ...func(*batchv1.JobStatus)) {
	l.Helper()
	job := l.current()
	s := &job.Status
	if s.Ready == nil {
		s.Ready, s.Terminating, s.UncountedTerminatedPods = new(int32), new(int32), &batchv1.UncountedTerminatedPods{}
		now := metav1.NewTime(l.Clock().Now())
		s.StartTime = &now
	}
	for _, f := range change {
		f(s)
	}
	_, err := l.controller.UpdateJobStatus(ctx, job)
	l.must(err)
}

func counts(succeeded, failed int32) func(*batchv1.JobStatus) {
	return func(s *batchv1.JobStatus) { s.Succeeded, s.Failed = succeeded, failed }
}

func uncounted(succeeded, failed []types.UID) func(*batchv1.JobStatus) {
	return func(s *batchv1.JobStatus) {
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: succeeded, Failed: failed}
	}
}

func indexes(text string, n int32) func(*batchv1.JobStatus) {
	return func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = text, n }
}

func isNow(kinds ...batchv1.JobConditionType) func(*batchv1.JobStatus) {
	return func(s *batchv1.JobStatus) {
		for _, kind := range kinds {
			c := batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonCompletionsReached}
			switch kind {
			case batchv1.JobComplete:
				s.CompletionTime = s.StartTime
			case batchv1.JobFailureTarget, batchv1.JobFailed: // for a reason that is always true
				c.Reason, c.LastTransitionTime = batchv1.JobReasonDeadlineExceeded, metav1.NewTime(s.StartTime.Add(time.Hour))
			}
			s.Conditions = append(s.Conditions, c)
		}
	}
}

var (
	complete = isNow(batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	failed   = isNow(batchv1.JobFailureTarget, batchv1.JobFailed)
)

// drop takes the finalizer off a pod, with the given client.
func (l *lab) drop(who *apiserver.Client, name string) {
	l.Helper()
	pod := l.Server.Pod("default", name)
	_, err := who.PatchPod(ctx, "default", name, fmt.Appendf(nil,
		`{"metadata":{"uid":%q,"$deleteFromPrimitiveList/finalizers":[%q]}}`, pod.UID, events.TrackingFinalizer))
	l.must(err)
}

// orphan empties a pod's owner references, as a user.
func (l *lab) orphan(name string) {
	l.Helper()
	_, err := l.user.PatchPod(ctx, "default", name, []byte(`{"metadata":{"ownerReferences":[{"$patch":"replace"}]}}`))
	l.must(err)
}

// stray makes, as a user, a pod without an owner that the Job selects, and lets it end in the given phase.
func (l *lab) stray(name string, phase corev1.PodPhase) {
	l.Helper()
	_, err := l.user.CreatePod(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: l.current().Spec.Template.Labels},
		Spec:       l.current().Spec.Template.Spec,
	})
	l.must(err)
	l.phase(name, phase)
}

// adopt makes the Job a pod's owner, as the controller.
func (l *lab) adopt(name string, finalizers ...string) types.UID {
	l.Helper()
	pod, job := l.Server.Pod("default", name), l.current()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "finalizers": finalizers,
		"ownerReferences": []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
	}})
	l.must(err)
	_, err = l.controller.PatchPod(ctx, "default", name, patch)
	l.must(err)
	return pod.UID
}

// delete deletes a pod, with the given client.
func (l *lab) delete(who *apiserver.Client, name string) {
	l.Helper()
	pod := l.Server.Pod("default", name)
	l.must(who.DeletePod(ctx, "default", name, pod.UID, ""))
}

// confirm ends a deletion as the kubelet does.
func (l *lab) confirm(name string, phase corev1.PodPhase) {
	l.Helper()
	l.phase(name, phase)
	l.must(l.user.Delete(ctx, apiserver.Pods, "default", name, apiserver.DeleteOptions{GraceSeconds: new(int64)}))
}
