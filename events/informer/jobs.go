package informer

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// jobs says what is seen of Jobs: those that this controller runs are told, and all of them decide where pods belong.
type jobs struct {
	resource[*kubewire.Job, *knownJob]
	selecting map[string]map[types.UID]*knownJob // by namespace: the managed Jobs with a selector of the user's that adopt pods
}

// knownJob is what routing needs of a Job that exists.
type knownJob struct {
	entry
	ref      events.JobRef
	cronJob  types.UID // the CronJob whose Job it was seen last to be; empty for none, and where CronJobs are not watched
	managed  bool      // it is told
	observed bool      // it is only looked at
	ours     bool      // its pods carry our own tracking finalizer
	fromLog  bool      // known from the log only: not seen yet
	ran      bool      // of those: the controller ran it
	kept     bool      // the keeper has it
	over     bool      // it is finished or being deleted: it adopts no pods any more
	podRouting

	spec     *specSeen // its spec, while it may change what its pods are; nil once it is over
	print    uint64    // of the spec of the pod that was compared with its template last; 0 for none
	admitted string    // the fields in which that pod differed from it, as they were told
	unsaid   bool      // it is not known what was told last: the log was begun by a run before
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

// ListJobs takes a whole list of Jobs that is of the newest state, as of a version.
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

// JobChanged takes a Job from the watch. What is not newer than what was seen is passed over.
func (feed *Feed) JobChanged(job *batchv1.Job) error {
	read, err := kubewire.Jobs.Of(job)
	if err != nil {
		return err
	}
	return feed.jobs.changed(read)
}

// JobDeleted takes a Job that the watch says was deleted.
func (feed *Feed) JobDeleted(job *batchv1.Job) error {
	read, err := kubewire.Jobs.Of(job)
	if err != nil {
		return err
	}
	return feed.jobs.deleted(read)
}

func (*jobs) access(client kubernetes.Interface, namespace string) access {
	api := client.BatchV1().Jobs(namespace)
	return reading(kubewire.Jobs, client.BatchV1().RESTClient(), namespace, "jobs", accessTo(&batchv1.Job{}, api.List, api.Watch))
}

func (r *jobs) strip(job *kubewire.Job) { r.feed.stripJob(job) }

// takeLocked remembers a Job, queues its observation when it is managed, and settles the pods that waited for it.
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

// routingOfLocked takes from a Job what decides about its pods. All of it is immutable, but for whether a Job has
// begun, which is asked once.
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

// podRouting is what a Job's spec says of pods that are routed.
type podRouting struct {
	selector   labels.Selector // nil for the generated one
	conditions []string        // the pod conditions that the podFailurePolicy names
	containers []string        // the containers that it names
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

// outlived: the history of a Job never begins with its end.
func (*jobs) outlived(events.Facts) bool { return false }

func (r *jobs) resetLocked() { clear(r.selecting) }
