package controller

import (
	"log/slog"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// expiryWarner logs a warning for a finished Job with a TTL that is deleted late or never because of the finish time in
// its status (T-024, T-025). Any writer of a Job's status can choose that time, so at most 10 Jobs in a minute are
// named. It is safe for concurrent use.
type expiryWarner struct {
	log *slog.Logger
	now func() time.Time

	mu    sync.Mutex
	since time.Time
	told  int
}

const mostTold = 10

// look logs a warning if the finish time in job's status delays the job's deletion.
func (e *expiryWarner) look(job *kubewire.Job) {
	if job.TTLSecondsAfterFinished == nil {
		return
	}
	end := finishOf(job)
	switch now := e.now(); {
	case end == nil:
	case end.LastTransitionTime.IsZero():
		e.warn(now, job, "unable to find the time when the Job finished: its condition has no lastTransitionTime, so the Job is never deleted")
	case end.LastTransitionTime.After(now):
		e.warn(now, job, "a Job finished in the future: clocks of the cluster differ, and the Job is deleted later",
			"finished", end.LastTransitionTime.UTC().Format(time.RFC3339))
	}
}

// finishOf returns the condition from whose time the TTL is counted: the first condition in the list that says that the
// Job finished (T-021).
func finishOf(job *kubewire.Job) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		c := &job.Status.Conditions[i]
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

func (e *expiryWarner) warn(now time.Time, job *kubewire.Job, text string, attrs ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now.Sub(e.since) >= time.Minute || now.Before(e.since) {
		e.since, e.told = now, 0
	}
	switch e.told++; {
	case e.told < mostTold:
	case e.told == mostTold:
		attrs = append(attrs, "more", "not named within a minute")
	default:
		return
	}
	e.log.Warn(text, append([]any{"job", job.Namespace + "/" + job.Name, "ttlSecondsAfterFinished", *job.TTLSecondsAfterFinished}, attrs...)...)
}
