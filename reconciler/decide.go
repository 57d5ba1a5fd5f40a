package reconciler

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// RulesVersion is the version of the decision rules. Raise it with every change that can alter a decision: a replay
// reports decisions of another version separately, and does not count them as divergences.
const RulesVersion = 1

// LeastRules is the oldest rules version that may continue a log written by this one. An older program must be able to
// take over after a failed upgrade, so raise it only if the older rules would do harm.
const LeastRules = 1

// Decision is the result of rules.Decide: the steps to carry out for one subject, and the time of the next evaluation if
// nothing changes before.
type Decision struct {
	events.Decision
	Wake events.Time // 0 means never
	// Progress is when a status write that only shows progress is due; 0 means none. The write happens when the Job is
	// woken, between Progress and Progress + ProgressSpread: the loop spreads such writes over many Jobs.
	Progress events.Time
	// Judges is set when the grace wait of a pod under deletion is over (J-022). The record of this decision then makes
	// the fold count the pod as failed, whatever the decision asks for.
	Judges bool
}

// ProgressSpread is the longest delay that the loop may add to a status write that only shows progress. Example: if
// 400 Jobs have such a write due at 12:00:00, the loop spreads them up to 12:00:04.
const ProgressSpread = 4 * time.Second

// MostWoken limits how many Jobs and CronJobs one turn wakes because their wait is over. The rest wake in the turns
// that follow at once: 3000 due Jobs take three turns.
const MostWoken = 1024

// Commands reports whether the decision has steps. A decision without steps is not written to the log.
func (d *Decision) Commands() bool { return len(d.Steps) > 0 }

// Draft is a decision under construction. The plan of a Job's decision and that of a CronJob's embed it.
type Draft struct {
	Decision Decision
	Now      events.Time // the decision's time
	Woken    bool        // the subject was woken after a wait

	Stage, Rule string // the stage and rule that run now
	Over        bool   // skip all later stages
}

// NewDraft returns a decision without steps, for time now.
func NewDraft(now events.Time, woken bool) Draft {
	return Draft{Decision: Decision{Decision: events.Decision{RulesVersion: RulesVersion}}, Now: now, Woken: woken}
}

// Step adds a step with commands under the current rule. It does nothing without commands.
func (d *Draft) Step(reason events.Reason, sentence string, commands ...events.Command) {
	if len(commands) == 0 {
		return
	}
	d.Decision.Steps = append(d.Decision.Steps, events.Step{
		Stage: d.Stage, Rule: d.Rule, Reason: reason, Sentence: sentence, Commands: commands,
	})
}

// WakeAt asks for another decision at t if nothing changes before. It reports whether t is in the future.
func (d *Draft) WakeAt(t events.Time) bool {
	if t <= d.Now {
		return false
	}
	if d.Decision.Wake == 0 || t < d.Decision.Wake {
		d.Decision.Wake = t
	}
	return true
}
