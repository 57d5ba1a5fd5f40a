package observation

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// finished reports whether the Job has a terminal condition with status True.
func finished(job *kubewire.Job) bool {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

func refOf(job *kubewire.Job) events.JobRef {
	return events.JobRef{Namespace: job.Namespace, Name: job.Name, UID: job.UID}
}

// observeJob returns the observation of a Job at this version, with its spec and status. managed becomes
// JobSeen.Managed.
func (feed *Feed) observeJob(job *kubewire.Job, spec *specSeen, version uint64, managed bool) events.Observation {
	seen := &events.JobSeen{
		Version:    version,
		Generation: job.Generation,
		Created:    events.At(job.CreationTimestamp.Time),
		Deleted:    instant(job.DeletionTimestamp),
		Managed:    managed,
		ManagedBy:  text(job.ManagedBy),
		Spec:       spec.recorded.Hash,
		Status:     statusOf(&job.Status),
	}
	if feed.mode == events.ModeAll { // in the other modes the built-in controller may write the status
		seen.BuiltinWrote = builtinWrote(job)
	}
	if feed.gangs {
		seen.Parent = parentOf(job)
	}
	cronJob := feed.cronJobOf(job)
	var run *events.RunSeen
	if cronJob != "" {
		run = runSeen(job, version)
	}
	return events.Observation{
		Job:     refOf(job),
		CronJob: cronJob,
		Run:     run,
		Facts:   seen,
		Evidence: events.Evidence{
			Namespace: job.Namespace, Name: job.Name, Finalizers: othersFinalizers(job), Origin: originOf(job, feed.labels),
		},
		Editors:      feed.editors.of(job.ManagedFields),
		Spec:         spec.recorded,
		Template:     spec.template,
		TemplateSize: spec.size,
	}
}

// parentOf reports whether a controller owns the Job, and whether it delegates the making of a PodGroup.
func parentOf(job *kubewire.Job) events.Parent {
	_, delegated := job.Annotations[kubewire.GroupTemplateAnnotation]
	switch {
	case metav1.GetControllerOfNoCopy(job) == nil:
		return events.ParentNone
	case delegated:
		return events.ParentDelegates
	}
	return events.ParentOther
}

// stored returns a redacted template, or nil when it is too large to store.
func stored(template []byte) []byte {
	if len(template) > maxTemplate {
		return nil
	}
	return template
}

func statusOf(s *batchv1.JobStatus) *events.JobStatus {
	status := &events.JobStatus{
		Active:           s.Active,
		Ready:            orUnset(s.Ready),
		Terminating:      orUnset(s.Terminating),
		Succeeded:        s.Succeeded,
		Failed:           s.Failed,
		CompletedIndexes: s.CompletedIndexes,
		StartTime:        instant(s.StartTime),
		CompletionTime:   instant(s.CompletionTime),
	}
	if s.FailedIndexes != nil {
		failed := *s.FailedIndexes
		status.FailedIndexes = &failed
	}
	if u := s.UncountedTerminatedPods; u != nil {
		status.HasUncounted = true
		status.UncountedSucceeded = append(status.UncountedSucceeded, u.Succeeded...)
		status.UncountedFailed = append(status.UncountedFailed, u.Failed...)
	}
	for _, c := range s.Conditions {
		status.Conditions = append(status.Conditions, events.JobCondition{
			Type:    string(c.Type),
			Status:  string(c.Status),
			Reason:  bounded(c.Reason, maxReason),
			Message: bounded(c.Message, maxCondition),
			Since:   events.At(c.LastTransitionTime.Time),
			Probed:  events.At(c.LastProbeTime.Time),
		})
	}
	return status
}

func orUnset(n *int32) int32 {
	if n == nil {
		return events.Unset
	}
	return *n
}

func instant(t *metav1.Time) events.Time {
	if t == nil {
		return 0
	}
	return events.At(t.Time)
}
