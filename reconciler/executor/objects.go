package executor

import (
	"bytes"
	"strconv"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// TemplateHash returns the hash by which the log identifies a Job's pod template.
type TemplateHash func(*kubewire.Job) (string, error)

// Objects stores what a write to a Job needs and the log does not hold: for each unfinished Job its metadata, spec and
// conditions at the newest observed version. It stores CronJobs, too. The informer fills it through its Keeper
// interface.
type Objects struct {
	hash     TemplateHash
	cronHash CronTemplateHash

	mu    sync.Mutex
	jobs  map[types.UID]*kept
	crons map[types.UID]*keptCron // nil if CronJobs are not run
	life  events.Identity         // epoch that began with the newest rewind; zero if there was none
}

// kept is the stored copy of a Job. The object is immutable, so it may be read without the lock.
type kept struct {
	job      *kubewire.Job // the part that a write needs
	version  uint64
	template string // hash of the pod template; empty until needed
}

// NewObjects returns an empty Objects. hash must be the function that gives the template hashes in commands.
func NewObjects(hash TemplateHash) *Objects {
	return &Objects{hash: hash, jobs: map[types.UID]*kept{}}
}

// KeepJob stores a Job that was read or watched, unless it is older than the stored version. The caller must not change
// the object afterwards.
func (o *Objects) KeepJob(job *kubewire.Job) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keepLocked(job)
}

// DropJob removes a finished or deleted Job, which gets no more pods or status writes.
func (o *Objects) DropJob(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.jobs, uid)
}

// Reset removes all objects after the cluster was restored to an earlier state (a rewind). Otherwise KeepJob would
// ignore the lower versions for ever. life is the log's new epoch; commands of earlier epochs are no longer carried
// out.
func (o *Objects) Reset(life events.Identity) {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.jobs)
	clear(o.crons)
	o.life = life
}

// outdated reports whether a command was issued before the newest rewind of the cluster, by its epoch.
func (o *Objects) outdated(life events.Identity) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.outdatedLocked(life)
}

func (o *Objects) outdatedLocked(life events.Identity) bool { return life.Epoch < o.life.Epoch }

// refresh stores a newer version of a Job, if an earlier version is still stored.
func (o *Objects) refresh(job *kubewire.Job) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.jobs[job.UID] != nil {
		o.keepLocked(job)
	}
}

func (o *Objects) keepLocked(job *kubewire.Job) {
	version := versionOf(job)
	known := o.jobs[job.UID]
	if known != nil && version < known.version {
		return
	}
	next := &kept{
		version: version,
		job: &kubewire.Job{
			ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name, UID: job.UID, Generation: job.Generation, ResourceVersion: job.ResourceVersion},
			Status:     batchv1.JobStatus{Conditions: job.Status.Conditions}, BackoffLimitPerIndex: job.BackoffLimitPerIndex,
			Metadata: job.Metadata, Spec: job.Spec,
		},
	}
	// The generation would be no proof: if two API servers have different versions, the older one may drop a field of
	// the spec without changing the generation.
	if known != nil && bytes.Equal(known.job.Spec, job.Spec) {
		next.job.Spec, next.template = known.job.Spec, known.template
	}
	o.jobs[job.UID] = next
}

// at returns the Job if the stored version is exactly base. Otherwise ok is false, and version is the stored one (0 for
// none). life is the epoch of the command: after a rewind of the cluster versions repeat, so a command of an earlier
// epoch finds nothing. The object is shared and must not be changed.
func (o *Objects) at(life events.Identity, uid types.UID, base uint64) (job *kubewire.Job, version uint64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.jobs[uid]
	if known == nil || o.outdatedLocked(life) {
		return nil, 0, false
	}
	return known.job, known.version, known.version == base
}

// withTemplate returns the Job if its pod template still has this hash. The object is shared and must not be changed.
func (o *Objects) withTemplate(uid types.UID, hash string) (job *kubewire.Job, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.jobs[uid]
	if known == nil {
		return nil, false
	}
	if known.template == "" {
		actual, err := o.hash(known.job)
		if err != nil {
			return nil, false // a template that cannot be encoded cannot be sent either
		}
		known.template = actual
	}
	return known.job, known.template == hash
}

// versionOf returns the object's resourceVersion as a number; 0 if it is not a number.
func versionOf(o metav1.Object) uint64 {
	v, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return v
}
