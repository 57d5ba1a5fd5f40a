package observation

import (
	"bytes"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/trigger"
	"github.com/jobledger/jobledger/internal/subject/zones"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// cronJobs observes CronJobs. It reports all of them. It gives those that this controller runs to the Keeper, which
// holds their templates for the executor.
type cronJobs struct {
	resource[*kubewire.CronJob, *knownCronJob]
	zones map[string]zones.Rules // cache by zone name; Rules.Name is empty if the database lacks the zone
}

// knownCronJob is the state of one existing CronJob.
type knownCronJob struct {
	entry
	ref  events.JobRef
	kept bool // it was given to the Keeper, which holds its jobTemplate for the executor
}

func newCronJobs(feed *Feed, known *Known) *cronJobs {
	r := &cronJobs{zones: map[string]zones.Rules{}}
	r.resource = newResource(feed, r, events.CronJobs, known.CronJobsVersion)
	for _, k := range known.CronJobs {
		r.known[k.CronJob.UID] = &knownCronJob{entry: entry{version: k.Version, told: true}, ref: k.CronJob}
	}
	return r
}

// ListCronJobs takes a complete and current list of CronJobs with its resourceVersion. The feed takes ownership of the
// objects.
func (feed *Feed) ListCronJobs(cronJobs []*batchv1.CronJob, version string) error {
	read := make([]*kubewire.CronJob, len(cronJobs))
	for i, cronJob := range cronJobs {
		var err error
		if read[i], err = kubewire.CronJobs.Of(cronJob); err != nil {
			return err
		}
	}
	return feed.cronJobs.takeList(read, version)
}

// CronJobChanged takes a CronJob from the watch. It ignores a version that is not newer than the last one seen.
func (feed *Feed) CronJobChanged(cronJob *batchv1.CronJob) error {
	read, err := kubewire.CronJobs.Of(cronJob)
	if err != nil {
		return err
	}
	return feed.cronJobs.Changed(read)
}

// CronJobDeleted takes a deleted CronJob from the watch.
func (feed *Feed) CronJobDeleted(cronJob *batchv1.CronJob) error {
	read, err := kubewire.CronJobs.Of(cronJob)
	if err != nil {
		return err
	}
	return feed.cronJobs.Deleted(read)
}

// strip reduces the managed fields of a CronJob to the entries that changed the spec, and, without their fields, the
// entries that wrote the trigger annotation. It keeps the rest of the object, because a status write sends it back.
func (r *cronJobs) strip(cronJob *kubewire.CronJob) {
	var kept []metav1.ManagedFieldsEntry
	for _, e := range cronJob.ManagedFields {
		if e.Subresource == "" && (e.FieldsV1 == nil || bytes.Contains(e.FieldsV1.GetRawBytes(), triggerKey)) {
			kept = append(kept, metav1.ManagedFieldsEntry{Manager: e.Manager, Time: e.Time})
		}
	}
	cronJob.ManagedFields = append(kept, r.feed.editors.strip(cronJob.ManagedFields)...)
}

// triggerKey is the key of the trigger annotation in managed fields.
var triggerKey = []byte(`"f:` + trigger.Annotation + `"`)

func (r *cronJobs) takeLocked(cronJob *kubewire.CronJob, version uint64) error {
	known := r.known[cronJob.UID]
	if known == nil {
		known = &knownCronJob{ref: cronRef(cronJob)}
		r.known[cronJob.UID] = known
	}
	known.version = version
	o, err := r.observeLocked(cronJob, version)
	if err != nil {
		return err
	}
	if r.feed.mode == events.ModeAll {
		r.feed.keeper.KeepCronJob(cronJob)
		known.kept = true
	}
	r.tellLocked(cronJob.UID, known, o)
	return nil
}

func (r *cronJobs) forgetLocked(uid types.UID, known *knownCronJob) {
	if known.kept {
		r.feed.keeper.DropCronJob(uid)
	}
}

func (*cronJobs) gone(_ types.UID, known *knownCronJob, cronJob *kubewire.CronJob, version uint64) events.Observation {
	return events.Observation{
		Job:      known.ref,
		Facts:    &events.CronJobGone{Version: version, Missed: cronJob == nil},
		Evidence: events.Evidence{Namespace: known.ref.Namespace, Name: known.ref.Name},
	}
}

// outlived returns false: the queue keeps a waiting observation of a CronJob that was deleted meanwhile. Without the
// observation, the history of the CronJob could begin with its deletion.
func (*cronJobs) outlived(events.Facts) bool { return false }

func (*cronJobs) resetLocked() {}

func cronRef(cronJob *kubewire.CronJob) events.JobRef {
	return events.JobRef{Namespace: cronJob.Namespace, Name: cronJob.Name, UID: cronJob.UID}
}
