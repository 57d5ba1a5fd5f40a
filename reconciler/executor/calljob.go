package executor

import (
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// writeStatus writes the Job's status if the newest version seen is the one from which the status was computed.
// Otherwise it makes no request: the server would refuse the write or, worse, accept it and undo another client's
// change.
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

// readJob reads the Job from the API server, past any cache. If another Job has the name, the result carries that Job's
// UID.
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

// deleteJob deletes the Job after its pods, if the Job's UID and version are those in the decision (T-035, T-051).
func (w *work) deleteJob(ctx context.Context, c *events.DeleteJob) {
	w.result.Evidence.Name = w.Job.Name
	if err := w.API.DeleteJobVersion(ctx, w.Job.Namespace, w.Job.Name, c.Job, strconv.FormatUint(c.Version, 10)); err != nil {
		w.failed(err)
		return
	}
	w.done(0, kubewire.Stored{UID: c.Job})
}

// readPod looks by name for the pod that an earlier create may have made. If it ends as done without a UID, the pod
// does not exist. It also ends so if another owner's pod has the name, because then our pod was never created.
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
