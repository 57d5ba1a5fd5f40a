package users

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// Actor is the name of all users in the simulated server's log of writes.
const Actor = "user"

// Deed is a kind of user action.
type Deed string

// The user actions.
const (
	DeletePod      Deed = "delete a pod"
	StripFinalizer Deed = "strip the tracking finalizer off a pod"
	RelabelPod     Deed = "change a pod's labels so that its Job no longer selects it"
	RestoreLabels  Deed = "give a pod the labels of its Job back"
	OrphanPod      Deed = "empty a pod's owner references"
	MakeOrphan     Deed = "make a pod that nobody owns and a Job selects"
	TouchPod       Deed = "touch a pod"
	TouchJob       Deed = "touch a Job"
	DeleteJob      Deed = "delete a Job"
	RecreateJob    Deed = "create a deleted Job again"
	SuspendJob     Deed = "suspend a Job"
	ResumeJob      Deed = "resume a Job"
	ScaleJob       Deed = "change a Job's parallelism"
	ResizeJob      Deed = "change an Indexed Job's completions and parallelism"
	PauseJob       Deed = "set a Job's parallelism to 0"
	LimitJob       Deed = "change a Job's backoff limit"
	HurryJob       Deed = "change or take away a Job's deadline"
	ReplaceJob     Deed = "change when a Job's pods are replaced"
	ReindexPod     Deed = "change a pod's completion index"
	MeddleJob      Deed = "change a Job's status"
)

// Deeds lists all user actions. A change of the order would change what the seeds of older runs do.
var Deeds = []Deed{
	DeletePod, StripFinalizer, RelabelPod, RestoreLabels, OrphanPod, TouchPod, TouchJob, DeleteJob, RecreateJob, SuspendJob, ResumeJob, ScaleJob,
	MakeOrphan, ResizeJob, PauseJob, LimitJob, HurryJob, ReplaceJob, ReindexPod, MeddleJob,
}

// Config says which users a cluster has; see Users.
type Config struct {
	Server *apiserver.Server
	Rand   *rand.Rand
	// Off lists the actions that no user takes.
	Off []Deed
}

// Users acts in the name of the users of a cluster; the package comment describes how.
type Users struct {
	cfg     Config
	client  *apiserver.Client
	wanted  []*batchv1.Job // Jobs as they were first created; a deleted one may be created again
	allowed []Deed
}

// New returns Users that have created nothing yet.
func New(cfg Config) *Users {
	u := &Users{cfg: cfg, client: cfg.Server.Client(Actor)}
	for _, d := range Deeds {
		if !slices.Contains(cfg.Off, d) {
			u.allowed = append(u.allowed, d)
		}
	}
	return u
}

// Create creates a Job, and remembers it for the action RecreateJob.
func (u *Users) Create(job *batchv1.Job) (*batchv1.Job, error) {
	stored, err := u.client.CreateJob(context.Background(), job)
	if err == nil {
		u.wanted = append(u.wanted, job.DeepCopy())
	}
	return stored, err
}

// Step takes a random action that is possible now. It returns a description; "" if none is possible.
func (u *Users) Step() string {
	for _, i := range u.cfg.Rand.Perm(len(u.allowed)) {
		if what := u.Do(u.allowed[i]); what != "" {
			return what
		}
	}
	return ""
}

// Do takes this action on a random object for which it is possible. It returns a description; "" if there is no such
// object.
func (u *Users) Do(deed Deed) string {
	switch deed {
	case DeletePod, StripFinalizer, RelabelPod, RestoreLabels, OrphanPod, TouchPod, ReindexPod:
		pod := pick(u, u.cfg.Server.StoredPods(), func(p *corev1.Pod) bool { return u.fitsPod(deed, p) })
		if pod == nil {
			return ""
		}
		return told(deed, pod, u.toPod(deed, pod))
	case RecreateJob:
		job := pick(u, u.wanted, func(j *batchv1.Job) bool { return u.cfg.Server.Job(j.Namespace, j.Name) == nil })
		if job == nil {
			return ""
		}
		_, err := u.client.CreateJob(context.Background(), job)
		return told(deed, job, err)
	}
	job := pick(u, u.cfg.Server.StoredJobs(), func(j *batchv1.Job) bool { return fitsJob(deed, j) })
	if job == nil {
		return ""
	}
	return told(deed, job, u.toJob(deed, job.DeepCopy()))
}

// told describes an action. If the server refused it, for example in a terminating namespace, told adds the error.
func told(deed Deed, o metav1.Object, err error) string {
	text := fmt.Sprintf("%s: %s/%s", deed, o.GetNamespace(), o.GetName())
	if err != nil {
		text += " (refused: " + err.Error() + ")"
	}
	return text
}

// pick returns a random one of the objects for which fits is true; nil if there is none.
func pick[T any](u *Users, all []*T, fits func(*T) bool) *T {
	all = slices.DeleteFunc(slices.Clone(all), func(o *T) bool { return !fits(o) })
	if len(all) == 0 {
		return nil
	}
	return all[u.cfg.Rand.IntN(len(all))]
}

// SharedLabel is a label that tests use in the selectors of Jobs. Several Jobs have the same value.
const SharedLabel = "app"

// moved pairs each label that selectors use with the label that keeps its value after RelabelPod has removed it.
var moved = [][2]string{
	{batchv1.ControllerUidLabel, "sim.jobledger.dev/moved"}, {SharedLabel, "sim.jobledger.dev/moved-" + SharedLabel},
}

// labelled returns the first pair in moved (an original label, and the label that keeps its value) of which the pod
// has the original label (which = 0) or the other one (which = 1); nil if there is none.
func labelled(p *corev1.Pod, which int) *[2]string {
	for i := range moved {
		if p.Labels[moved[i][which]] != "" {
			return &moved[i]
		}
	}
	return nil
}

func (u *Users) fitsPod(deed Deed, p *corev1.Pod) bool {
	switch deed {
	case DeletePod:
		return p.DeletionTimestamp == nil
	case StripFinalizer:
		return slices.ContainsFunc(p.Finalizers, isTracking)
	case RelabelPod:
		return labelled(p, 0) != nil
	case RestoreLabels:
		return labelled(p, 1) != nil
	case OrphanPod:
		return len(p.OwnerReferences) > 0
	case ReindexPod:
		return p.Annotations[batchv1.JobCompletionIndexAnnotation] != ""
	}
	return true
}

func isTracking(finalizer string) bool {
	return finalizer == events.TrackingFinalizer || finalizer == events.BuiltinTrackingFinalizer
}

func (u *Users) toPod(deed Deed, p *corev1.Pod) error {
	patch := ""
	switch deed {
	case DeletePod:
		return u.client.DeletePod(context.Background(), p.Namespace, p.Name, p.UID, "")
	case TouchPod:
		u.cfg.Server.Touch(Actor, apiserver.Pods, p.Namespace, p.Name)
		return nil
	case StripFinalizer:
		patch = fmt.Sprintf(`{"metadata":{"$deleteFromPrimitiveList/finalizers":[%q,%q]}}`, events.TrackingFinalizer, events.BuiltinTrackingFinalizer)
	case RelabelPod:
		l := labelled(p, 0)
		patch = fmt.Sprintf(`{"metadata":{"labels":{%q:null,%q:%q}}}`, l[0], l[1], p.Labels[l[0]])
	case RestoreLabels:
		l := labelled(p, 1)
		patch = fmt.Sprintf(`{"metadata":{"labels":{%q:%q,%q:null}}}`, l[0], p.Labels[l[1]], l[1])
	case OrphanPod:
		patch = `{"metadata":{"ownerReferences":[{"$patch":"replace"}]}}`
	case ReindexPod:
		patch = fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, batchv1.JobCompletionIndexAnnotation, strconv.Itoa(u.cfg.Rand.IntN(5)-1))
	}
	_, err := u.client.PatchPod(context.Background(), p.Namespace, p.Name, []byte(patch))
	return err
}

func fitsJob(deed Deed, j *batchv1.Job) bool {
	isSuspended := j.Spec.Suspend != nil && *j.Spec.Suspend
	switch deed {
	case DeleteJob:
		return j.DeletionTimestamp == nil
	case MakeOrphan, PauseJob, LimitJob, HurryJob:
		return !apiserver.JobFinished(j)
	case MeddleJob:
		return !apiserver.JobFinished(j) && j.DeletionTimestamp == nil
	case ReplaceJob:
		return !apiserver.JobFinished(j) && j.Spec.PodFailurePolicy == nil
	case SuspendJob:
		return !isSuspended && !apiserver.JobFinished(j)
	case ResumeJob:
		return isSuspended
	case ScaleJob:
		return !apiserver.JobFinished(j)
	case ResizeJob:
		return !apiserver.JobFinished(j) && j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion
	}
	return true
}

func (u *Users) toJob(deed Deed, j *batchv1.Job) error {
	switch deed {
	case TouchJob:
		u.cfg.Server.Touch(Actor, apiserver.Jobs, j.Namespace, j.Name)
		return nil
	case DeleteJob:
		policies := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}
		return u.client.DeleteJob(context.Background(), j.Namespace, j.Name, j.UID, policies[u.cfg.Rand.IntN(len(policies))])
	case MakeOrphan:
		return u.makeOrphan(j)
	case SuspendJob:
		j.Spec.Suspend = new(true)
	case ResumeJob:
		j.Spec.Suspend = new(false)
	case ScaleJob:
		j.Spec.Parallelism = new(1 + u.cfg.Rand.Int32N(max(1, 2**j.Spec.Parallelism)))
	case ResizeJob:
		return u.resize(j)
	case PauseJob:
		j.Spec.Parallelism = new(int32(0))
	case LimitJob:
		j.Spec.BackoffLimit = new(u.cfg.Rand.Int32N(6))
	case HurryJob:
		was := j.Spec.ActiveDeadlineSeconds
		j.Spec.ActiveDeadlineSeconds = new(5 + u.cfg.Rand.Int64N(60))
		if was != nil && u.cfg.Rand.IntN(2) == 0 {
			j.Spec.ActiveDeadlineSeconds = nil
		}
	case ReplaceJob:
		other := map[batchv1.PodReplacementPolicy]batchv1.PodReplacementPolicy{
			batchv1.TerminatingOrFailed: batchv1.Failed, batchv1.Failed: batchv1.TerminatingOrFailed,
		}
		j.Spec.PodReplacementPolicy = new(other[*j.Spec.PodReplacementPolicy])
	case MeddleJob:
		u.meddle(j)
		_, err := u.client.UpdateJobStatus(context.Background(), j)
		return err
	}
	_, err := u.client.UpdateJob(context.Background(), j)
	return err
}

// resize changes completions and parallelism of a Job together. Sometimes it then raises the parallelism alone, before
// the controller has published the completed indexes. In that state the number of succeeded pods may not go down
// (J-212, J-236).
func (u *Users) resize(j *batchv1.Job) error {
	n := 1 + u.cfg.Rand.Int32N(*j.Spec.Completions+1)
	if n == *j.Spec.Parallelism {
		n++ // n must differ from parallelism, so that both fields change
	}
	j.Spec.Completions, j.Spec.Parallelism = &n, &n
	j, err := u.client.UpdateJob(context.Background(), j)
	if err != nil || u.cfg.Rand.IntN(3) > 0 {
		return err
	}
	j.Spec.Parallelism = new(n + 1)
	_, err = u.client.UpdateJob(context.Background(), j)
	return err
}

// makeOrphan creates a pod as a user would by copying a pod of the Job: with its labels, perhaps with an index, without
// owner and finalizer.
func (u *Users) makeOrphan(j *batchv1.Job) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: j.Namespace, GenerateName: j.Name + "-stray-", Labels: maps.Clone(j.Spec.Template.Labels),
		},
		Spec: *j.Spec.Template.Spec.DeepCopy(),
	}
	if u.cfg.Rand.IntN(2) == 0 && j.Spec.Completions != nil {
		// The highest possible value is equal to completions, which is not a valid index.
		index := strconv.Itoa(int(u.cfg.Rand.Int32N(*j.Spec.Completions + 1)))
		pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
	}
	_, err := u.client.CreatePod(context.Background(), pod)
	return err
}
