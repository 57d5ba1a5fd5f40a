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

// TemplateHash names the content of a Job's pod template, as the log does.
type TemplateHash func(*kubewire.Job) (string, error)

// Objects keeps of every unfinished Job what the log does not hold and a write needs: its metadata, spec and conditions
// at the newest version that was seen; of a CronJob all. It is the informer's Keeper.
type Objects struct {
	hash     TemplateHash
	cronHash CronTemplateHash

	mu    sync.Mutex
	jobs  map[types.UID]*kept
	crons map[types.UID]*keptCron // nil where CronJobs are not kept
	life  events.Identity         // of the log, since the newest rewind; zero when there was none
}

// kept is one Job. The object is never changed, so it may be read without the lock.
type kept struct {
	job      *kubewire.Job // what a write needs of it
	version  uint64
	template string // hash of the pod template; empty until it is asked for
}

// NewObjects keeps nothing yet. hash is the function by which pod templates are named in commands.
func NewObjects(hash TemplateHash) *Objects {
	return &Objects{hash: hash, jobs: map[types.UID]*kept{}}
}

// KeepJob takes a Job as it was read or watched. An older version than the one that is kept is passed over. The object
// must not be changed afterwards.
func (o *Objects) KeepJob(job *kubewire.Job) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keepLocked(job)
}

// DropJob forgets a Job: it is finished or gone, and gets no more pods or status writes.
func (o *Objects) DropJob(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.jobs, uid)
}

// Reset forgets everything: the cluster was proven to be behind what was seen of it, and KeepJob would pass over its
// versions for ever. The log's life is another from here on: commands of those before are not carried out any more.
func (o *Objects) Reset(life events.Identity) {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.jobs)
	clear(o.crons)
	o.life = life
}

// outdated reports whether a command was decided in a life of the log before the newest rewind.
func (o *Objects) outdated(life events.Identity) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.outdatedLocked(life)
}

func (o *Objects) outdatedLocked(life events.Identity) bool { return life.Epoch < o.life.Epoch }

// refresh takes a newer version of a Job that is kept. One that is not stays unknown: it was dropped meanwhile.
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
	// Not the generation says whether the spec is the same: of two API servers of different versions one may not know a
	// field of it.
	if known != nil && bytes.Equal(known.job.Spec, job.Spec) {
		next.job.Spec, next.template = known.job.Spec, known.template
	}
	o.jobs[job.UID] = next
}

// at is the Job exactly at that version; when it is kept at another, or not at all, ok is false and version says which
// (0 for none). After a rewind versions come again: what was decided before it finds nothing. The object is shared: it
// must not be changed.
func (o *Objects) at(life events.Identity, uid types.UID, base uint64) (job *kubewire.Job, version uint64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.jobs[uid]
	if known == nil || o.outdatedLocked(life) {
		return nil, 0, false
	}
	return known.job, known.version, known.version == base
}

// withTemplate is the Job when its pod template is still the one with that hash. The object is shared: it must not be
// changed.
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

// versionOf is the object's resourceVersion as a number; 0 when it is none.
func versionOf(o metav1.Object) uint64 {
	v, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return v
}
