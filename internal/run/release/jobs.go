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

// jobs is what a listing of the Jobs shows. It is made before the pods are listed.
type jobs struct {
	unfinished []Item
	ours       map[types.UID]bool // for each unfinished Job, whether spec.managedBy names Jobledger
	// counted has the finished Jobs of the built-in controller whose status accounts for every pod. Their pods do not
	// need the finalizer any more. The built-in controller removes the finalizer before it finishes a Job, and does not
	// look at these pods again. If our controller finished such a Job in its place and was killed then, some pods keep
	// the finalizer.
	counted map[types.UID]bool
}

// jobs lists the Jobs. The caller lists the pods afterwards: the built-in controller removes the finalizer of a pod
// before it finishes the Job, so it has removed the finalizers of all Jobs that are listed as finished.
func (c *Config) jobs(ctx context.Context) (jobs, error) {
	all := jobs{ours: map[types.UID]bool{}, counted: map[types.UID]bool{}}
	list := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return c.Client.BatchV1().Jobs(c.Namespace).List(ctx, options)
	})
	err := list.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		job := o.(*batchv1.Job)
		manager := events.BuiltinManagedBy
		if job.Spec.ManagedBy != nil {
			manager = *job.Spec.ManagedBy
		}
		switch uncounted := job.Status.UncountedTerminatedPods; {
		case !finished(job):
			all.ours[job.UID] = manager == events.ManagedBy
			all.unfinished = append(all.unfinished, Item{
				Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID, Action: LeftUnmanaged, Message: state(job),
			})
		case manager == events.BuiltinManagedBy && (uncounted == nil || len(uncounted.Succeeded)+len(uncounted.Failed) == 0):
			all.counted[job.UID] = true
		}
		return nil
	})
	if err != nil {
		return all, fmt.Errorf("list Jobs: %w", err)
	}
	return all, nil
}

// abandoned returns the unfinished Jobs that no controller will run after the release. These are the Jobs whose
// spec.managedBy names Jobledger, because that field cannot be changed. If the built-in controller's finalizer is
// removed, the Jobs of the pods in held that had it are included.
func (c *Config) abandoned(all jobs, held []heldPod) []Item {
	owners := map[types.UID]bool{}
	for i := range held {
		owners[held[i].job] = owners[held[i].job] || slices.Contains(held[i].finalizers, events.BuiltinTrackingFinalizer)
	}
	return slices.DeleteFunc(all.unfinished, func(i Item) bool {
		return !(all.ours[i.UID] && slices.Contains(c.Finalizers, events.TrackingFinalizer)) && !owners[i.UID]
	})
}

func finished(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// state describes the progress of a Job in words, from its status.
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
