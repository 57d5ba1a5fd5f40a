package crash

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

const (
	parallelism = 10 // of the Job that should complete
	many        = 20 // its pods with JOBLEDGER_LONG, and in a row that needs as many to reach its points
)

// usual is the number of pods of the Job that should complete, in most rows. It is above the parallelism, so that some
// pods are created after others have ended.
var usual = map[bool]int{false: 12, true: many}[long]

// indexedJob is the Job that every crash interrupts: that many pods, 10 at a time, each with that run time.
func indexedJob(pods int, runFor time.Duration) *batchv1.Job {
	job := newJob("indexed", map[string]string{controlplane.AnnotationRunFor: runFor.String()})
	job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	job.Spec.Completions, job.Spec.Parallelism = new(int32(pods)), new(int32(parallelism))
	return job
}

// failingJob runs beside it, so that failures are counted, too: its only pod fails, and there is no retry.
func failingJob() *batchv1.Job {
	job := newJob("failing", map[string]string{
		controlplane.AnnotationOutcome:  controlplane.OutcomeFail,
		controlplane.AnnotationExitCode: "3",
		controlplane.AnnotationRunFor:   "300ms",
	})
	job.Spec.BackoffLimit = new(int32(0))
	return job
}

func newJob(name string, annotations map[string]string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			ManagedBy: new("jobledger.dev/job-controller"),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: annotations},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "example.com/work:1"}},
				},
			},
		},
	}
}

// unfinished returns what is missing until both Jobs have ended and no pod has our finalizer.
func unfinished(n history.Now) string {
	var missing []string
	for name, condition := range map[string]batchv1.JobConditionType{"indexed": batchv1.JobComplete, "failing": batchv1.JobFailed} {
		if job := n.Jobs[name]; job == nil || !ledger.Finished(job) {
			missing = append(missing, "job/"+name+" has not finished")
		} else if !ledger.True(job, condition) {
			missing = append(missing, "job/"+name+" is not "+string(condition))
		}
	}
	var held []*corev1.Pod
	for _, pod := range n.Pods {
		if ledger.Tracked(pod) {
			held = append(held, pod)
		}
	}
	if len(held) > 0 {
		missing = append(missing, "pods carry our finalizer: "+names(held))
	}
	slices.Sort(missing)
	return strings.Join(missing, "; ")
}

// misstated returns what is wrong with the Jobs at the end. least and most limit the failures that the indexed one may
// count.
func misstated(n history.Now, least, most int32) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	good, bad := n.Jobs["indexed"].Status, n.Jobs["failing"].Status
	pods := value(n.Jobs["indexed"].Spec.Completions)
	allIndexes := fmt.Sprintf("0-%d", pods-1)
	if good.Succeeded != pods || good.Failed < least || good.Failed > most || good.CompletedIndexes != allIndexes {
		complain("job/indexed: succeeded %d, failed %d, completed %q; want %d, %d to %d, %s",
			good.Succeeded, good.Failed, good.CompletedIndexes, pods, least, most, allIndexes)
	}
	if bad.Succeeded != 0 || bad.Failed != 1 || reasonOf(bad, batchv1.JobFailed) != batchv1.JobReasonBackoffLimitExceeded {
		complain("job/failing: succeeded %d, failed %d, reason %q; want 0, 1, BackoffLimitExceeded",
			bad.Succeeded, bad.Failed, reasonOf(bad, batchv1.JobFailed))
	}
	for name, status := range map[string]batchv1.JobStatus{"indexed": good, "failing": bad} {
		if status.Active != 0 || value(status.Ready) != 0 || value(status.Terminating) != 0 {
			complain("job/%s: active %d, ready %d, terminating %d; want none",
				name, status.Active, value(status.Ready), value(status.Terminating))
		}
		if u := status.UncountedTerminatedPods; u != nil && len(u.Succeeded)+len(u.Failed) > 0 {
			complain("job/%s: pods are left in uncountedTerminatedPods: %v", name, *u)
		}
		if status.StartTime == nil {
			complain("job/%s has no startTime", name)
		}
	}
	return wrong
}

// remade reports a Job that does not have exactly one pod for each completion. So a pod that was created twice is
// found.
func remade(n history.Now) (wrong []string) {
	perJob := map[string]int{}
	for _, pod := range n.Pods {
		perJob[metav1.GetControllerOf(pod).Name]++
	}
	pods := int(value(n.Jobs["indexed"].Spec.Completions))
	if want := map[string]int{"indexed": pods, "failing": 1}; !maps.Equal(perJob, want) {
		wrong = append(wrong, fmt.Sprintf("%v pods were made, want %v", perJob, want))
	}
	return wrong
}

func reasonOf(status batchv1.JobStatus, kind batchv1.JobConditionType) string {
	for _, c := range status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return c.Reason
		}
	}
	return ""
}

func value(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

// names returns the names of pods, for people.
func names(pods []*corev1.Pod) string {
	all := map[string]bool{}
	for _, pod := range pods {
		all[pod.Name] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}
