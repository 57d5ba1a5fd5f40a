package incidents

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/patient"
)

// Users; janitor cleans up.
const (
	maria   = "maria"
	tom     = "tom"
	janitor = "janitor"

	autoscaler = "system:serviceaccount:keda:keda-operator"
)

// incident is a row of the table.
type incident struct {
	number int
	name   string // also of its namespace
	title  string
	alone  bool // it acts on the controller, so no other may run meanwhile
	script func(*scene)
}

// scene is one incident while it is played.
type scene struct {
	incident
	*recording
	ctx     context.Context
	t       *testing.T
	history *history.History
	told    []*truth
}

// play runs the script, and leaves nothing behind.
func (s *scene) play(t *testing.T) {
	s.t = t
	_, err := s.admin.CoreV1().Namespaces().Create(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("the namespace has its ServiceAccount", func() bool {
		_, err := s.admin.CoreV1().ServiceAccounts(s.name).Get(s.ctx, "default", metav1.GetOptions{})
		return err == nil
	})
	if s.history, err = history.Watch(s.ctx, s.admin, s.name); err != nil {
		t.Fatal(err)
	}
	s.script(s)
	s.clear()
}

// clear deletes what is left of the incident and waits until it is gone.
func (s *scene) clear() {
	s.t.Helper()
	client := s.as(janitor)
	list, err := client.BatchV1().Jobs(s.name).List(s.ctx, metav1.ListOptions{})
	s.must(err)
	for _, j := range list.Items {
		if j.DeletionTimestamp == nil {
			s.deleteJob(janitor, j.Name, metav1.DeletePropagationBackground)
		}
	}
	s.eventually("all Jobs and pods are gone", func() bool {
		jobs, err := s.admin.BatchV1().Jobs(s.name).List(s.ctx, metav1.ListOptions{})
		s.must(err)
		pods, err := s.admin.CoreV1().Pods(s.name).List(s.ctx, metav1.ListOptions{})
		s.must(err)
		return len(jobs.Items)+len(pods.Items) == 0
	})
	if err := s.history.CatchUp(s.ctx); err != nil {
		s.t.Error(err)
	}
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// as returns a client that acts as a person, with kubectl.
func (s *scene) as(user string) kubernetes.Interface {
	s.t.Helper()
	var groups []string
	if user == janitor {
		groups = []string{"system:masters"}
	}
	client, err := s.recording.as(user, "kubectl", groups...)
	s.must(err)
	return client
}

// create creates a Job as a user. The truth about it begins here.
func (s *scene) create(user string, job *batchv1.Job) *truth {
	s.t.Helper()
	if s.mode == delegated {
		job.Spec.ManagedBy = new("jobledger.dev/job-controller")
	}
	made, err := s.as(user).BatchV1().Jobs(s.name).Create(s.ctx, job, metav1.CreateOptions{FieldManager: "kubectl-create"})
	s.must(err)
	t := &truth{
		Incident: s.number, Title: s.title, Namespace: s.name, Job: made.Name, UID: string(made.UID), CreatedBy: user,
	}
	s.told = append(s.told, t)
	return t
}

// patch changes a Job as a user; what describes the change.
func (s *scene) patch(user, manager string, t *truth, what, patch string) {
	s.t.Helper()
	_, err := s.as(user).BatchV1().Jobs(s.name).Patch(s.ctx, t.Job, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager})
	s.must(err)
	t.Edits = append(t.Edits, edit{By: user, Manager: manager, What: what, At: now()})
}

func (s *scene) deleteJob(user, name string, how metav1.DeletionPropagation) {
	s.t.Helper()
	err := s.as(user).BatchV1().Jobs(s.name).Delete(s.ctx, name, metav1.DeleteOptions{PropagationPolicy: &how})
	if !apierrors.IsNotFound(err) {
		s.must(err)
	}
}

// deletePod deletes a pod as a user; a negative grace means the pod's own grace period.
func (s *scene) deletePod(user, name string, grace int64) {
	s.t.Helper()
	options := metav1.DeleteOptions{}
	if grace >= 0 {
		options.GracePeriodSeconds = &grace
	}
	s.must(s.as(user).CoreV1().Pods(s.name).Delete(s.ctx, name, options))
}

// view is a Job and its pods, as far as the watch has got.
type view struct {
	job  *batchv1.Job
	pods []*corev1.Pod // existing pods, in the order of their creation
}

// running returns the pods that run and were not asked to end.
func (v view) running() (all []*corev1.Pod) {
	for _, p := range v.pods {
		if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
			all = append(all, p)
		}
	}
	return all
}

// live returns the pods that have not ended and were not asked to.
func (v view) live() (all []*corev1.Pod) {
	for _, p := range v.pods {
		if p.DeletionTimestamp == nil && !ended(p) {
			all = append(all, p)
		}
	}
	return all
}

// index returns the live pod of a completion index; nil: none.
func (v view) index(index string) *corev1.Pod {
	for _, p := range v.live() {
		if p.Annotations[batchv1.JobCompletionIndexAnnotation] == index {
			return p
		}
	}
	return nil
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func finished(j *batchv1.Job) *batchv1.JobCondition {
	for i, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return &j.Status.Conditions[i]
		}
	}
	return nil
}

// await waits until `is` returns true for a Job and its pods, and returns them.
func (s *scene) await(t *truth, what string, is func(view) bool) view {
	s.t.Helper()
	var v view
	err := s.history.Await(s.ctx, func(n history.Now) string {
		v = view{job: n.Jobs[t.Job], pods: n.PodsOf(types.UID(t.UID))}
		if v.job != nil && string(v.job.UID) == t.UID && is(v) {
			return ""
		}
		return "not yet so: " + what
	})
	s.must(err)
	return v
}

// awaitRunning waits until n pods run.
func (s *scene) awaitRunning(t *truth, n int) []*corev1.Pod {
	s.t.Helper()
	return s.await(t, fmt.Sprintf("%d pods run", n), func(v view) bool { return len(v.running()) == n }).running()
}

// awaitEnd waits until the Job has ended.
func (s *scene) awaitEnd(t *truth) {
	s.t.Helper()
	s.await(t, "the Job has ended", func(v view) bool { return finished(v.job) != nil })
}

// awaitGone waits until no object of the Job is left.
func (s *scene) awaitGone(t *truth) {
	s.t.Helper()
	s.eventually("the Job is gone", func() bool {
		j, err := s.admin.BatchV1().Jobs(s.name).Get(s.ctx, t.Job, metav1.GetOptions{})
		return apierrors.IsNotFound(err) || err == nil && string(j.UID) != t.UID
	})
}

// eventually waits until `is` returns true.
func (s *scene) eventually(what string, is func() bool) {
	s.t.Helper()
	patient.Eventually(s.ctx, s.t, what, is)
}

// pass lets time pass, as people do before they act.
func (s *scene) pass(d time.Duration) {
	s.t.Helper()
	patient.Pass(s.ctx, s.t, d)
}
