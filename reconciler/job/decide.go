package job

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// Decide returns what to do for subject s at time now, and why. s is no CronJob. woken is set if the Job was woken
// after a wait.
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

// plan is a decision under construction. Each stage reads what earlier stages found.
type plan struct {
	reconciler.Draft
	job      *projector.Job // the Job under decision, or the holder of its pods; nil for a retired Job
	expiring expiring       // the Job under decision, retired or not

	claiming bool                    // pods are being adopted, so the Job's set of pods is uncertain
	adopting []*projector.Pod        // pods to adopt now
	reading  bool                    // the decision has a live read of the Job
	end      *end                    // how the Job ends; nil while it continues
	closing  closing                 // progress of that end
	making   int                     // pods that this decision creates
	removing map[*projector.Pod]bool // surplus pods that this decision starts to remove; nil for none

	explaining bool // decide nothing; explain an end that another controller wrote

	ungrouped bool // create no pods: their PodGroup does not exist yet
}

// expiring is a Job that has a TTL after it finishes.
type expiring interface{ Expiry() projector.Expiry }
