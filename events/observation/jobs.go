package observation

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// jobs observes Jobs. It reports those that this controller runs or observes. It knows all other Jobs too, because a
// pod's Job decides whether the pod is reported.
type jobs struct {
	resource[*kubewire.Job, *knownJob]
	// By namespace: managed Jobs with a user's selector that may adopt pods
	selecting map[string]map[types.UID]*knownJob
}

// knownJob is what is kept of one existing Job: the fields that decide whether its pods are reported.
type knownJob struct {
	entry
	ref events.JobRef
	// The CronJob that controlled it when last seen; empty for none, and when CronJobs are not watched
	cronJob  types.UID
	managed  bool // its observations are reported
	observed bool // it is reported, but another controller runs it
	ours     bool // its pods have our own tracking finalizer
	fromLog  bool // known from the log only; not seen yet
	ran      bool // for a Job from the log: this controller ran it
	kept     bool // it was given to the Keeper, which holds what the executor needs of it
	over     bool // it is finished or being deleted, so it adopts no pods
	podRouting

	spec     *specSeen // its spec, while that may affect its pods; nil once over is set
	print    uint64    // fingerprint of the spec of the pod compared last; 0 for none
	admitted string    // the fields in which admission changed the pod compared last, as reported
	// If the Job was in the log at the start, an earlier process may have reported such fields: report the next ones
	// even if they are equal
	unsaid bool
}

func newJobs(feed *Feed, known *Known) *jobs {
	r := &jobs{selecting: map[string]map[types.UID]*knownJob{}}
	r.resource = newResource(feed, r, events.Jobs, known.JobsVersion)
	for _, k := range known.Runs {
		r.known[k.Job.UID] = &knownJob{entry: entry{version: k.Version, told: true}, ref: k.Job, cronJob: k.CronJob, fromLog: true}
	}
	for _, k := range known.Jobs {
		r.known[k.Job.UID] = &knownJob{
			entry: entry{version: k.Version, told: true}, ref: k.Job, cronJob: k.CronJob, managed: true, fromLog: true, ran: k.Managed,
		}
	}
	return r
}

// ListJobs takes a complete and current list of Jobs with its resourceVersion. The feed takes ownership of the objects.
func (feed *Feed) ListJobs(jobs []*batchv1.Job, version string) error {
	read := make([]*kubewire.Job, len(jobs))
	for i, job := range jobs {
		var err error
		if read[i], err = kubewire.Jobs.Of(job); err != nil {
			return err
		}
	}
	return feed.jobs.takeList(read, version)
}

// JobChanged takes a Job from the watch. It ignores a version that is not newer than the last one seen.
func (feed *Feed) JobChanged(job *batchv1.Job) error {
	read, err := kubewire.Jobs.Of(job)
	if err != nil {
		return err
	}
	return feed.jobs.Changed(read)
}

// JobDeleted takes a deleted Job from the watch.
func (feed *Feed) JobDeleted(job *batchv1.Job) error {
	read, err := kubewire.Jobs.Of(job)
	if err != nil {
		return err
	}
	return feed.jobs.Deleted(read)
}

func (r *jobs) strip(job *kubewire.Job) { r.feed.stripJob(job) }

// takeLocked stores a Job, queues its observation if it is managed, and reports the pods that waited for it.
func (r *jobs) takeLocked(job *kubewire.Job, version uint64) error {
	known := r.known[job.UID]
	first := known == nil || known.fromLog
	if first {
		before := known != nil
		var err error
		if known, err = r.routingOfLocked(job); err != nil {
			return err
		}
		known.unsaid = before
		r.known[job.UID] = known
		switch {
		case !known.managed:
			r.feed.notTaken(job)
		case known.observed && r.feed.mode == events.ModeDelegated:
			r.feed.foreign(text(job.ManagedBy))
		}
	}
	known.version = version
	known.over = finished(job) || job.DeletionTimestamp != nil
	switch {
	case !known.managed || known.selector == nil:
	case known.over:
		remove(r.selecting, job.Namespace, job.UID)
	case first:
		put(r.selecting, job.Namespace, job.UID, known)
	}
	if known.managed {
		spec, err := r.specLocked(known, job)
		if err != nil {
			return err
		}
		if known.spec = spec; known.over {
			known.spec = nil
		}
		o := r.feed.observeJob(job, spec, version, known.managed)
		if !known.observed && finished(job) && job.DeletionTimestamp == nil {
			r.feed.finished(job)
		}
		r.keepLocked(known, job)
		known.cronJob = o.CronJob
		r.tellLocked(job.UID, known, o)
	} else {
		r.tellRunLocked(known, job, version)
	}
	if first {
		r.feed.pods.settleLocked(known)
	}
	return nil
}

// routingOfLocked returns the state of a new Job. Later versions of the Job cannot change it: the fields of the spec
// are immutable, and whether the Job has begun matters only at its first version (takesLocked).
func (r *jobs) routingOfLocked(job *kubewire.Job) (*knownJob, error) {
	known := &knownJob{
		ref:     refOf(job),
		managed: r.feed.takesLocked(job),
		ours:    text(job.ManagedBy) == events.ManagedBy,
	}
	known.observed = known.managed && r.feed.settings.Observes(text(job.ManagedBy))
	if known.managed {
		spec, err := r.feed.specOf(job)
		if err != nil {
			return nil, err
		}
		known.spec, known.podRouting = spec, spec.podRouting
		return known, nil
	}
	whole, err := wholeJob(job)
	if err != nil {
		return nil, err
	}
	known.podRouting, err = podRoutingOf(whole)
	return known, err
}

// podRouting is the part of a Job's spec that decides which pods are reported, and with which facts.
type podRouting struct {
	selector   labels.Selector // nil for the generated one
	conditions []string        // pod conditions in the podFailurePolicy
	containers []string        // containers in the podFailurePolicy
}

func podRoutingOf(job *batchv1.Job) (p podRouting, err error) {
	if !generatedSelector(job.Spec.Selector, job.UID) {
		if p.selector, err = metav1.LabelSelectorAsSelector(job.Spec.Selector); err != nil {
			return p, fmt.Errorf("read selector of Job %s/%s: %w", job.Namespace, job.Name, err)
		}
	}
	if policy := job.Spec.PodFailurePolicy; policy != nil {
		for _, rule := range policy.Rules {
			if codes := rule.OnExitCodes; codes != nil && codes.ContainerName != nil {
				p.containers = append(p.containers, *codes.ContainerName)
			}
			for _, c := range rule.OnPodConditions {
				p.conditions = append(p.conditions, string(c.Type))
			}
		}
	}
	return p, nil
}

func (r *jobs) keepLocked(known *knownJob, job *kubewire.Job) {
	switch {
	case known.managed && !known.observed && !finished(job):
		r.feed.keeper.KeepJob(job)
		known.kept = true
	case known.kept:
		r.feed.keeper.DropJob(known.ref.UID)
		known.kept = false
	}
}

func (r *jobs) forgetLocked(uid types.UID, known *knownJob) {
	remove(r.selecting, known.ref.Namespace, uid)
	if known.kept {
		r.feed.keeper.DropJob(uid)
	}
}

func (*jobs) gone(uid types.UID, known *knownJob, job *kubewire.Job, version uint64) events.Observation {
	if !known.managed {
		return runGone(uid, known, job == nil, version)
	}
	return events.Observation{
		Job:      known.ref,
		CronJob:  known.cronJob,
		Facts:    &events.JobGone{Version: version, Missed: job == nil},
		Evidence: events.Evidence{Namespace: known.ref.Namespace, Name: known.ref.Name},
	}
}

// outlived returns false: the queue keeps a waiting observation of a Job that was deleted meanwhile. Without the
// observation, the history of the Job could begin with its deletion.
func (*jobs) outlived(events.Facts) bool { return false }

func (r *jobs) resetLocked() { clear(r.selecting) }
