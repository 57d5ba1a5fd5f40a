package bench

import (
	"context"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// check lists the Jobs and pods after a workload, and returns how they differ from the expected outcome.
func (r *run) check(ctx context.Context) (found, error) {
	jobs, err := r.client.BatchV1().Jobs(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return found{}, fmt.Errorf("list what came out: %w", err)
	}
	pods, err := r.client.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return found{}, fmt.Errorf("list what came out: %w", err)
	}
	if r.config.Setting.Profile == Cluster {
		drawn(r.shapes, pods.Items)
	}
	f := compare(r.shapes, jobs.Items, pods.Items)
	if f.Wrong != "" || len(r.crons.runs) == 0 {
		return f, nil
	}
	cronJobs, err := r.client.BatchV1().CronJobs(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return found{}, fmt.Errorf("list what came out: %w", err)
	}
	f.Wrong = inWords(r.crons.wrong(cronJobs.Items))
	return f, nil
}

// inWords joins the first five descriptions of errors, and says how many more there are.
func inWords(wrong []string) string {
	const most = 5
	if n := len(wrong); n > most {
		wrong = append(wrong[:most], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(wrong, "; ")
}

// compare returns how Jobs and pods differ from the outcome that the shapes (descriptions of Jobs) expect.
func compare(shapes []shape, jobs []batchv1.Job, pods []corev1.Pod) (f found) {
	var wrong []string
	byName, byOwner := map[string]*batchv1.Job{}, map[string][]*corev1.Pod{}
	for i := range jobs {
		byName[jobs[i].Name] = &jobs[i]
	}
	for i := range pods {
		if owner := metav1.GetControllerOf(&pods[i]); owner != nil {
			byOwner[owner.Name] = append(byOwner[owner.Name], &pods[i])
		} else {
			wrong = append(wrong, "pod "+pods[i].Name+" is nobody's")
		}
	}
	if len(jobs) != len(shapes) {
		wrong = append(wrong, fmt.Sprintf("there are %d Jobs, not %d", len(jobs), len(shapes)))
	}
	for _, s := range shapes {
		job := byName[s.name]
		if job == nil {
			wrong = append(wrong, "Job "+s.name+" is gone")
			continue
		}
		for _, what := range append(s.status(job), s.made(byOwner[s.name], &f)...) {
			wrong = append(wrong, "Job "+s.name+" "+what)
		}
	}
	f.Wrong = inWords(wrong)
	return f
}

// status returns how the status of a Job differs from the outcome that this shape (description of a Job) expects.
func (s shape) status(job *batchv1.Job) (wrong []string) {
	t := &job.Status
	if !finished(job) || t.CompletionTime == nil {
		wrong = append(wrong, "is not complete")
	}
	for _, c := range []struct {
		what      string
		got, want int32
	}{
		{"succeeded", t.Succeeded, s.pods}, {"failed", t.Failed, int32(s.fail)}, {"active", t.Active, 0},
	} {
		if c.got != c.want {
			wrong = append(wrong, fmt.Sprintf("says %d %s, not %d", c.got, c.what, c.want))
		}
	}
	if u := t.UncountedTerminatedPods; u != nil && len(u.Succeeded)+len(u.Failed) > 0 {
		wrong = append(wrong, fmt.Sprintf("has %d pods uncounted", len(u.Succeeded)+len(u.Failed)))
	}
	indexes := ""
	if s.indexed {
		indexes = fmt.Sprintf("0-%d", s.pods-1)
	}
	if f := t.FailedIndexes; f != nil && *f != "" {
		wrong = append(wrong, fmt.Sprintf("has the failed indexes %q", *f))
	}
	if t.CompletedIndexes != indexes {
		wrong = append(wrong, fmt.Sprintf("has the completed indexes %q, not %q", t.CompletedIndexes, indexes))
	}
	return wrong
}

// made returns how the pods of a Job differ from the outcome that this shape (description of a Job) expects. It also
// adds to f how many pods are duplicate and lost.
func (s shape) made(pods []*corev1.Pod, f *found) (wrong []string) {
	phases, succeeded, kept := map[corev1.PodPhase]int{}, map[string]int{}, 0
	for _, p := range pods {
		phases[p.Status.Phase]++
		if p.Status.Phase == corev1.PodSucceeded {
			succeeded[p.Annotations[batchv1.JobCompletionIndexAnnotation]]++
		}
		if len(p.Finalizers) > 0 {
			kept++
		}
	}
	for _, c := range []struct {
		phase corev1.PodPhase
		want  int
	}{{corev1.PodSucceeded, int(s.pods)}, {corev1.PodFailed, s.fail}} {
		switch got := phases[c.phase]; {
		case got > c.want:
			f.Duplicates += got - c.want
			wrong = append(wrong, fmt.Sprintf("has %d pods %s, %d too many", got, c.phase, got-c.want))
		case got < c.want:
			f.Losses += c.want - got
			wrong = append(wrong, fmt.Sprintf("has %d pods %s, %d lost", got, c.phase, c.want-got))
		}
		delete(phases, c.phase)
	}
	if len(phases) > 0 {
		wrong = append(wrong, fmt.Sprintf("has pods that did not end: %v", phases))
	}
	if kept > 0 {
		wrong = append(wrong, fmt.Sprintf("has %d pods with a finalizer", kept))
	}
	if s.indexed && len(succeeded) != int(s.pods) {
		wrong = append(wrong, fmt.Sprintf("has pods of %d indexes, not %d", len(succeeded), s.pods))
	}
	return wrong
}
