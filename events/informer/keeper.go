package informer

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Keeper keeps what making pods needs of a Job and the log does not hold: its metadata and its pod template; likewise
// of a CronJob, to make Jobs. Its methods are called while the informer holds its lock: they return at once and do not
// call back.
type Keeper interface {
	// KeepJob is told every managed, unfinished Job before its observation is delivered. The object is the keeper's
	// to read for as long as it likes, and nobody's to change.
	KeepJob(job *kubewire.Job)
	// DropJob is told that the Job is finished or gone: it gets no more pods.
	DropJob(uid types.UID)
	// KeepCronJob is told every CronJob that this controller runs, at each version, on the same terms.
	KeepCronJob(cronJob *kubewire.CronJob)
	// DropCronJob is told that the CronJob is gone.
	DropCronJob(uid types.UID)
	// Reset is told that the cluster went back, and in which life of the log it is read anew: all that the keeper has is
	// of a past that the cluster does not have.
	Reset(life events.Identity)
}

type nobody struct{}

func (nobody) KeepJob(*kubewire.Job)         {}
func (nobody) DropJob(types.UID)             {}
func (nobody) KeepCronJob(*kubewire.CronJob) {}
func (nobody) DropCronJob(types.UID)         {}
func (nobody) Reset(events.Identity)         {}

// Known is what the log believes to exist when the informer starts. What is missing from the first list is told as
// gone; without it the informer cannot tell, for it saw nothing of the objects that vanished while nobody watched.
type Known struct {
	Jobs []KnownJob
	Pods []KnownPod
	// JobsVersion and PodsVersion are the newest resourceVersions that the log has seen of each resource. A list that
	// is older is asked for again, without a version; such a list is believed, because it can only mean a rewind.
	JobsVersion, PodsVersion, CronJobsVersion uint64

	CronJobs []KnownCronJob
	Runs     []KnownRun
}

// KnownJob is a Job that the log believes to exist.
type KnownJob struct {
	Job     events.JobRef
	Version uint64
	Managed bool      // the controller ran it
	CronJob types.UID // whose Job it is; empty for none
}

// KnownCronJob is a CronJob that the log believes to exist.
type KnownCronJob struct {
	CronJob events.JobRef
	Version uint64
}

// KnownRun is a Job that a CronJob believes to exist, and of which the log has nothing else.
type KnownRun struct {
	Job     events.JobRef
	Version uint64
	CronJob types.UID
}

// KnownPod is a pod that the log believes to exist.
type KnownPod struct {
	UID       types.UID
	Namespace string
	Owner     events.JobRef // the Job it was last seen to belong to; zero for none
	Version   uint64
}
