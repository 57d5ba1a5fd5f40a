package reconciler

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// RulesVersion counts the versions of the rules. It is raised whenever a rule could decide otherwise than before; a
// replay reports decisions of another version, and does not count them as divergences.
const RulesVersion = 1

// LeastRules is the oldest version of the rules that may go on with what these have decided. An older program must be
// able to take over again after an upgrade that went wrong, so it is raised only when the older rules would do harm.
const LeastRules = 1

// Decision is what should be done for one subject, and when to look again if nothing happens before.
type Decision struct {
	events.Decision
	Wake events.Time // 0 for never
	// Progress is when a status write that only shows progress is due; 0 for none. It is made when the Job is woken, at
	// that time or up to ProgressSpread later: the loop spreads such writes of many Jobs.
	Progress events.Time
	// Judges: the wait of a pod that is being deleted is over (J-022). A record that says so has the fold count it as
	// failed, whatever is decided then.
	Judges bool
}

// ProgressSpread is by how much a status write that only shows progress may be put off, where many Jobs have some to
// show.
const ProgressSpread = 4 * time.Second

// MostWoken is how many Jobs and CronJobs one turn wakes because their wait is over. The others are woken in the turns
// that follow at once.
const MostWoken = 1024

// Commands reports whether the decision asks for anything. One that does not is not written to the log.
func (d *Decision) Commands() bool { return len(d.Steps) > 0 }

// Decide says what should be done for a subject, and why, at the time of its newest record. It looks at nothing but its
// argument, so the same prefix of the log always gives the same decision.
func Decide(s projector.Subject) Decision {
	j, is := s.(*projector.Job)
	return decide(s, s.Time(), is && j.Woken())
}

// DecideAt is Decide at another time: the loop probes with it whether a wait is over.
func DecideAt(s projector.Subject, now events.Time) Decision { return decide(s, now, false) }

// DecideWoken is DecideAt when the subject is woken to show its progress (Decision.Progress).
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

// plan is a decision in the making. Stages read what the ones before them found.
type plan struct {
	job      *projector.Job // that is decided on, or that holds the pods which are; nil for a retired Job
	cron     *cronPlan      // of the CronJob that is decided on; nil for a Job
	expiring expiring       // the Job that is decided on, retired or not
	now      events.Time
	woken    bool // a wait of the Job was over
	decision Decision

	stage, rule string // which are being asked

	claiming bool                    // pods are being adopted: what is the Job's is not certain yet
	adopting []*projector.Pod        // pods whose turn to be adopted has come
	reading  bool                    // the decision asks for a live read of the Job
	end      *end                    // how the Job ends; nil while it goes on
	closing  closing                 // how far it has come with that
	making   int                     // pods that this decision begins to make
	removing map[*projector.Pod]bool // surplus pods whose removal this decision begins; nil for none

	explaining bool // nothing is decided: what another controller decided is to be explained

	ungrouped bool // no pod may be made: the group that it is to name is not there yet
	over      bool // the stages after this one are not run
}

// expiring is a Job that may be deleted some time after it has finished.
type expiring interface{ Expiry() projector.Expiry }

// step adds what the rule that is being asked wants done. One without commands adds nothing.
func (p *plan) step(reason events.Reason, sentence string, commands ...events.Command) {
	if len(commands) == 0 {
		return
	}
	p.decision.Steps = append(p.decision.Steps, events.Step{
		Stage: p.stage, Rule: p.rule, Reason: reason, Sentence: sentence, Commands: commands,
	})
}

// wake asks to be decided again at t, if nothing happens before. It reports whether t is still to come.
func (p *plan) wake(t events.Time) bool {
	if t <= p.now {
		return false
	}
	if p.decision.Wake == 0 || t < p.decision.Wake {
		p.decision.Wake = t
	}
	return true
}
