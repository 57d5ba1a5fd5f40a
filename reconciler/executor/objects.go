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
// conditions at the newest version seen. It stores CronJobs, too. The informer calls its Keep and Drop methods.
type Objects struct {
	hash     TemplateHash
	cronHash CronTemplateHash

	mu    sync.Mutex
	jobs  map[types.UID]*kept
	crons map[types.UID]*keptCron // nil if CronJobs are not run
	life  events.Identity         // epoch of the log since the last restore of the cluster; zero if there was none
}

// kept is what Objects keeps of a Job. It is never changed, so it may be read without the lock.
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

// Reset removes all objects, because the cluster was restored to an earlier state. Otherwise KeepJob would ignore the
// lower versions for ever. life is the log's new epoch (its life since this restore); commands of earlier epochs are no
// longer carried out.
func (o *Objects) Reset(life events.Identity) {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.jobs)
	clear(o.crons)
	o.life = life
}

// outdated reports whether the cluster was restored to an earlier state after a command was issued. life is the epoch
// of the log in which it was issued.
func (o *Objects) outdated(life events.Identity) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.outdatedLocked(life)
}

func (o *Objects) outdatedLocked(life events.Identity) bool { return life.Epoch < o.life.Epoch }

// refresh stores a newer version of a Job, but only if the Job is stored already.
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
	// If the spec is unchanged, keep the known one, and the hash of its template. Compare the specs themselves, because
	// an equal generation proves nothing: if two API servers have different versions, the older one may drop a field of
	// the spec without changing the generation.
	if known != nil && bytes.Equal(known.job.Spec, job.Spec) {
		next.job.Spec, next.template = known.job.Spec, known.template
	}
	o.jobs[job.UID] = next
}

// at returns the Job uid if the stored resourceVersion is exactly base. Otherwise ok is false, and version is the
// stored one (0 for none). life is the epoch in which the command was issued: if the cluster was restored to an earlier
// state since then, versions repeat, so nothing is found. The Job is shared and must not be changed.
func (o *Objects) at(life events.Identity, uid types.UID, base uint64) (job *kubewire.Job, version uint64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.jobs[uid]
	if known == nil || o.outdatedLocked(life) {
		return nil, 0, false
	}
	return known.job, known.version, known.version == base
}

// withTemplate returns the Job uid if its pod template still has this hash. The Job is shared and must not be changed.
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
