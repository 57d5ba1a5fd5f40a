package world

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// reference is a simple Job controller that has no memory and reads everything afresh. It is right, unless it is given
// a bug. It shows that the invariants accept a right controller and catch a wrong one, in any world.
type reference struct {
	client *apiserver.Client
	server *apiserver.Server
	pause  func() // lets the world go on between two calls
	bug    bug
	made   int
}

// bug is an error that a controller may have.
type bug string

const (
	noBug          bug = ""
	dropsEarly     bug = "drops finalizers before the status is stored"
	forgets        bug = "forgets a failed pod when it finishes"
	countsTwice    bug = "counts pods in the lists twice when it finishes"
	finishesEarly  bug = "finishes while pods are terminating"
	createsBlindly bug = "creates from a list that lags"
	movesEarly     bug = "moves pods to the counters while they carry the finalizer"
	touchesDone    bug = "goes on writing to a finished Job"
	losesIndexes   bug = "forgets a completed index"
	leavesOrphans  bug = "leaves the finalizers of deleted Jobs' pods"
)

const fin = events.TrackingFinalizer

// syncAll syncs every Job and every orphan once.
func (r *reference) syncAll() {
	for _, job := range r.server.AllJobs() {
		if job.Spec.ManagedBy != nil && *job.Spec.ManagedBy == events.ManagedBy {
			r.sync(job.Namespace, job.Name)
		}
	}
	if r.bug == leavesOrphans {
		return
	}
	for _, pod := range r.server.AllPods() {
		if tracked(pod) && !slices.ContainsFunc(r.server.AllJobs(), func(j *batchv1.Job) bool { return j.UID == apiserver.ControllerOf(pod) }) {
			r.drop(pod)
		}
	}
}

func tracked(p *corev1.Pod) bool { return slices.Contains(p.Finalizers, fin) }

// view holds the objects and numbers that one sync has read.
type view struct {
	job                 *batchv1.Job
	pods                []*corev1.Pod // the Job's own
	active, terminating int32
	succeeded, failed   int32 // the status, plus pods that it does not have yet
	indexes             map[int32]bool
}

func (r *reference) sync(namespace, name string) {
	r.pause()
	job := r.server.Job(namespace, name)
	if job == nil {
		return
	}
	v := r.read(job)
	switch {
	case apiserver.JobFinished(job):
		r.dropAll(r.server.PodsOf(job.UID)) // including pods that the selector no longer matches
		if r.bug == touchesDone {
			job.Status.Conditions[0].Message += "."
			r.write(job)
		}
	case job.DeletionTimestamp != nil:
		r.dropAll(r.server.PodsOf(job.UID))
	case r.release(job):
	default:
		r.manage(v)
	}
}

func (r *reference) read(job *batchv1.Job) *view {
	v := &view{job: job, indexes: map[int32]bool{}}
	for _, p := range r.server.PodsOf(job.UID) {
		if apiserver.Selects(job, p.Labels) {
			v.pods = append(v.pods, p)
		}
	}
	if u := job.Status.UncountedTerminatedPods; u == nil {
		now := metav1.NewTime(r.server.Clock().Now())
		job.Status.UncountedTerminatedPods, job.Status.StartTime = &batchv1.UncountedTerminatedPods{}, &now
		job.Status.Ready, job.Status.Terminating = new(int32), new(int32)
	}
	return v
}

// release releases the next pod that the selector does not match. It names the pod's version, so a pod that is selected
// again stays (J-174).
func (r *reference) release(job *batchv1.Job) bool {
	for _, p := range r.server.PodsOf(job.UID) {
		if !apiserver.Selects(job, p.Labels) {
			r.patch(p, fmt.Sprintf(`{"metadata":{"uid":%q,"resourceVersion":%q,"ownerReferences":[{"$patch":"delete","uid":%q}],"$deleteFromPrimitiveList/finalizers":[%q]}}`,
				p.UID, p.ResourceVersion, job.UID, fin))
			return true
		}
	}
	return false
}

func (r *reference) manage(v *view) {
	if r.bug == dropsEarly {
		for _, p := range v.pods {
			if tracked(p) && apiserver.PodTerminal(p) {
				r.drop(p)
			}
		}
	}
	r.count(v)
	s := &v.job.Status
	failing := isTrue(s, batchv1.JobFailureTarget) || v.failed > *v.job.Spec.BackoffLimit
	if failing {
		r.stopAll(v)
		setTrue(s, batchv1.JobFailureTarget)
		for _, p := range v.pods {
			if tracked(p) && valid(v.job, p) && !apiserver.PodTerminal(p) {
				add(&s.UncountedTerminatedPods.Failed, s, p.UID)
			}
		}
	}
	done := !failing && v.succeeded >= *v.job.Spec.Completions
	quiet := v.active == 0 && (v.terminating == 0 || r.bug == finishesEarly)
	if (failing || done) && quiet {
		r.finish(v, failing)
		return
	}
	s.Active, s.Terminating = v.active, new(v.terminating)
	if !r.write(v.job) {
		return
	}
	for _, p := range v.pods {
		if tracked(p) && (listed(s, p.UID) || indexed(v.job) && p.Status.Phase == corev1.PodSucceeded && v.indexes[indexOf(p)] || !valid(v.job, p) && apiserver.PodTerminal(p)) {
			r.drop(p)
		}
	}
	if !failing && !done {
		r.create(v)
	}
}

// count updates the status from the pods.
func (r *reference) count(v *view) {
	s := &v.job.Status
	u := s.UncountedTerminatedPods
	free := func(uid types.UID) bool {
		return r.bug == movesEarly || !slices.ContainsFunc(v.pods, func(p *corev1.Pod) bool { return p.UID == uid && tracked(p) })
	}
	s.Failed += take(&u.Failed, free)
	moved := take(&u.Succeeded, free)
	s.Succeeded += moved
	if indexed(v.job) {
		v.indexes, _ = apiserver.IndexSet(s.CompletedIndexes, *v.job.Spec.Completions)
	}
	for _, p := range v.pods {
		switch {
		case !apiserver.PodTerminal(p) && p.DeletionTimestamp == nil:
			v.active++
		case !apiserver.PodTerminal(p):
			v.terminating++
		}
		if !tracked(p) || listed(s, p.UID) || !valid(v.job, p) {
			continue
		}
		switch {
		case p.Status.Phase == corev1.PodSucceeded && indexed(v.job):
			v.indexes[indexOf(p)] = true
		case p.Status.Phase == corev1.PodSucceeded:
			u.Succeeded = append(u.Succeeded, p.UID)
		case p.Status.Phase == corev1.PodFailed || p.DeletionTimestamp != nil:
			u.Failed = append(u.Failed, p.UID)
		}
	}
	v.failed = s.Failed + int32(len(u.Failed))
	v.succeeded = s.Succeeded + int32(len(u.Succeeded))
	if indexed(v.job) {
		v.succeeded = int32(len(v.indexes))
		s.CompletedIndexes, s.Succeeded = text(v.indexes), v.succeeded
	}
}

// finish writes counters and conditions at once.
func (r *reference) finish(v *view, failing bool) {
	s := &v.job.Status
	u := s.UncountedTerminatedPods
	s.Failed += int32(len(u.Failed))
	if r.bug == countsTwice {
		s.Failed += int32(len(u.Failed))
	}
	if r.bug == forgets && len(u.Failed) > 0 {
		s.Failed--
	}
	if r.bug == losesIndexes && len(v.indexes) > 0 {
		delete(v.indexes, slices.Max(slices.Collect(keys(v.indexes))))
		s.CompletedIndexes, s.Succeeded = text(v.indexes), int32(len(v.indexes))
	}
	if !indexed(v.job) {
		s.Succeeded += int32(len(u.Succeeded))
	}
	s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	s.Active, s.Terminating = 0, new(int32)
	if failing {
		setTrue(s, batchv1.JobFailed)
	} else {
		setTrue(s, batchv1.JobSuccessCriteriaMet)
		setTrue(s, batchv1.JobComplete)
		now := metav1.NewTime(r.server.Clock().Now())
		s.CompletionTime = &now
	}
	if r.write(v.job) {
		r.dropAll(v.pods)
	}
}

// create makes the missing pods, on the lowest free indexes.
func (r *reference) create(v *view) {
	pods := v.pods
	if r.bug == createsBlindly {
		pods = nil
		for _, o := range r.server.ListStale(apiserver.Pods, r.server.Version()-min(r.server.Version(), 3)).Items {
			if apiserver.ControllerOf(o) == v.job.UID {
				pods = append(pods, o.(*corev1.Pod))
			}
		}
	}
	active := int32(0)
	taken := map[int32]bool{}
	for _, p := range pods {
		if !apiserver.PodTerminal(p) && p.DeletionTimestamp == nil {
			active++
			taken[indexOf(p)] = true
		}
	}
	next := int32(0)
	for n := min(*v.job.Spec.Completions-v.succeeded, *v.job.Spec.Parallelism) - active; n > 0; n-- {
		pod := r.pod(v.job)
		if indexed(v.job) {
			for taken[next] || v.indexes[next] {
				next++
			}
			if next >= *v.job.Spec.Completions {
				return
			}
			taken[next] = true
			pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(int(next))}
			for k, v := range v.job.Spec.Template.Annotations {
				pod.Annotations[k] = v
			}
		}
		r.pause()
		if stored := r.server.Job(v.job.Namespace, v.job.Name); stored == nil || stored.UID != v.job.UID {
			return
		}
		if _, err := r.client.CreatePod(context.Background(), pod); err != nil {
			return
		}
	}
}

func (r *reference) pod(job *batchv1.Job) *corev1.Pod {
	r.made++
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: fmt.Sprintf("%s-%d", job.Name, r.made), Labels: job.Spec.Template.Labels, Annotations: job.Spec.Template.Annotations,
			Finalizers: []string{fin}, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	}
}

func (r *reference) stopAll(v *view) {
	for _, p := range v.pods {
		if !apiserver.PodTerminal(p) && p.DeletionTimestamp == nil {
			r.pause()
			_ = r.client.DeletePod(context.Background(), p.Namespace, p.Name, p.UID, "") // the next sync tries again
		}
	}
}

func (r *reference) write(job *batchv1.Job) bool {
	r.pause()
	_, err := r.client.UpdateJobStatus(context.Background(), job)
	return err == nil
}

func (r *reference) dropAll(pods []*corev1.Pod) {
	for _, p := range pods {
		if tracked(p) {
			r.drop(p)
		}
	}
}

func (r *reference) drop(p *corev1.Pod) {
	r.patch(p, fmt.Sprintf(`{"metadata":{"uid":%q,"$deleteFromPrimitiveList/finalizers":[%q]}}`, p.UID, fin))
}

func (r *reference) patch(p *corev1.Pod, patch string) {
	r.pause()
	_, _ = r.client.PatchPod(context.Background(), p.Namespace, p.Name, []byte(patch)) // the next sync tries again
}

func indexed(j *batchv1.Job) bool { return *j.Spec.CompletionMode == batchv1.IndexedCompletion }

func indexOf(p *corev1.Pod) int32 {
	n, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return int32(n)
}

func valid(j *batchv1.Job, p *corev1.Pod) bool {
	return !indexed(j) || indexOf(p) >= 0 && indexOf(p) < *j.Spec.Completions
}

func listed(s *batchv1.JobStatus, uid types.UID) bool {
	return slices.Contains(s.UncountedTerminatedPods.Failed, uid) || slices.Contains(s.UncountedTerminatedPods.Succeeded, uid)
}

func add(list *[]types.UID, s *batchv1.JobStatus, uid types.UID) {
	if !listed(s, uid) {
		*list = append(*list, uid)
	}
}

func take(list *[]types.UID, free func(types.UID) bool) int32 {
	before := len(*list)
	*list = slices.DeleteFunc(*list, free)
	return int32(before - len(*list))
}

func isTrue(s *batchv1.JobStatus, kind batchv1.JobConditionType) bool {
	return slices.ContainsFunc(s.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind && c.Status == corev1.ConditionTrue })
}

func setTrue(s *batchv1.JobStatus, kind batchv1.JobConditionType) {
	if !isTrue(s, kind) {
		reason := batchv1.JobReasonCompletionsReached
		if kind == batchv1.JobFailureTarget || kind == batchv1.JobFailed {
			reason = batchv1.JobReasonBackoffLimitExceeded
		}
		s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason})
	}
}

func keys(m map[int32]bool) func(func(int32) bool) {
	return func(yield func(int32) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// text writes an index set one index at a time; the server reads this as well as ranges.
func text(set map[int32]bool) string {
	var out []string
	for _, i := range slices.Sorted(keys(set)) {
		out = append(out, strconv.Itoa(int(i)))
	}
	return strings.Join(out, ",")
}
