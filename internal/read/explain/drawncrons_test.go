package explain_test

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// drawnCron is the CronJob of a drawn scene: its Jobs, and how far its due times are told.
type drawnCron struct {
	*sceneCron
	runs    []*drawnRun
	through time.Duration
	gone    bool
}

type drawnRun struct {
	name       string
	began, due time.Duration
	manual     bool
	over, left bool
}

func (d *drawn) at(after time.Duration) string {
	return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).Add(after).Format("15:04:05.999")
}

func (d *drawn) cronSpec(f *events.CronJobSeen) {
	f.Schedule = draw(d, []string{"* * * * *", "* * * * *", "*/2 * * * *", "0 * * * *", "30 10 1 1 *"})
	f.Policy, f.Suspend = draw(d, []string{"Allow", "Forbid", "Forbid", "Replace"}), d.once(8)
	f.Deadline = some(d, int64(5), 10, 100, 3600)
	f.KeepSucceeded, f.KeepFailed = some(d, int32(0), 1, 3), some(d, int32(0), 1)
	if d.once(4) {
		f.TimeZone = some(d, "Etc/UTC", "Nowhere/Never")
	}
	if d.plain {
		f.Schedule, f.TimeZone = "* * * * *", nil
	}
}

// newCron makes the CronJob, or another one under its name.
func (d *drawn) newCron() {
	if d.cron != nil {
		d.of = events.CronJobStream(types.UID("uid-again-" + d.name("report")))
	}
	d.cron = &drawnCron{}
	ours := d.once(2)
	if d.plain {
		ours = d.ours
	}
	d.cron.sceneCron = d.scene.cron(d.clock(), ours, func(f *events.CronJobSeen) {
		d.cronSpec(f)
		f.Found, f.Suspend = d.once(4), false
	})
	d.cron.through = d.now.Truncate(time.Minute)
}

// cronDeeds are what may befall a CronJob.
var cronDeeds = []func(d *drawn, c *drawnCron){
	(*drawn).runStarts, (*drawn).runStarts, (*drawn).runStarts, (*drawn).runStarts, (*drawn).runEnds, (*drawn).runEnds,
	(*drawn).runEnds, (*drawn).runGone,
	(*drawn).cronEdited, (*drawn).runRefused, (*drawn).fateTold, (*drawn).fateTold, (*drawn).fateTold, (*drawn).cronSeen,
	(*drawn).cronGone,
}

func (d *drawn) onCron() {
	switch {
	case d.cron == nil:
	case !d.cron.gone:
		draw(d, cronDeeds)(d, d.cron)
	case d.once(3):
		d.newCron()
	}
}

func (d *drawn) cronSeen(c *drawnCron) {
	if d.once(2) {
		c.seen.LastSuccess = cronClock(d.ago()[:8])
	}
	c.see(d.clock(), events.KindCronJobChanged, events.Evidence{})
}

// runStarts is a Job that is made for the next due time, or by hand, and mostly the record of its fate.
func (d *drawn) runStarts(c *drawnCron) {
	if len(c.runs) == 8 {
		return
	}
	r := &drawnRun{name: fmt.Sprint(len(c.runs) + 1), due: c.through + time.Minute*time.Duration(1+d.r.IntN(2)),
		manual: d.once(6)}
	if d.plain && !r.manual { // a controller names the Job after the minute
		r.name = fmt.Sprint(cronClock(d.at(r.due)).Go().Unix() / 60)
	}
	d.now = max(d.now, r.due)
	clock := d.clock()
	r.began = d.now
	c.runs = append(c.runs, r)
	if d.often(6) {
		c.sceneCron.runs(clock, d.at(r.due), r.name, func(f *events.RunSeen) {
			if r.manual {
				f.Manual, f.Due, f.By = true, 0, draw(d, []string{"", "kubectl-create"})
			}
			if d.once(4) {
				f.Started = 0
			}
		})
	}
	if r.manual || d.once(5) {
		return
	}
	tick := c.started(d.at(r.due), r.name, r.began-r.due)
	if d.once(6) {
		tick.Fate = draw(d, []events.TickFate{events.TickAgain, events.TickTriggered, events.TickManual})
		tick.By = "kubectl-annotate"
	}
	var ticks []events.Tick
	if r.due > c.through+time.Minute {
		ticks = append(ticks, c.fate(d.at(c.through+time.Minute), d.at(r.due-time.Minute), draw(d, []events.TickFate{
			events.TickMerged, events.TickSkipped, events.TickTooLate, events.TickLost, events.TickUnwatched,
		}), func(t *events.Tick) { t.Into = cronClock(d.at(r.due)) }))
	}
	c.ledger(d.clock(), d.at(r.due), "", events.NotHeld, append(ticks, tick)...)
	c.through = r.due
}

// jobless are the fates without a Job.
var jobless = []events.TickFate{
	events.TickTooLate, events.TickRefused, events.TickLost, events.TickUnwatched, events.TickReplaced,
	events.TickSkipped, events.TickUnknown, events.TickDeleted,
}

// fateTold is what became of due times that were not started, or what holds one back.
func (d *drawn) fateTold(c *drawnCron) {
	first := c.through + time.Minute
	last := first + time.Minute*time.Duration(d.r.IntN(3))
	d.now = max(d.now, last)
	if d.once(2) {
		c.ledger(d.clock(), d.at(c.through), d.at(first), events.TickHold(d.r.IntN(5)))
		return
	}
	tick := c.fate(d.at(first), d.at(last), draw(d, jobless), func(t *events.Tick) {
		if t.Fate == events.TickUnknown {
			t.UnwatchedFrom, t.UnwatchedUntil = t.First.Add(-time.Second), t.Last.Add(time.Second)
		}
	})
	c.ledger(d.clock(), d.at(last), "", events.NotHeld, tick)
	c.through = last
}

// runRefused is a Job that the API server does not let come.
func (d *drawn) runRefused(c *drawnCron) {
	due := c.through + time.Minute
	d.now = max(d.now, due)
	create := &events.CreateJob{Name: "report-" + d.name("run"), Due: cronClock(d.at(due)), Template: c.seen.Template}
	if d.once(4) {
		create.Due, create.Trigger = 0, "now"
	}
	told := events.Evidence{Namespace: "batch", Name: "report"}
	at := d.tell(d.clock(), c.of, events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{
		Stage: "due", Rule: "start", Reason: "Due", Commands: []events.Command{create},
	}}}, told)
	f := (&events.Task{Name: events.CommandID{Decided: at}, Command: create}).Ended(draw(d,
		[]events.Ending{events.Refused, events.Refused, events.OutcomeUnknown}))
	f.Class, f.Sent = events.RefusalClass(1+d.r.IntN(10)), true
	told.Message = draw(d, []string{"", "exceeded quota: count/jobs.batch=3"})
	d.tell(d.clock(), c.of, events.KindCommandEnded, &f, told)
	if d.once(2) {
		c.ledger(d.clock(), d.at(c.through), d.at(due), events.HeldNoCreate)
	}
}

func (d *drawn) aRun(c *drawnCron, is func(r *drawnRun) bool) *drawnRun {
	var there []*drawnRun
	for _, r := range c.runs {
		if is(r) {
			there = append(there, r)
		}
	}
	if len(there) == 0 {
		return nil
	}
	return draw(d, there)
}

func (d *drawn) runEnds(c *drawnCron) {
	if r := d.aRun(c, func(r *drawnRun) bool { return !r.over && !r.manual }); r != nil {
		c.sceneCron.ends(d.clock(), d.at(r.began), d.at(r.due), r.name, events.JobResult(1+d.r.IntN(2)))
		r.over = true
		if d.often(3) {
			c.see(d.clock(), events.KindCronJobChanged, events.Evidence{})
		}
	}
}

func (d *drawn) runGone(c *drawnCron) {
	if r := d.aRun(c, func(r *drawnRun) bool { return !r.left }); r != nil {
		if d.once(2) {
			order := &events.DeleteRun{Job: c.run(r.name), Name: "report-" + r.name, Replacing: c.seen.Policy == "Replace"}
			d.tell(d.clock(), c.of, events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{
				Stage: "runs", Rule: "delete", Reason: "HistoryLimit", Commands: []events.Command{order},
			}}}, events.Evidence{Namespace: "batch", Name: "report"})
		}
		c.add(d.clock(), c.of, events.KindRunGone,
			&events.RunGone{Job: c.run(r.name), Left: d.once(5), Missed: d.once(5)})
		r.left, r.over = true, true
	}
}

// cronEdits are changes of a CronJob's spec.
var cronEdits = []func(d *drawn, f *events.CronJobSeen){
	func(_ *drawn, f *events.CronJobSeen) { f.Suspend = !f.Suspend },
	func(_ *drawn, f *events.CronJobSeen) { f.Suspend = !f.Suspend },
	func(d *drawn, f *events.CronJobSeen) { f.Template = d.name("t"); f.Redacted = f.Template },
	func(d *drawn, f *events.CronJobSeen) { f.Policy = draw(d, []string{"Allow", "Forbid", "Replace"}) },
	(*drawn).cronSpec, func(d *drawn, f *events.CronJobSeen) { f.Found = true; d.cronSpec(f) },
}

func (d *drawn) cronEdited(c *drawnCron) {
	c.edit(d.clock(), draw(d, []string{"", "kubectl-patch", "argocd"}),
		func(f *events.CronJobSeen) { draw(d, cronEdits)(d, f) })
}

func (d *drawn) cronGone(c *drawnCron) {
	if d.often(4) {
		return
	}
	if d.once(2) {
		c.seen.Deleted = cronClock(d.ago())
		c.see(d.clock(), events.KindCronJobChanged, events.Evidence{})
	}
	if d.often(3) {
		c.add(d.clock(), c.of, events.KindCronJobDeleted, &events.CronJobGone{})
		c.gone = true
	}
}
