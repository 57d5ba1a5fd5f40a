package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/pager"

	"github.com/jobledger/jobledger/events"
)

// unfinished lists the Jobs that no controller runs once ours is gone: those whose spec.managedBy is ours, which nobody can
// change, and, when the built-in finalizer is removed, those of pods that held it.
func (c *Config) unfinished(ctx context.Context, held []heldPod) ([]Item, error) {
	owners := map[types.UID]bool{}
	for i := range held {
		owners[held[i].job] = owners[held[i].job] || slices.Contains(held[i].finalizers, events.BuiltinTrackingFinalizer)
	}
	var items []Item
	list := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return c.Client.BatchV1().Jobs(c.Namespace).List(ctx, options)
	})
	err := list.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		job := o.(*batchv1.Job)
		ours := job.Spec.ManagedBy != nil && *job.Spec.ManagedBy == events.ManagedBy &&
			slices.Contains(c.Finalizers, events.TrackingFinalizer)
		if !finished(job) && (ours || owners[job.UID]) {
			items = append(items, Item{
				Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID, Action: LeftUnmanaged, Message: state(job),
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list Jobs: %w", err)
	}
	return items, nil
}

func finished(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// state is how far a Job has got, in its own status's words.
func state(job *batchv1.Job) string {
	var parts []string
	switch {
	case job.DeletionTimestamp != nil:
		parts = append(parts, "being deleted")
	case job.Spec.Suspend != nil && *job.Spec.Suspend:
		parts = append(parts, "suspended")
	case job.Status.StartTime == nil:
		parts = append(parts, "not started")
	}
	succeeded := fmt.Sprintf("%d succeeded", job.Status.Succeeded)
	if job.Spec.Completions != nil {
		succeeded = fmt.Sprintf("%d of %d succeeded", job.Status.Succeeded, *job.Spec.Completions)
	}
	return strings.Join(append(parts, succeeded, fmt.Sprintf("%d failed, %d active", job.Status.Failed, job.Status.Active)), ", ")
}
