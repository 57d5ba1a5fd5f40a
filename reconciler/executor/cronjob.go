package executor

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// The annotation that kubectl sets on a Job created by hand from a CronJob. A triggered Job gets it too, because it has
// no due time either.
const (
	manualAnnotation = "cronjob.kubernetes.io/instantiate"
	manualValue      = "manual"
)

// createJob creates a Job of the CronJob, from the job template on which the decision was made. If the name is taken,
// the task is refused; a later command reads whose Job has the name (C-160).
func (w *work) createJob(ctx context.Context, c *events.CreateJob) {
	w.result.Evidence.Name = c.Name
	cronJob, ok := w.Objects.cronWithTemplate(w.Job.UID, c.Template)
	if !ok {
		w.refuse(events.RefusedTemplate, "the CronJob's jobTemplate is not the one that was decided on, or not known any more")
		return
	}
	job, err := newRun(cronJob, c)
	if err != nil {
		w.refuse(events.RefusedInvalid, err.Error())
		return
	}
	created, err := w.Crons.CreateJob(ctx, w.Job.Namespace, job)
	if err != nil {
		w.failed(err)
		return
	}
	w.observeRun(created)
	w.done(events.Jobs, kubewire.StoredOf(created))
	w.result.Ended.Written = events.At(created.CreationTimestamp.Time) // the server's clock
}

// newRun returns a new Job of a CronJob (C-150 to C-156). The Job has the whole spec of the jobTemplate, including
// fields that this program does not know.
func newRun(cronJob *kubewire.CronJob, c *events.CreateJob) (kubewire.Body, error) {
	t, err := cronJob.JobTemplate()
	if err != nil {
		return kubewire.Body{}, err
	}
	annotations := t.Annotations
	if annotations == nil {
		annotations = map[string]string{}
	}
	if c.Stamp != "" {
		annotations[batchv1.CronJobScheduledTimestampAnnotation] = c.Stamp
	}
	if c.Due == 0 {
		annotations[manualAnnotation] = manualValue
	}
	return cronJob.NewJob(&metav1.ObjectMeta{
		Namespace: cronJob.Namespace, Name: c.Name, Labels: t.Labels, Annotations: annotations,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cronJob, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
	}, &t)
}

// deleteRun deletes a Job of the CronJob, and its pods in the background (C-124). If another Job has the name by now,
// the server answers Conflict.
func (w *work) deleteRun(ctx context.Context, c *events.DeleteRun) {
	w.result.Evidence.Name = c.Name
	if err := w.Crons.DeleteRun(ctx, w.Job.Namespace, c.Name, c.Job); err != nil {
		w.failed(err)
		return
	}
	w.done(0, kubewire.Stored{UID: c.Job})
}

// writeCronStatus writes the CronJob's status if the newest version seen is the one from which the status was computed
// (C-171). Otherwise it makes no request.
func (w *work) writeCronStatus(ctx context.Context, c *events.WriteCronStatus) {
	w.result.Evidence.Name = w.Job.Name
	cronJob, version, ok := w.Objects.cronAt(w.Life, w.Job.UID, c.Base)
	if !ok {
		w.refuse(events.RefusedConflict, fmt.Sprintf(
			"the status was computed from version %d of the CronJob, and version %d is the newest seen", c.Base, version))
		return
	}
	written, err := cronJob.WithStatus(newCronStatus(cronJob, c))
	if err != nil {
		w.refuse(events.RefusedInvalid, err.Error())
		return
	}
	after, err := w.Crons.UpdateCronJobStatus(ctx, w.Job.Namespace, w.Job.Name, written)
	if err != nil {
		w.failed(err)
		return
	}
	w.Objects.refreshCron(after)
	w.stored(events.CronJobs, kubewire.StoredOf(after))
}

// newCronStatus returns the new status of the CronJob (C-175). Entries that are already in status.active stay unchanged
// (C-111).
func newCronStatus(cronJob *kubewire.CronJob, c *events.WriteCronStatus) *batchv1.CronJobStatus {
	stored := map[types.UID]corev1.ObjectReference{}
	for _, ref := range cronJob.Status.Active {
		stored[ref.UID] = ref
	}
	status := &batchv1.CronJobStatus{LastScheduleTime: second(c.LastSchedule), LastSuccessfulTime: second(c.LastSuccess)}
	for _, run := range c.Active {
		ref, had := stored[run.UID]
		if !had {
			ref = corev1.ObjectReference{
				Kind: "Job", APIVersion: batchv1.SchemeGroupVersion.String(), Namespace: cronJob.Namespace, Name: run.Name, UID: run.UID,
				ResourceVersion: versionText(run.Version),
			}
		}
		status.Active = append(status.Active, ref)
	}
	return status
}

// readCronJob reads the CronJob from the API server, past any cache. A version older than a known one proves that the
// cluster was restored to an earlier state.
func (w *work) readCronJob(ctx context.Context) {
	w.result.Evidence.Name = w.Job.Name
	cronJob, err := w.Crons.GetCronJob(ctx, w.Job.Namespace, w.Job.Name)
	if err != nil {
		w.failed(err)
		return
	}
	if version := versionOf(cronJob); cronJob.UID == w.Job.UID && version < w.Base {
		w.refuse(events.RefusedConflict, fmt.Sprintf(
			"the CronJob was read at version %d, and version %d was known: the cluster went back", version, w.Base))
		w.result.Ended.Sent = true
		w.Behind(w.Life, events.Rewind{Resource: events.CronJobs, Known: w.Base, Found: version, Object: cronJob.UID})
		return
	}
	if cronJob.UID == w.Job.UID {
		w.Objects.refreshCron(cronJob)
		w.observe(w.ObserveCronJob(cronJob))
	}
	w.done(events.CronJobs, kubewire.StoredOf(cronJob))
}

// readRun reads a Job by name in the CronJob's namespace (C-161). The result carries the UID of the Job that was found.
// An observation is added only if the Job belongs to the CronJob.
func (w *work) readRun(ctx context.Context, c *events.ReadRun) {
	w.result.Evidence.Name = c.Name
	job, err := w.Crons.GetRun(ctx, w.Job.Namespace, c.Name)
	if err != nil {
		w.failed(err)
		return
	}
	if owner := metav1.GetControllerOfNoCopy(job); owner != nil && owner.UID == w.Job.UID {
		w.observeRun(job)
	}
	w.done(events.Jobs, kubewire.StoredOf(job))
}

// observeRun adds to the result what a request has shown of a Job of the CronJob.
func (w *work) observeRun(job *kubewire.Job) { w.observe(w.ObserveRun(job)) }

func observeNoCronJob(*kubewire.CronJob) events.Observation { return events.Observation{} }
