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

// Call is one task that Next has returned: a command that is to be sent to the API server. Call Do to carry it out,
// then [Executor.Done].
type Call struct {
	Task events.Task
	// Withdrawn is set if the command was withdrawn before a request was made. Do then makes none.
	Withdrawn bool

	executor *Executor
	started  events.Time
	name     string // name of the object that the command is about
}

// Do makes the requests of the task one after the other, and returns the outcome. It returns at the latest when ctx
// ends; the outcome of a request in flight is then unknown. It does not wait or retry.
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
	// If this process cancelled the call, correct the outcome. A timeout gives another error, DeadlineExceeded
	if errors.Is(ctx.Err(), context.Canceled) {
		w.cancelled(context.Cause(ctx))
	}
	return w.result
}

// work is the state of a Call while Do carries it out.
type work struct {
	*Config
	*events.Task
	name   string // same as Call.name
	result events.TaskResult
}

// calls maps each command kind to the function that carries it out.
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

// betaCalls has the entries that replace those of the variable calls for gang scheduling in Kubernetes 1.37
// (scheduling.k8s.io/v1beta1).
var betaCalls = [events.MaxCommandKind + 1]func(*work, context.Context){
	events.CommandCreateWorkload: with((*work).makeWorkload),
	events.CommandCreatePodGroup: (*work).makePodGroup,
	events.CommandFindGroup:      (*work).findBetaGroup,
	events.CommandResizeGroup:    with((*work).resizeGroup),
}

// with adapts a function for one type of command to the function type of the variable calls.
func with[C events.Command](call func(*work, context.Context, C)) func(*work, context.Context) {
	return func(w *work, ctx context.Context) { call(w, ctx, w.Command.(C)) }
}

// ofCrons wraps a function for a command about CronJobs. If the Config has no CronAPI, the command is refused.
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

// createPod creates a pod. The pod's name follows from the command's ordinal, so a repeated create finds the pod of an
// earlier one instead of making a second pod.
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

// podOf returns the pod that command c creates, encoded in protobuf. job has the pod template.
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

// termAnnotation returns the annotation, with the term (number of the log's writer), that created pods, Workloads and
// PodGroups get.
func (c *Config) termAnnotation() map[string]string {
	if c.Term == 0 {
		return nil
	}
	return map[string]string{events.TermAnnotation: strconv.FormatUint(c.Term, 10)}
}

// meet handles the error of a create whose pod name is taken. If the existing pod comes from an earlier request for
// this command, the create is done.
func (w *work) meet(ctx context.Context, c *events.CreatePod) {
	pod, err := w.API.FindPod(ctx, w.Job.Namespace, w.result.Evidence.Name)
	switch {
	case err != nil: // the pod may be of this command, so the outcome is unknown
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

// named reports whether the command names its pod, and is about the pod with this UID. If not, it refuses the command:
// with a wrong name, the answer NotFound would make the pod look deleted.
func (w *work) named(uid types.UID) bool {
	w.result.Evidence.Name = w.Pod.Name
	if w.Pod.Name == "" || w.Pod.UID != uid || uid == "" {
		w.refuse(events.RefusedInvalid, fmt.Sprintf("the name of pod %s is not known", uid))
		return false
	}
	return true
}

// done ends the task with success. o is the object after it, of its resource. of is 0 if that resource is not watched,
// or if the object's new version is unknown.
func (w *work) done(of events.Resource, o kubewire.Stored) {
	e := &w.result.Ended
	e.Ending, e.Class, e.RetryAfter, e.Sent = events.Done, 0, 0, true
	e.UID, e.Version = o.UID, o.Version
	if of != 0 {
		_, dropped := w.Command.(*events.DropFinalizer)
		w.Wrote(w.Life, of, e.UID, e.Version, dropped)
	}
}

// seen ends the task with success. o is the pod or Job that was read.
func (w *work) seen(o metav1.Object) {
	of := events.Pods
	if _, is := o.(*kubewire.Job); is {
		of = events.Jobs
	}
	w.done(of, kubewire.StoredOf(o))
}

// stored ends the task with success. o is the object as the server has just stored it, of its resource.
func (w *work) stored(of events.Resource, o kubewire.Stored) {
	w.done(of, o)
	if w.Mode == events.ModeAll && !o.Written.IsZero() {
		w.result.Ended.Written = events.At(o.Written)
	}
}

// failed ends the task with the outcome that follows from the request's error (verdictOf).
func (w *work) failed(err error) {
	v := verdictOf(err)
	e := &w.result.Ended
	e.Ending, e.Class, e.RetryAfter, e.Sent, e.Over = v.ending, v.class, v.retryAfter, v.sent, v.over
	w.result.Evidence.Reason, w.result.Evidence.Message = v.reason, v.message
}

// cancelled adjusts the outcome of a call that this process cancelled, because it stops or may have lost the Lease. It
// replaces the client's connection error, which would mislead users. A call that got an answer keeps its outcome.
func (w *work) cancelled(why error) {
	e, said := &w.result.Ended, &w.result.Evidence
	switch {
	case e.Ending == events.OutcomeUnknown:
	// If there was no connection yet, the request was never sent
	case e.Ending == events.Refused && e.Class == events.RefusedServer && !e.Sent:
		e.Ending, e.Class = events.Withdrawn, 0
	default:
		return
	}
	said.Reason, said.Message, said.Sentence = "", "", "cancelled: "+why.Error()
}

// refuse ends the task as refused, without a request. sentence tells users why.
func (w *work) refuse(class events.RefusalClass, sentence string) {
	w.result.Ended.Ending, w.result.Ended.Class = events.Refused, class
	w.result.Evidence.Sentence = sentence
}

// observe adds an observation (what a request has shown of an object) to the result. The log gets it before the outcome
// of the command.
func (w *work) observe(o events.Observation) {
	if o.Facts != nil {
		w.result.Observations = append(w.result.Observations, o)
	}
}
