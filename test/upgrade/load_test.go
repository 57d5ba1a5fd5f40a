package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// pace is the time between two new Jobs, whichever program runs, or none.
const pace = 200 * time.Millisecond

// create creates Jobs until ctx is done. Each fourth Job has many pods, and each fifth one fails after one retry.
func create(ctx context.Context, client kubernetes.Interface, namespace string) error {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for i := 1; ; i++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		_, err := client.BatchV1().Jobs(namespace).Create(ctx, newJob(i), metav1.CreateOptions{})
		if err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("create Job %d: %w", i, err)
		}
	}
}

func newJob(i int) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("load-%d", i)},
		Spec: batchv1.JobSpec{
			ManagedBy: new("jobledger.dev/job-controller"),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{controlplane.AnnotationRunFor: "1s"}},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "example.com/work:1"}},
				},
			},
		},
	}
	switch {
	case i%5 == 0:
		job.Spec.Template.Annotations[controlplane.AnnotationOutcome] = controlplane.OutcomeFail
		job.Spec.BackoffLimit = new(int32(1))
	case i%4 == 0:
		job.Spec.Completions, job.Spec.Parallelism = new(int32(8)), new(int32(3))
		job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	}
	return job
}

// finished returns how many Jobs have ended.
func finished(n history.Now) (ended int) {
	for _, job := range n.Jobs {
		if ledger.Finished(job) {
			ended++
		}
	}
	return ended
}

// unfinished returns what is missing until all Jobs have ended as they should and no pod has our finalizer.
func unfinished(n history.Now) string {
	var missing []string
	for name, job := range n.Jobs {
		switch want := end(job); {
		case !ledger.Finished(job):
			missing = append(missing, "job/"+name+" has not finished")
		case !ledger.True(job, want.condition) || job.Status.Succeeded != want.succeeded || job.Status.Failed != want.failed:
			missing = append(missing, fmt.Sprintf("job/%s: %d succeeded, %d failed; want %+v", name, job.Status.Succeeded, job.Status.Failed, want))
		}
	}
	for _, pod := range n.Pods {
		if ledger.Tracked(pod) {
			missing = append(missing, "pod/"+pod.Name+" carries our finalizer")
		}
	}
	slices.Sort(missing)
	return strings.Join(missing, "; ")
}

// result is how a Job of the load ends.
type result struct {
	condition         batchv1.JobConditionType
	succeeded, failed int32
}

func end(job *batchv1.Job) result {
	if job.Spec.BackoffLimit != nil && *job.Spec.BackoffLimit == 1 {
		return result{batchv1.JobFailed, 0, 2}
	}
	return result{batchv1.JobComplete, *job.Spec.Completions, 0}
}
