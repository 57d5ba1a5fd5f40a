package executor

import (
	"bytes"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// CronTemplateHash returns the hash by which the log identifies a CronJob's jobTemplate.
type CronTemplateHash func(*kubewire.CronJob) (string, error)

// keptCron is what Objects keeps of a CronJob.
type keptCron struct {
	cronJob  *kubewire.CronJob // the part of the CronJob that a write needs
	version  uint64
	template string // hash of the jobTemplate; empty until a command asks for it
}

// WithCronJobs makes o keep CronJobs, too. hash must be the function that gives the template hashes in commands.
func (o *Objects) WithCronJobs(hash CronTemplateHash) *Objects {
	o.cronHash, o.crons = hash, map[types.UID]*keptCron{}
	return o
}

// KeepCronJob stores a CronJob that was read or watched, unless it is older than the stored version. The caller must
// not change the object afterwards.
func (o *Objects) KeepCronJob(cronJob *kubewire.CronJob) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keepCronLocked(cronJob)
}

// DropCronJob removes a deleted CronJob.
func (o *Objects) DropCronJob(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.crons, uid)
}

// refreshCron stores a newer version of a CronJob, but only if the CronJob is stored already.
func (o *Objects) refreshCron(cronJob *kubewire.CronJob) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.crons[cronJob.UID] != nil {
		o.keepCronLocked(cronJob)
	}
}

func (o *Objects) keepCronLocked(cronJob *kubewire.CronJob) {
	version := versionOf(cronJob)
	known := o.crons[cronJob.UID]
	if o.crons == nil || known != nil && version < known.version {
		return
	}
	next := &keptCron{
		version: version,
		cronJob: &kubewire.CronJob{
			CronJob: batchv1.CronJob{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: cronJob.Namespace, Name: cronJob.Name, UID: cronJob.UID, Generation: cronJob.Generation,
					ResourceVersion: cronJob.ResourceVersion,
				},
				Status: cronJob.Status,
			},
			Sent: cronJob.Sent,
		},
	}
	if known != nil && known.cronJob.Sent.JSON == cronJob.Sent.JSON && bytes.Equal(known.cronJob.Sent.Spec, cronJob.Sent.Spec) {
		next.cronJob.Sent.Spec, next.template = known.cronJob.Sent.Spec, known.template
	}
	o.crons[cronJob.UID] = next
}

// cronAt returns the CronJob if the stored resourceVersion is base. Otherwise ok is false, and version is the stored
// one (0 for none). life is the epoch in which the command was issued; nothing is found if the cluster was restored to
// an earlier state since then.
func (o *Objects) cronAt(life events.Identity, uid types.UID, base uint64) (cronJob *kubewire.CronJob, version uint64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.crons[uid]
	if known == nil || o.outdatedLocked(life) {
		return nil, 0, false
	}
	return known.cronJob, known.version, known.version == base
}

// cronWithTemplate returns the CronJob uid if its jobTemplate still has this hash.
func (o *Objects) cronWithTemplate(uid types.UID, hash string) (cronJob *kubewire.CronJob, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.crons[uid]
	if known == nil {
		return nil, false
	}
	if known.template == "" {
		actual, err := o.cronHash(known.cronJob)
		if err != nil {
			return nil, false // a template that cannot be encoded cannot be sent either
		}
		known.template = actual
	}
	return known.cronJob, known.template == hash
}

// versionText formats a resourceVersion for the API; 0 gives "".
func versionText(version uint64) string {
	if version == 0 {
		return ""
	}
	return strconv.FormatUint(version, 10)
}
