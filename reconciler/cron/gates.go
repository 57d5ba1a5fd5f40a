package cron

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/ticks"
	"github.com/jobledger/jobledger/reconciler"
)

// gateDeleted ends the pass of a CronJob (what one reconcile does) if the CronJob is being deleted (C-130).
func (p *plan) gateDeleted() {
	if p.cron.Seen.Deleted != 0 {
		p.closeLedger()
		p.cron.stop = true
	}
}

// gateZone ends the pass of a CronJob (what one reconcile does) while the rules of its time zone are not known (C-132).
func (p *plan) gateZone() {
	plan := p.cron.Plan()
	if plan.ZoneErr == nil {
		return
	}
	p.notice(reconciler.BadZone, "the time zone has no rules", events.Notice{
		Reason: "UnknownTimeZone", Message: fmt.Sprintf("invalid timeZone: %q: %s", *p.cron.Seen.TimeZone, plan.ZoneErr),
	})
	p.hold(events.HeldBadZone)
	p.cron.stop = true
}

// gateSuspended ends the pass of a CronJob (what one reconcile does) while spec.suspend is set (C-133). Due times in
// that time are recorded after the CronJob resumes.
func (p *plan) gateSuspended() {
	if !p.cron.Seen.Suspend {
		return
	}
	if p.cron.Plan().Err == nil {
		p.look(events.HeldSuspended)
	}
	p.cron.stop = true
}

// gateSchedule ends the pass of a CronJob (what one reconcile does) if its schedule cannot be parsed (C-041, C-134).
func (p *plan) gateSchedule() {
	cp := p.cron
	text := cp.Seen.Schedule
	if schedule.NamesZone(text) {
		p.notice(reconciler.ZoneInSchedule, "the schedule names a zone itself", events.Notice{
			Reason:  "UnsupportedSchedule",
			Message: fmt.Sprintf("CRON_TZ or TZ used in schedule %q is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details", text),
		})
	}
	if err := cp.Plan().Err; err != nil {
		p.notice(reconciler.BadSchedule, "the schedule cannot be read", events.Notice{
			Reason: "UnparseableSchedule", Message: fmt.Sprintf("unparseable schedule: %q : %s", text, err),
		})
		cp.stop = true
	}
}

// look records what became of due times that have passed. The newest one is only noted as open (it may still start),
// with hold, the reason why it does not start now.
func (p *plan) look(hold events.TickHold) {
	cp := p.cron
	l := ledgerOf(&cp.ledger)
	k := p.looking(cp.Plan(), p.Now, hold)
	var entries []ticks.Entry
	if k.Anchor.After(l.Through) {
		entries = l.Passed(k)
	}
	more, held := l.Look(k)
	p.tellTicks(reconciler.DueTimes, "due times have passed", &l, append(entries, more...), held)
}
