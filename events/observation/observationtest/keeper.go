package observationtest

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Keeper is an observation.Keeper that writes down what it is told. The zero value is ready to use. Any goroutine may
// call its methods.
type Keeper struct {
	mu   sync.Mutex
	kept map[types.UID]bool // Jobs that were ever kept in this life of the log
	log  []string
}

// Lacks reports whether an observation is of a Job that needs to be kept, and was not. Such a Job is reported too early.
func (k *Keeper) Lacks(o events.Observation) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	seen, ok := o.Facts.(*events.JobSeen)
	return ok && seen.Managed && !finishedStatus(seen.Status) && !k.kept[o.Job.UID]
}

func finishedStatus(s *events.JobStatus) bool {
	for _, c := range s.Conditions {
		if (c.Type == "Complete" || c.Type == "Failed") && c.Status == "True" {
			return true
		}
	}
	return false
}

// Log returns what the keeper was told, a line for each call.
func (k *Keeper) Log() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.log)
}

// KeepJob is described by observation.Keeper.
func (k *Keeper) KeepJob(job *kubewire.Job) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = map[types.UID]bool{}
	}
	k.kept[job.UID] = true
	k.log = append(k.log, "keep "+job.Name)
}

// KeepCronJob is described by observation.Keeper.
func (k *Keeper) KeepCronJob(cronJob *kubewire.CronJob) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.log = append(k.log, "keep "+cronJob.Name)
}

// DropCronJob is described by observation.Keeper.
func (k *Keeper) DropCronJob(uid types.UID) { k.DropJob(uid) }

// DropJob is described by observation.Keeper.
func (k *Keeper) DropJob(uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.log = append(k.log, "drop "+string(uid))
}

// Reset is described by observation.Keeper.
func (k *Keeper) Reset(life events.Identity) {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.kept)
	k.log = append(k.log, fmt.Sprintf("reset to epoch %d", life.Epoch))
}
