package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Call is one task on its way: Do carries it out, and [Executor.Done] must be told afterwards.
type Call struct {
	Task events.Task
	// Withdrawn is set when the task is given back: Do makes no request.
	Withdrawn bool

	executor *Executor
	started  events.Time
	name     string // of the object that the command is about
}

// Do makes the requests of the task, one after the other, and says how it ended. It returns when ctx ends, at the
// latest: then what was sent is unknown. It neither waits nor tries again.
func (c *Call) Do(ctx context.Context) events.TaskResult {
	w := &work{Config: &c.executor.config, Task: &c.Task, name: c.name}
	w.result.Stream, w.result.Again = c.Task.Stream, c.Task.Again
	w.result.Ended = c.Task.Ended(0)
	w.result.Evidence.Namespace = c.Task.Job.Namespace
	ctx, end := w.Within(ctx)
	defer end()
	if c.Withdrawn || ctx.Err() != nil || !w.May() || w.Objects.outdated(w.Life) {
		w.result.Ended.Ending = events.Withdrawn
		return w.result
	}
	w.carryOut(ctx)
	if errors.Is(ctx.Err(), context.Canceled) { // a time-out is another error
		w.cancelled(context.Cause(ctx))
	}
	return w.result
}

// work is a task being carried out.
type work struct {
	*Config
	*events.Task
	name   string // see Call
	result events.TaskResult
}

// calls are how a command of each kind is carried out.
var calls = [events.MaxCommandKind + 1]func(*work, context.Context){
	events.CommandCreatePod:       with((*work).createPod),
	events.CommandDeletePod:       with((*work).deletePod),
	events.CommandDropFinalizer:   with((*work).dropFinalizer),
	events.CommandWriteStatus:     (*work).writeStatus,
	events.CommandAdoptPod:        with((*work).adoptPod),
	events.CommandReleasePod:      with((*work).releasePod),
	events.CommandReadJob:         (*work).readJob,
	events.CommandDeleteJob:       with((*work).deleteJob),
	events.CommandReadPod:         with((*work).readPod),
	events.CommandCreateWorkload:  with((*work).createWorkload),
	events.CommandCreatePodGroup:  (*work).createPodGroup,
	events.CommandFindGroup:       (*work).findGroup,
	events.CommandCreateJob:       ofCrons(with((*work).createJob)),
	events.CommandDeleteRun:       ofCrons(with((*work).deleteRun)),
	events.CommandWriteCronStatus: ofCrons(with((*work).writeCronStatus)),
	events.CommandReadCronJob:     ofCrons((*work).readCronJob),
	events.CommandReadRun:         ofCrons(with((*work).readRun)),
}

// betaCalls are how commands about groups are carried out by the rules of Kubernetes 1.37, in place of those of 1.36.
var betaCalls = [events.MaxCommandKind + 1]func(*work, context.Context){
	events.CommandCreateWorkload: with((*work).makeWorkload),
	events.CommandCreatePodGroup: (*work).makePodGroup,
	events.CommandFindGroup:      (*work).findBetaGroup,
	events.CommandResizeGroup:    with((*work).resizeGroup),
}

// with passes the command to a call that needs to know what it asks for.
func with[C events.Command](call func(*work, context.Context, C)) func(*work, context.Context) {
	return func(w *work, ctx context.Context) { call(w, ctx, w.Command.(C)) }
}

// ofCrons refuses a call where CronJobs are not run.
func ofCrons(call func(*work, context.Context)) func(*work, context.Context) {
	return func(w *work, ctx context.Context) {
		if w.Crons == nil {
			w.refuse(events.RefusedInvalid, "CronJobs are not run here")
			return
		}
		call(w, ctx)
	}
}

func (w *work) carryOut(ctx context.Context) {
	traits := w.Command.Traits()
	call := calls[traits.Kind]
	if beta := betaCalls[traits.Kind]; beta != nil && w.Workloads != nil {
		call = beta
	}
	if call == nil {
		w.refuse(events.RefusedInvalid, fmt.Sprintf("a %s is not carried out here", traits.Name))
		return
	}
	call(w, ctx)
}

// createPod makes a pod under the name that the command's ordinal gives it, so that one who tries twice meets himself.
func (w *work) createPod(ctx context.Context, c *events.CreatePod) {
	job, ok := w.Objects.withTemplate(w.Job.UID, c.Template)
	w.result.Evidence.Name = w.name
	if !ok {
		w.refuse(events.RefusedTemplate, "the Job's pod template is not the one that was decided on, or not known any more")
		return
	}
	pod, err := w.podOf(job, c)
	if err != nil {
		w.refuse(events.RefusedInvalid, err.Error())
		return
	}
	created, err := w.API.CreatePod(ctx, job.Namespace, pod)
	if err == nil {
		w.stored(events.Pods, created)
		return
	}
	if w.failed(err); w.result.Ended.Class == events.RefusedNameTaken {
		w.meet(ctx, c)
	}
}

// podOf is the pod that a create asks for, in protobuf.
func (w *work) podOf(job *kubewire.Job, c *events.CreatePod) ([]byte, error) {
	pod, err := newPod(job, w.name, w.Life, w.ManagedBy, w.PodGroup, c)
	if err != nil {
		return nil, err
	}
	for name, value := range w.termAnnotation() {
		pod.Annotations = append(pod.Annotations, kubewire.Pair{Name: name, Value: value})
	}
	if w.Seal != nil {
		seal := w.Seal(pod.Namespace, w.Life.CommandOf(job.UID, c.Ordinal))
		pod.Annotations = append(pod.Annotations, kubewire.Pair{Name: events.SealAnnotation, Value: seal})
	}
	return pod.Encode()
}

// termAnnotation is what all that is created bears beside its own annotations.
func (c *Config) termAnnotation() map[string]string {
	if c.Term == 0 {
		return nil
	}
	return map[string]string{events.TermAnnotation: strconv.FormatUint(c.Term, 10)}
}

// meet finds out whose pod has the name: the Job's own, of an earlier try, means done.
func (w *work) meet(ctx context.Context, c *events.CreatePod) {
	pod, err := w.API.FindPod(ctx, w.Job.Namespace, w.result.Evidence.Name)
	switch {
	case err != nil: // it may have been ours
		w.failed(err)
		w.result.Ended.Ending, w.result.Ended.Class, w.result.Ended.Sent = events.OutcomeUnknown, 0, true
	case isOurs(pod, w.Life, w.Job, c.Ordinal):
		w.result.Evidence.Reason, w.result.Evidence.Message = "", ""
		w.observe(w.ObservePod(pod))
		w.seen(pod)
	}
}

func (w *work) deletePod(ctx context.Context, c *events.DeletePod) {
	if !w.named(c.Pod) {
		return
	}
	if err := w.API.DeletePod(ctx, w.Job.Namespace, w.Pod.Name, c.Pod, ""); err != nil {
		w.failed(err)
		return
	}
	w.done(0, kubewire.Stored{UID: c.Pod})
}

func (w *work) patchPod(ctx context.Context, patch *podPatch) {
	if !w.named(patch.Metadata.UID) {
		return
	}
	body, err := json.Marshal(patch)
	if err != nil {
		w.refuse(events.RefusedInvalid, err.Error())
		return
	}
	pod, err := w.API.PatchPod(ctx, w.Job.Namespace, w.Pod.Name, body)
	if err != nil {
		w.failed(err)
		return
	}
	w.done(events.Pods, pod)
}

// named reports whether it is known which pod the command is about. It never guesses: a wrong name would be taken for a
// pod that is gone.
func (w *work) named(uid types.UID) bool {
	w.result.Evidence.Name = w.Pod.Name
	if w.Pod.Name == "" || w.Pod.UID != uid || uid == "" {
		w.refuse(events.RefusedInvalid, fmt.Sprintf("the name of pod %s is not known", uid))
		return false
	}
	return true
}

// done ends the task as confirmed: so the object is afterwards. Its resource is 0 for one that is not watched, and when
// nothing is known of a new version.
func (w *work) done(of events.Resource, o kubewire.Stored) {
	e := &w.result.Ended
	e.Ending, e.Class, e.RetryAfter, e.Sent = events.Done, 0, 0, true
	e.UID, e.Version = o.UID, o.Version
	if of != 0 {
		_, dropped := w.Command.(*events.DropFinalizer)
		w.Wrote(w.Life, of, e.UID, e.Version, dropped)
	}
}

// seen ends the task as confirmed: this is the object, as it was read.
func (w *work) seen(o metav1.Object) {
	of := events.Pods
	if _, is := o.(*kubewire.Job); is {
		of = events.Jobs
	}
	w.done(of, kubewire.StoredOf(o))
}

// stored ends the task as confirmed by a write that the server has just stored.
func (w *work) stored(of events.Resource, o kubewire.Stored) {
	w.done(of, o)
	if w.Mode == events.ModeAll && !o.Written.IsZero() {
		w.result.Ended.Written = events.At(o.Written)
	}
}

// failed ends the task as the error says.
func (w *work) failed(err error) {
	v := verdictOf(err)
	e := &w.result.Ended
	e.Ending, e.Class, e.RetryAfter, e.Sent, e.Over = v.ending, v.class, v.retryAfter, v.sent, v.over
	w.result.Evidence.Reason, w.result.Evidence.Message = v.reason, v.message
}

// cancelled is called when we ended the call ourselves: for a stop, or because the Lease may be another's now. What the
// client then says of the connection is no failure that users should hear of. A call that ended by an answer stays as
// it is.
func (w *work) cancelled(why error) {
	e, said := &w.result.Ended, &w.result.Evidence
	switch {
	case e.Ending == events.OutcomeUnknown:
	case e.Ending == events.Refused && e.Class == events.RefusedServer && !e.Sent: // the connection was still being made
		e.Ending, e.Class = events.Withdrawn, 0
	default:
		return
	}
	said.Reason, said.Message, said.Sentence = "", "", "cancelled: "+why.Error()
}

// refuse ends the task without a request. The sentence says why.
func (w *work) refuse(class events.RefusalClass, sentence string) {
	w.result.Ended.Ending, w.result.Ended.Class = events.Refused, class
	w.result.Evidence.Sentence = sentence
}

// observe adds what was read to the result, so that it comes before the ending in the log.
func (w *work) observe(o events.Observation) {
	if o.Facts != nil {
		w.result.Observations = append(w.result.Observations, o)
	}
}
