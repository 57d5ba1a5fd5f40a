package executor

import (
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// writeStatus stores a status over exactly the version of the Job that it was computed from. Of any other version it is
// known without asking that the server would refuse, or worse, that the write would undo what another did.
func (w *work) writeStatus(ctx context.Context) {
	w.result.Evidence.Name = w.Job.Name
	if w.Status == nil {
		w.refuse(events.RefusedInvalid, "the task has no status to write")
		return
	}
	job, version, ok := w.Objects.at(w.Life, w.Job.UID, w.Base)
	if !ok {
		w.refuse(events.RefusedConflict, fmt.Sprintf(
			"the status was computed from version %d of the Job, and version %d is the newest seen", w.Base, version))
		return
	}
	status := apiStatus(w.Task.Status, job.Status.Conditions)
	body, err := job.WithStatus(&status)
	if err != nil {
		w.refuse(events.RefusedInvalid, err.Error())
		return
	}
	after, err := w.API.UpdateJobStatus(ctx, job.Namespace, job.Name, body)
	if err != nil {
		w.failed(err)
		return
	}
	w.Objects.refresh(after)
	w.stored(events.Jobs, kubewire.StoredOf(after))
}

// readJob reads the Job live. When another Job has its name, that one's UID says so.
func (w *work) readJob(ctx context.Context) {
	w.result.Evidence.Name = w.Job.Name
	job, err := w.API.GetJob(ctx, w.Job.Namespace, w.Job.Name)
	if err != nil {
		w.failed(err)
		return
	}
	if version := versionOf(job); job.UID == w.Job.UID && version < w.Base {
		w.refuse(events.RefusedConflict, fmt.Sprintf(
			"the Job was read at version %d, and version %d was known: the cluster went back", version, w.Base))
		w.result.Ended.Sent = true
		w.Behind(w.Life, events.Rewind{Resource: events.Jobs, Known: w.Base, Found: version, Object: job.UID})
		return
	}
	if job.UID == w.Job.UID {
		w.Objects.refresh(job)
		w.observe(w.Observe(job))
	}
	w.seen(job)
}

// deleteJob deletes the Job after its pods, if it is still the one that was decided on, at that version (T-035, T-051).
func (w *work) deleteJob(ctx context.Context, c *events.DeleteJob) {
	w.result.Evidence.Name = w.Job.Name
	if err := w.API.DeleteJobVersion(ctx, w.Job.Namespace, w.Job.Name, c.Job, strconv.FormatUint(c.Version, 10)); err != nil {
		w.failed(err)
		return
	}
	w.done(0, kubewire.Stored{UID: c.Job})
}

// readPod looks for the pod of a create by its name. Done without a UID means that there is none: also when another's
// pod has the name, because then ours was never made.
func (w *work) readPod(ctx context.Context, c *events.ReadPod) {
	w.result.Evidence.Name = podNameOf(w.Life, w.Job, c.Ordinal, c.Index)
	pod, err := w.API.FindPod(ctx, w.Job.Namespace, w.result.Evidence.Name)
	switch {
	case apierrors.IsNotFound(err):
		w.done(0, kubewire.Stored{})
	case err != nil:
		w.failed(err)
	case !isOurs(pod, w.Life, w.Job, c.Ordinal):
		w.result.Evidence.Sentence = "the name is another pod's"
		w.done(0, kubewire.Stored{})
	default:
		w.observe(w.ObservePod(pod))
		w.seen(pod)
	}
}

func observeNoJob(*kubewire.Job) events.Observation { return events.Observation{} }
func observeNoPod(*kubewire.Pod) events.Observation { return events.Observation{} }
