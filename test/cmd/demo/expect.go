package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
)

// end says how a Job must end.
type end struct {
	job       string // name of the Job, and of its file in examples/
	condition batchv1.JobConditionType
	reason    string
	succeeded int32
	failed    int32
	indexes   string // status.completedIndexes
}

// ends lists how each Job must end, as the comment in the Job's file says.
var ends = []end{
	{job: "plain", condition: batchv1.JobComplete, reason: batchv1.JobReasonCompletionsReached, succeeded: 1},
	{job: "indexed", condition: batchv1.JobFailed, reason: batchv1.JobReasonBackoffLimitExceeded, succeeded: 4, failed: 2, indexes: "0,1,3,4"},
	{job: failed, condition: batchv1.JobFailed, reason: batchv1.JobReasonBackoffLimitExceeded, failed: 2},
}

// failed is the name of the Job whose failure the demo examines at the end.
const failed = "backoff"

// finalizer is on a pod until the pod is counted in the Job's status.
const finalizer = "jobledger.dev/job-tracking"

// createJobs creates the Jobs of examples/, as kubectl apply would.
func (d *demo) createJobs(ctx context.Context) error {
	for _, e := range ends {
		path := filepath.Join("examples", e.job+".yaml")
		var job batchv1.Job
		if err := d.decode(path, &job); err != nil {
			return err
		}
		if _, err := d.client.BatchV1().Jobs(namespace).Create(ctx, &job, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create the Job of %s: %w", path, err)
		}
	}
	return nil
}

const namespace = metav1.NamespaceDefault

// decode reads the object in a file of the repository into into. An unknown field is an error.
func (d *demo) decode(path string, into runtime.Object) error {
	text, err := os.ReadFile(filepath.Join(d.root, path))
	if err != nil {
		return err
	}
	yaml := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme,
		json.SerializerOptions{Yaml: true, Strict: true})
	if _, _, err = yaml.Decode(text, nil, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// awaitEnds returns when every Job has ended as it must, and no pod has the finalizer any more. It returns a line about
// each Job. If a Job ends in another way, it returns an error at once.
func (d *demo) awaitEnds(ctx context.Context) (lines []string, err error) {
	var waiting error
	err = wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		select {
		case <-d.started.ended:
			return false, d.started.failure()
		case <-d.cluster.Done():
			return false, d.cluster.Err()
		default:
		}
		lines, waiting = nil, nil
		for _, e := range ends {
			line, open, err := d.ended(ctx, e)
			if err != nil {
				return false, err
			}
			lines, waiting = append(lines, line), errors.Join(waiting, open)
		}
		return waiting == nil, nil
	})
	if err != nil && ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), waiting)
	}
	return lines, err
}

// ended checks one Job. It returns a line about the Job's end; or, as open, what is still missing; or, as wrong, how
// the end differs from e.
func (d *demo) ended(ctx context.Context, e end) (line string, open, wrong error) {
	job, err := d.client.BatchV1().Jobs(namespace).Get(ctx, e.job, metav1.GetOptions{})
	if err != nil {
		return "", nil, fmt.Errorf("look at job/%s: %w", e.job, err)
	}
	c := terminal(job)
	if c == nil {
		return "", fmt.Errorf("job/%s has not ended: %s", e.job, describe(job)), nil
	}
	got := end{e.job, c.Type, c.Reason, job.Status.Succeeded, job.Status.Failed, job.Status.CompletedIndexes}
	if got != e {
		return "", nil, fmt.Errorf("job/%s ended as\n  %s\nand should have ended as\n  %s", e.job, got, e)
	}
	if u := job.Status.UncountedTerminatedPods; u != nil && len(u.Succeeded)+len(u.Failed) > 0 {
		return "", nil, fmt.Errorf("job/%s has ended, and pods of it are not counted: %v", e.job, *u)
	}
	pods, err := d.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + e.job})
	if err != nil {
		return "", nil, fmt.Errorf("look at the pods of job/%s: %w", e.job, err)
	}
	for _, pod := range pods.Items {
		if slices.Contains(pod.Finalizers, finalizer) {
			return "", fmt.Errorf("pod/%s still has the finalizer %s", pod.Name, finalizer), nil
		}
	}
	return "  " + got.String(), nil, nil
}

// terminal returns the condition Complete or Failed of a Job; nil if it has none.
func terminal(job *batchv1.Job) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		c := &job.Status.Conditions[i]
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

func describe(job *batchv1.Job) string {
	s := &job.Status
	return fmt.Sprintf("%d active, %d succeeded, %d failed", s.Active, s.Succeeded, s.Failed)
}

func (e end) String() string {
	text := fmt.Sprintf("%-8s %s (%s): %d succeeded, %d failed", e.job, e.condition, e.reason, e.succeeded, e.failed)
	if e.indexes != "" {
		text += ", completed indexes " + e.indexes
	}
	return strings.TrimSpace(text)
}
