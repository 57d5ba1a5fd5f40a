package job

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// Decide returns what to do for subject s (a Job or orphan pods, not a CronJob) at time now, and why. woken says that a
// time for which the Job waited has come.
func Decide(s projector.Subject, now events.Time, woken bool) reconciler.Decision {
	p := &plan{Draft: reconciler.NewDraft(now, woken), job: projector.HolderOf(s)}
	p.expiring, _ = s.(expiring)
	for _, stage := range stagesOf(s) {
		p.Stage = stage.name
		if stage.ask(p); p.Over {
			break
		}
	}
	return p.Decision
}

// plan is a decision about a Job while the stages (groups of rules) make it. Each stage reads what earlier ones found.
type plan struct {
	reconciler.Draft
	job      *projector.Job // the Job, or the pods that name an unknown Job; nil for a retired Job
	expiring expiring       // the Job, also if it is retired

	claiming bool                    // pods are being adopted, so it is not certain which pods the Job has
	adopting []*projector.Pod        // pods to adopt now
	reading  bool                    // the decision includes a read of the Job
	end      *end                    // how the Job ends; nil while it continues
	closing  closing                 // how far the ending Job is with its finalizers
	making   int                     // pods that this decision creates
	removing map[*projector.Pod]bool // surplus pods that this decision starts to remove; nil for none

	explaining bool // decide nothing; only check how another controller ended the Job

	ungrouped bool // create no pods: their PodGroup does not exist yet
}

// expiring is a Job, retired or not, that may have a TTL after it finishes.
type expiring interface{ Expiry() projector.Expiry }
