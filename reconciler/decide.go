package reconciler

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// RulesVersion is the version of the decision rules. Raise it with every change that can alter a decision: a replay
// reports decisions of another version separately, and does not count them as divergences.
const RulesVersion = 1

// LeastRules is the oldest rules version that may continue a log written by this one. An older program must be able to
// take over after a failed upgrade, so raise it only if the older rules would do harm.
const LeastRules = 1

// Decision is the result of Decide: the steps to carry out for one subject, and the time of the next evaluation if
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

// Decide returns what to do for subject s, and why, at the time of its newest record. It depends on s alone, so the
// same prefix of the log always gives the same decision.
func Decide(s projector.Subject) Decision {
	j, is := s.(*projector.Job)
	return decide(s, s.Time(), is && j.Woken())
}

// DecideAt is Decide at time now. The loop uses it to test whether a wait is over.
func DecideAt(s projector.Subject, now events.Time) Decision { return decide(s, now, false) }

// DecideWoken is DecideAt for a subject that is woken to show its progress (Decision.Progress).
func DecideWoken(s projector.Subject, now events.Time) Decision { return decide(s, now, true) }

func decide(s projector.Subject, now events.Time, woken bool) Decision {
	p := &plan{job: projector.HolderOf(s), now: now, woken: woken}
	p.expiring, _ = s.(expiring)
	if c, ok := s.(*projector.CronJob); ok {
		p.cron = newCronPlan(c)
	}
	p.decision.RulesVersion = RulesVersion
	for _, stage := range stagesOf(s) {
		p.stage = stage.name
		if stage.ask(p); p.over {
			break
		}
	}
	return p.decision
}

func newCronPlan(c *projector.CronJob) *cronPlan {
	return &cronPlan{CronJob: c, pass: c.Pass, ledger: c.Ledger, since: c.Sight.Since, active: c.Active}
}

// plan is a decision under construction. Each stage reads what earlier stages found.
type plan struct {
	job      *projector.Job // the Job under decision, or the holder of its pods; nil for a retired Job
	cron     *cronPlan      // the CronJob under decision; nil for a Job
	expiring expiring       // the Job under decision, retired or not
	now      events.Time
	woken    bool // the Job was woken after a wait
	decision Decision

	stage, rule string // the stage and rule that run now

	claiming bool                    // pods are being adopted, so the Job's set of pods is uncertain
	adopting []*projector.Pod        // pods to adopt now
	reading  bool                    // the decision has a live read of the Job
	end      *end                    // how the Job ends; nil while it continues
	closing  closing                 // progress of that end
	making   int                     // pods that this decision creates
	removing map[*projector.Pod]bool // surplus pods that this decision starts to remove; nil for none

	explaining bool // decide nothing; explain an end that another controller wrote

	ungrouped bool // create no pods: their PodGroup does not exist yet
	over      bool // skip all later stages
}

// expiring is a Job that has a TTL after it finishes.
type expiring interface{ Expiry() projector.Expiry }

// step adds a step with commands under the current rule. It does nothing without commands.
func (p *plan) step(reason events.Reason, sentence string, commands ...events.Command) {
	if len(commands) == 0 {
		return
	}
	p.decision.Steps = append(p.decision.Steps, events.Step{
		Stage: p.stage, Rule: p.rule, Reason: reason, Sentence: sentence, Commands: commands,
	})
}

// wake asks for another decision at t if nothing changes before. It reports whether t is in the future.
func (p *plan) wake(t events.Time) bool {
	if t <= p.now {
		return false
	}
	if p.decision.Wake == 0 || t < p.decision.Wake {
		p.decision.Wake = t
	}
	return true
}
