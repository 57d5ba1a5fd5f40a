package observation

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Keeper holds what the executor needs and the log does not have: the metadata and the pod template of Jobs, from which
// pods are made, and CronJobs, from which Jobs are made. The feed calls its methods with its lock held: they must
// return at once and must not call the feed.
type Keeper interface {
	// KeepJob gets each version of a managed, unfinished Job before its observation is delivered. The keeper may keep
	// the object for ever, but must not change it.
	KeepJob(job *kubewire.Job)
	// DropJob reports that the Job is finished or deleted: it gets no more pods.
	DropJob(uid types.UID)
	// KeepCronJob gets each version of a CronJob that this controller runs, with the same rules as KeepJob.
	KeepCronJob(cronJob *kubewire.CronJob)
	// DropCronJob reports that the CronJob is deleted.
	DropCronJob(uid types.UID)
	// Reset reports a rewind of the cluster, and the new life of the log. The keeper must forget everything, since it
	// is from a past that the cluster no longer has.
	Reset(life events.Identity)
}

type nobody struct{}

func (nobody) KeepJob(*kubewire.Job)         {}
func (nobody) DropJob(types.UID)             {}
func (nobody) KeepCronJob(*kubewire.CronJob) {}
func (nobody) DropCronJob(types.UID)         {}
func (nobody) Reset(events.Identity)         {}

// Known holds the objects that exist according to the log when the informer starts. The feed reports a known object
// as deleted if the first list lacks it. It could not detect such deletions otherwise.
type Known struct {
	Jobs []KnownJob
	Pods []KnownPod
	// JobsVersion, PodsVersion and CronJobsVersion are the newest resourceVersions that the log has of each resource.
	// If a list is older, the informer requests the newest state; it accepts an older answer to that, because only a
	// rewind explains it.
	JobsVersion, PodsVersion, CronJobsVersion uint64

	CronJobs []KnownCronJob
	Runs     []KnownRun
}

// KnownJob is a Job that exists according to the log.
type KnownJob struct {
	Job     events.JobRef
	Version uint64
	Managed bool      // the controller ran it
	CronJob types.UID // the CronJob that controls it; empty for none
}

// KnownCronJob is a CronJob that exists according to the log.
type KnownCronJob struct {
	CronJob events.JobRef
	Version uint64
}

// KnownRun is a Job that exists according to the stream of its CronJob, and has no stream of its own.
type KnownRun struct {
	Job     events.JobRef
	Version uint64
	CronJob types.UID
}

// KnownPod is a pod that exists according to the log.
type KnownPod struct {
	UID       types.UID
	Namespace string
	Owner     events.JobRef // its Job when last seen; zero for none
	Version   uint64
}
