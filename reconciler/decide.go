package reconciler

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// RulesVersion is the version of the decision rules. Raise it with every change that can alter a decision: a replay
// reports decisions of another version separately, and does not count them as divergences.
const RulesVersion = 1

// LeastRules is the oldest version of the rules that may continue a log written by this version. After a failed upgrade
// the older program must be able to take over, so raise LeastRules only if the older rules would do harm.
const LeastRules = 1

// Decision is the result of rules.Decide: the steps to carry out for one subject (a Job, a CronJob, or orphan pods),
// and when to evaluate the subject again if nothing changes before.
type Decision struct {
	events.Decision
	Wake events.Time // when to evaluate again; 0 means never
	// Progress is when a status write is due that only shows progress, such as a new number of active pods; 0 means
	// none. The loop wakes the Job for it between Progress and Progress + ProgressSpread, so that many Jobs do not
	// write at once.
	Progress events.Time
	// Judges is set when a pod being deleted has not ended within the time that it is given (J-022). Applying the
	// record of this decision then counts the pod as failed, whatever commands the decision has.
	Judges bool
}

// ProgressSpread is the longest delay that the loop may add to a status write that only shows progress. Example: if 400
// Jobs have such a write due at 12:00:00, the loop spreads the writes over the time until 12:00:04.
const ProgressSpread = 4 * time.Second

// MostWoken limits how many Jobs and CronJobs one turn of the loop evaluates because their wait is over. Those beyond
// the limit follow in the next turns, without a pause: 3000 due Jobs take three turns.
const MostWoken = 1024

// Commands reports whether the decision has steps. A decision without steps is not written to the log.
func (d *Decision) Commands() bool { return len(d.Steps) > 0 }

// Draft is a decision while rules add steps to it. The plans of a Job and of a CronJob, in their packages, embed it.
type Draft struct {
	Decision Decision
	Now      events.Time // the decision's time
	Woken    bool        // evaluated because the time for which it waited has come

	Stage, Rule string // the stage and rule that run now
	Over        bool   // skip all later stages
}

// NewDraft returns a decision without steps. now is the decision's time; woken says that the time for which the subject
// waited has come.
func NewDraft(now events.Time, woken bool) Draft {
	return Draft{Decision: Decision{Decision: events.Decision{RulesVersion: RulesVersion}}, Now: now, Woken: woken}
}

// Step adds a step with the current stage and rule. Without commands it adds nothing.
func (d *Draft) Step(reason events.Reason, sentence string, commands ...events.Command) {
	if len(commands) == 0 {
		return
	}
	d.Decision.Steps = append(d.Decision.Steps, events.Step{
		Stage: d.Stage, Rule: d.Rule, Reason: reason, Sentence: sentence, Commands: commands,
	})
}

// WakeAt requests another evaluation at time t if nothing changes before. It reports whether t is in the future.
func (d *Draft) WakeAt(t events.Time) bool {
	if t <= d.Now {
		return false
	}
	if d.Decision.Wake == 0 || t < d.Decision.Wake {
		d.Decision.Wake = t
	}
	return true
}
