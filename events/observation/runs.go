package observation

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// A run is a Job of a CronJob. Its RunSeen is part of the observation of the Job. If the Job itself is not reported,
// because another controller runs it, the RunSeen is an observation of its own.

// manualValue is the annotation value that kubectl writes on a Job that it creates from a CronJob (C-223).
const manualValue = "manual"

// cronJobOf returns the UID of the CronJob that controls the Job, by its owner reference (C-096). It is empty for none,
// and when CronJobs are not watched.
func (feed *Feed) cronJobOf(job *kubewire.Job) types.UID {
	owner := metav1.GetControllerOfNoCopy(job)
	if feed.cronJobs == nil || owner == nil || owner.Kind != "CronJob" {
		return ""
	}
	return boundedUID(owner.UID)
}

// runSeen returns the facts about a Job for the stream of its CronJob.
func runSeen(job *kubewire.Job, version uint64) *events.RunSeen {
	run := &events.RunSeen{
		Job: job.UID, Name: job.Name, Version: version,
		Created: events.At(job.CreationTimestamp.Time), Deleted: instant(job.DeletionTimestamp),
		Started: instant(job.Status.StartTime), Completed: instant(job.Status.CompletionTime),
		Manual: job.Annotations[kubewire.ManualAnnotation] == manualValue,
	}
	if due, err := time.Parse(time.RFC3339, job.Annotations[batchv1.CronJobScheduledTimestampAnnotation]); err == nil {
		run.Due = events.At(due)
	}
	for _, c := range job.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == batchv1.JobComplete:
			run.Succeeded = true
			if run.Result == 0 {
				run.Result = events.ResultComplete
			}
		case c.Type == batchv1.JobFailed && run.Result == 0:
			run.Result = events.ResultFailed
		}
	}
	return run
}

// observeRun returns the observation of a Job that is not reported itself.
func (feed *Feed) observeRun(job *kubewire.Job, version uint64, cronJob types.UID) events.Observation {
	return events.Observation{
		Job: refOf(job), CronJob: cronJob, Facts: runSeen(job, version),
		Evidence: events.Evidence{Namespace: job.Namespace, Name: job.Name}, Editors: feed.editors.of(job.ManagedFields),
	}
}

// tellRunLocked reports a Job to the stream of its CronJob only, because the Job has no stream of its own. If the Job
// has lost its CronJob as owner, it reports that the Job has left.
func (r *jobs) tellRunLocked(known *knownJob, job *kubewire.Job, version uint64) {
	now := r.feed.cronJobOf(job)
	if before := known.cronJob; before != "" && before != now {
		r.feed.queue.gone(r.listing.resource, job.UID, events.Observation{
			Job: known.ref, CronJob: before, Facts: &events.RunGone{Job: job.UID, Version: version, Left: true},
			Evidence: events.Evidence{Namespace: job.Namespace, Name: job.Name},
		}, r)
		known.told = false
	}
	if known.cronJob = now; now != "" {
		r.tellLocked(job.UID, known, r.feed.observeRun(job, version, now))
	} else if r.feed.cronJobs != nil && namedByMinute(job.Name) {
		// Mark the Job as told, so that its deletion is reported: a CronJob may be waiting for its name (C-165)
		known.told = true
	}
}

// namedByMinute reports whether a Job is named as CronJobs name theirs: with a minute at the end (C-151).
func namedByMinute(name string) bool {
	digits := strings.TrimRight(name, "0123456789")
	return digits != name && strings.HasSuffix(digits, "-")
}

// runGone returns the observation of the deletion of a Job that is not reported itself.
func runGone(uid types.UID, known *knownJob, missed bool, version uint64) events.Observation {
	return events.Observation{
		Job: known.ref, CronJob: known.cronJob, Facts: &events.RunGone{Job: uid, Version: version, Missed: missed},
		Evidence: events.Evidence{Namespace: known.ref.Namespace, Name: known.ref.Name},
	}
}
