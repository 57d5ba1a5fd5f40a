package executor

import (
	"context"
	"fmt"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// What kubectl writes on a Job that it creates from a CronJob. One that was asked for by a trigger bears it, too: it has no due time.
const (
	manualAnnotation = "cronjob.kubernetes.io/instantiate"
	manualValue      = "manual"
)

// createJob makes a Job of the CronJob, of the template that was decided on. Whose Job it is that has the name already, a read says that
// is asked for then (C-160).
func (w *work) createJob(ctx context.Context, c *events.CreateJob) {
	w.result.Evidence.Name = c.Name
	cronJob, ok := w.Objects.cronWithTemplate(w.Job.UID, c.Template)
	if !ok {
		w.refuse(events.RefusedTemplate, "the CronJob's jobTemplate is not the one that was decided on, or not known any more")
		return
	}
	created, err := w.Crons.CreateJob(ctx, newRun(cronJob, c))
	if err != nil {
		w.failed(err)
		return
	}
	w.observeRun(created)
	w.done(events.Jobs, kubewire.StoredOf(created))
	w.result.Ended.Written = events.At(created.CreationTimestamp.Time) // by the server's clock
}

// newRun is a Job of a CronJob (C-150 to C-156).
func newRun(cronJob *batchv1.CronJob, c *events.CreateJob) *batchv1.Job {
	t := &cronJob.Spec.JobTemplate
	annotations := maps.Clone(t.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	if c.Stamp != "" {
		annotations[batchv1.CronJobScheduledTimestampAnnotation] = c.Stamp
	}
	if c.Due == 0 {
		annotations[manualAnnotation] = manualValue
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cronJob.Namespace, Name: c.Name, Labels: maps.Clone(t.Labels), Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cronJob, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
		},
		Spec: *t.Spec.DeepCopy(),
	}
}

// deleteRun deletes a Job of the CronJob, and its pods in the background (C-124). Only that one:
// another of its name is a Conflict.
func (w *work) deleteRun(ctx context.Context, c *events.DeleteRun) {
	w.result.Evidence.Name = c.Name
	if err := w.Crons.DeleteRun(ctx, w.Job.Namespace, c.Name, c.Job); err != nil {
		w.failed(err)
		return
	}
	w.done(0, kubewire.Stored{UID: c.Job})
}

// writeCronStatus stores the status of the CronJob over exactly the version that it was computed from (C-171); see writeStatus.
func (w *work) writeCronStatus(ctx context.Context, c *events.WriteCronStatus) {
	w.result.Evidence.Name = w.Job.Name
	cronJob, version, ok := w.Objects.cronAt(w.Life, w.Job.UID, c.Base)
	if !ok {
		w.refuse(events.RefusedConflict, fmt.Sprintf(
			"the status was computed from version %d of the CronJob, and version %d is the newest seen", c.Base, version))
		return
	}
	after, err := w.Crons.UpdateCronJobStatus(ctx, withCronStatus(cronJob, c))
	if err != nil {
		w.failed(err)
		return
	}
	w.Objects.refreshCron(after)
	w.stored(events.CronJobs, kubewire.StoredOf(after))
}

// withCronStatus is the CronJob as it was read, with another status (C-175). Entries that it has stay as they are (C-111).
func withCronStatus(cronJob *batchv1.CronJob, c *events.WriteCronStatus) *batchv1.CronJob {
	stored := map[types.UID]corev1.ObjectReference{}
	for _, ref := range cronJob.Status.Active {
		stored[ref.UID] = ref
	}
	status := batchv1.CronJobStatus{LastScheduleTime: second(c.LastSchedule), LastSuccessfulTime: second(c.LastSuccess)}
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
	return &batchv1.CronJob{ObjectMeta: cronJob.ObjectMeta, Spec: cronJob.Spec, Status: status}
}

// readCronJob reads the CronJob live; see readJob.
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

// readRun reads a Job live by its name, in the namespace of the CronJob (C-161). When it is another's Job, its UID says so, and nothing is
// observed of it.
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

// observeRun adds what a Job of the CronJob tells; nothing when it cannot be read.
func (w *work) observeRun(job *batchv1.Job) {
	if read, err := kubewire.Jobs.Of(job); err == nil {
		w.observe(w.ObserveRun(read))
	}
}

func observeNoCronJob(*batchv1.CronJob) events.Observation { return events.Observation{} }
