//go:build linux

package situations

import (
	"context"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/test/internal/causes"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/judge"
	"github.com/jobledger/jobledger/test/internal/patient"
)

// situation is a row that is staged, in its own namespace.
type situation struct {
	*cluster
	row     *row
	name    string // of its namespace
	t       *testing.T
	ctx     context.Context
	history *history.History
	job     *batchv1.Job
	pod     *corev1.Pod // the pod of the action, when it was first seen
	told    judge.Told
}

// play stages the situation, and leaves nothing behind.
func (s *situation) play(t *testing.T) {
	s.t = t
	_, err := s.admin.CoreV1().Namespaces().Create(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the namespace has what pods need", func() bool {
		_, account := s.admin.CoreV1().ServiceAccounts(s.name).Get(s.ctx, "default", metav1.GetOptions{})
		_, root := s.admin.CoreV1().ConfigMaps(s.name).Get(s.ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return account == nil && root == nil
	})
	s.history, err = history.Watch(s.ctx, s.admin, s.name)
	s.must(err)
	s.told.Began = now()
	if s.row.prepare != nil {
		s.row.prepare(s)
	}
	s.submit()
	if !s.row.nopod {
		s.hit()
	}
	s.row.stage(s)
	s.over()
	s.clear()
}

// submit creates the Job as maria.
func (s *situation) submit() {
	s.t.Helper()
	options := s.row.job
	if s.row.named != nil {
		options = append(slices.Clone(options), s.row.named(s.name))
	}
	job, err := s.as(maria).BatchV1().Jobs(s.name).Create(s.ctx, newJob(options...), metav1.CreateOptions{FieldManager: "kubectl-create"})
	s.must(err)
	s.job, s.told.Job, s.told.UID = job, job.Name, string(job.UID)
}

// hit waits for the pod of the action: the newest of the Job.
func (s *situation) hit() {
	s.t.Helper()
	pods := s.await("a pod", func(v view) bool { return len(v.pods) > 0 }).pods
	s.pod = pods[len(pods)-1]
	s.told.Pod, s.told.PodUID = s.pod.Name, string(s.pod.UID)
}

// over waits until Jobledger had time to see the last action, and notes what the API server has stored.
func (s *situation) over() {
	s.t.Helper()
	s.pass(4 * time.Second)
	s.must(s.history.CatchUp(s.ctx))
	s.told.Over, s.told.State = now(), "Open"
	job := s.history.Now().Jobs[s.job.Name]
	gone := slices.ContainsFunc(s.history.Changes(s.job.UID), func(c history.Change) bool { return c.Job != nil && c.Gone })
	if end := finished(job); end != nil {
		s.told.State, s.told.Reason = string(end.Type), end.Reason
	} else if gone {
		s.told.State = "Deleted"
	}
}

// clear deletes all objects that are left, and waits until they are gone.
func (s *situation) clear() {
	s.t.Helper()
	client := s.as(janitor)
	how := metav1.DeletePropagationBackground
	err := client.BatchV1().Jobs(s.name).Delete(s.ctx, s.job.Name, metav1.DeleteOptions{PropagationPolicy: &how})
	if !apierrors.IsNotFound(err) {
		s.must(err)
	}
	s.must(client.CoreV1().Pods(s.name).DeleteCollection(s.ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	s.eventually("all Jobs and pods are gone", func() bool {
		jobs, err := s.admin.BatchV1().Jobs(s.name).List(s.ctx, metav1.ListOptions{})
		s.must(err)
		pods, err := s.admin.CoreV1().Pods(s.name).List(s.ctx, metav1.ListOptions{})
		s.must(err)
		return len(jobs.Items)+len(pods.Items) == 0
	})
	s.must(s.history.CatchUp(s.ctx))
}

// series returns the lines about the pod of the action, up to the end of the situation.
func (s *situation) series() []string {
	var versions []*corev1.Pod
	for _, c := range s.history.Changes(s.job.UID) {
		if c.Pod != nil && c.Pod.UID == types.UID(s.told.PodUID) && !c.Gone && !c.Seen.After(s.told.Over) {
			versions = append(versions, c.Pod)
		}
	}
	return causes.Series(versions)
}

// view is a Job and its pods, as far as the watch has got.
type view struct {
	job  *batchv1.Job
	pods []*corev1.Pod
}

// the returns the pod of the action; nil: it is gone.
func (v view) the(s *situation) *corev1.Pod {
	i := slices.IndexFunc(v.pods, func(p *corev1.Pod) bool { return string(p.UID) == s.told.PodUID })
	if i < 0 {
		return nil
	}
	return v.pods[i]
}

// await waits until `is` returns true for the Job and its pods.
func (s *situation) await(what string, is func(view) bool) view {
	s.t.Helper()
	var v view
	s.must(s.history.Await(s.ctx, func(n history.Now) string {
		v = view{job: n.Jobs["etl"], pods: n.PodsOf(s.job.UID)}
		if v.job != nil && is(v) {
			return ""
		}
		return "not yet so: " + what
	}))
	return v
}

// awaitPod waits until `is` returns true for the pod.
func (s *situation) awaitPod(what string, is func(*corev1.Pod) bool) *corev1.Pod {
	s.t.Helper()
	return s.await(what, func(v view) bool { p := v.the(s); return p != nil && is(p) }).the(s)
}

func (s *situation) awaitRunning() *corev1.Pod {
	s.t.Helper()
	return s.awaitPod("the pod runs", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
}

func (s *situation) awaitEnd() {
	s.t.Helper()
	s.await("the Job has ended", func(v view) bool { return finished(v.job) != nil })
}

// awaitWaiting waits until a container of the pod, or an init container, waits for that reason.
func (s *situation) awaitWaiting(reason string) {
	s.t.Helper()
	s.awaitPod("a container waits: "+reason, func(p *corev1.Pod) bool {
		return slices.ContainsFunc(slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses), func(c corev1.ContainerStatus) bool {
			return c.State.Waiting != nil && c.State.Waiting.Reason == reason
		})
	})
}

func finished(j *batchv1.Job) *batchv1.JobCondition {
	for i, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return &j.Status.Conditions[i]
		}
	}
	return nil
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func (s *situation) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *situation) as(user string) kubernetes.Interface {
	s.t.Helper()
	client, err := s.cluster.as(user)
	s.must(err)
	return client
}

// eventually waits until `is` returns true.
func (s *situation) eventually(what string, is func() bool) {
	s.t.Helper()
	patient.Eventually(s.ctx, s.t, what, is)
}

// pass lets time pass, as people do before they act.
func (s *situation) pass(d time.Duration) {
	s.t.Helper()
	patient.Pass(s.ctx, s.t, d)
}
