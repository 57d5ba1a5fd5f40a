package explain_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// sceneCron is a CronJob of a scene. What is told of it next begins with what was told last.
type sceneCron struct {
	*scene
	seen events.CronJobSeen
	ours bool
}

// cron tells of a new CronJob batch/report, which is due at each minute.
func (l *scene) cron(clock string, ours bool, change func(*events.CronJobSeen)) *sceneCron {
	c := &sceneCron{scene: l, ours: ours, seen: events.CronJobSeen{Schedule: "* * * * *", Policy: "Allow", Created: cronClock(clock), Generation: 1, Template: "t1", Redacted: "t1"}}
	if change != nil {
		change(&c.seen)
	}
	c.see(clock, events.KindCronJobAdded, events.Evidence{})
	return c
}

func (c *sceneCron) see(clock string, kind events.Kind, e events.Evidence) events.Sequence {
	c.t.Helper()
	c.seen.Version = c.next()
	f := c.seen
	f.Active = slices.Clone(f.Active)
	e.Namespace, e.Name = "batch", "report"
	return c.tell(clock, c.of, kind, &f, e)
}

// edit tells of another spec, and of who edited it.
func (c *sceneCron) edit(clock, by string, change func(*events.CronJobSeen)) {
	c.t.Helper()
	change(&c.seen)
	c.seen.Generation++
	var edit *events.Edit
	if by != "" {
		edit = &events.Edit{Manager: by, Operation: "Update", Time: cronClock(clock)}
	}
	c.see(clock, events.KindCronJobChanged, events.Evidence{Edit: edit})
}

func (c *sceneCron) run(name string) types.UID { return types.UID("uid-report-" + name) }

// runs tells of a Job that was made for a due time.
func (c *sceneCron) runs(clock, due, name string, change func(*events.RunSeen)) {
	c.t.Helper()
	f := &events.RunSeen{Job: c.run(name), Name: "report-" + name, Version: c.next(), Created: cronClock(clock), Started: cronClock(clock)}
	if due != "" {
		f.Due = cronClock(due)
	}
	if change != nil {
		change(f)
	}
	c.tell(clock, c.of, events.KindRunSeen, f, events.Evidence{Namespace: "batch", Name: "report"})
	if f.Result == events.ResultNone && !f.Manual {
		c.seen.Active, c.seen.LastSchedule = append(c.seen.Active, events.RunName{UID: f.Job, Name: f.Name}), max(c.seen.LastSchedule, f.Due)
	}
}

// ends tells that a Job has ended.
func (c *sceneCron) ends(clock, began, due, name string, result events.JobResult) {
	c.t.Helper()
	c.runs(clock, due, name, func(f *events.RunSeen) {
		f.Created, f.Started, f.Result, f.Succeeded = cronClock(began), cronClock(began), result, result == events.ResultComplete
		if f.Succeeded {
			f.Completed = cronClock(clock)
		}
	})
	c.seen.Active = slices.DeleteFunc(c.seen.Active, func(n events.RunName) bool { return n.UID == c.run(name) })
}

// ledger tells of fates, and of how the due times stand.
func (c *sceneCron) ledger(clock, through, open string, hold events.TickHold, ticks ...events.Tick) events.Sequence {
	c.t.Helper()
	l := &events.TickLedger{Schedule: c.seen.Schedule, TimeZone: c.seen.TimeZone, Through: cronClock(through), Hold: hold}
	if open != "" {
		l.Open = cronClock(open)
	}
	kind := events.KindDecided
	if !c.ours {
		kind = events.KindTicksObserved
	}
	return c.tell(clock, c.of, kind, &events.Decision{RulesVersion: 1, Steps: []events.Step{{
		Stage: "due", Rule: "due", Reason: "Due", Cron: &events.CronStep{Ticks: ticks, Ledger: l},
	}}}, events.Evidence{Namespace: "batch", Name: "report"})
}

func (c *sceneCron) fate(first, last string, fate events.TickFate, change func(*events.Tick)) events.Tick {
	t := events.Tick{First: cronClock(first), Last: cronClock(last), Fate: fate, Observed: !c.ours}
	if change != nil {
		change(&t)
	}
	return t
}

func (c *sceneCron) started(due, name string, late time.Duration) events.Tick {
	return c.fate(due, due, events.TickStarted, func(t *events.Tick) {
		t.Job, t.Name, t.Late, t.Seen = c.run(name), "report-"+name, late, late+time.Second
	})
}

// well lets a minute's Job start and end.
func (c *sceneCron) well(minute, name string, result events.JobResult) {
	c.t.Helper()
	c.runs(minute+":00", minute+":00", name, nil)
	c.ledger(minute+":00", minute+":00", "", events.NotHeld, c.started(minute+":00", name, 0))
	c.see(minute+":01", events.KindCronJobChanged, events.Evidence{})
	c.ends(minute+":20", minute+":00", minute+":00", name, result)
	c.see(minute+":20", events.KindCronJobChanged, events.Evidence{})
}

// whyNots asks about instants.
func (c *sceneCron) whyNots(clocks ...string) {
	c.t.Helper()
	keep(c.t, c.source(), func(l *teller) {
		for _, clock := range clocks {
			l.about("why not %s", clock)
			for _, line := range []string{c.whyNot(clock)} {
				l.out.WriteString(line + "\n")
			}
		}
	})
}

// listed tells that nobody watched since a time, and what was found then.
func (c *sceneCron) listed(clock, since string, found func()) {
	c.t.Helper()
	all := []events.Resource{events.Jobs, events.Pods, events.CronJobs}
	c.add(clock, events.Controller, events.KindListingStarted, &events.ListingStarted{
		Reason: events.ListingRelisted, Resources: all, LastSeen: cronClock(since), LastVersions: []uint64{1, 1, 1},
	})
	found()
	c.add(clock, events.Controller, events.KindSynced, &events.Synced{Resources: all, Versions: []uint64{2000, 2000, 2000}})
}

// TestScenesOfCronJobs: what becomes of due times, in both modes.
func TestScenesOfCronJobs(t *testing.T) {
	forbid := func(f *events.CronJobSeen) { f.Policy = "Forbid" }
	only := map[string]bool{ // in one mode: who observes holds nothing open, and we leave nothing open that is due
		"a Job is taken out of its hands": false, "it was there before": true, "it is lost, unknown and refused": false,
	}
	for name, play := range map[string]func(c *sceneCron){
		"all is well, then all fails": func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.well("09:01", "b", events.ResultComplete)
			c.edit("09:01:30", "kubectl-patch", func(f *events.CronJobSeen) { f.Template, f.Redacted = "t2", "t2" })
			c.well("09:02", "c", events.ResultFailed)
			c.well("09:03", "d", events.ResultFailed)
		},
		"all fails": func(c *sceneCron) {
			c.well("09:00", "a", events.ResultFailed)
			c.well("09:01", "b", events.ResultFailed)
		},
		"it is held back": func(c *sceneCron) {
			c.edit("08:59:50", "helm", forbid)
			c.runs("09:00:00", "09:00:00", "a", nil)
			c.ledger("09:00:00", "09:00:00", "", events.NotHeld, c.started("09:00:00", "a", 0))
			c.see("09:00:01", events.KindCronJobChanged, events.Evidence{})
			c.ledger("09:01:00", "09:00:00", "09:01:00", events.HeldForbid)
			c.ledger("09:02:00", "09:01:00", "09:02:00", events.HeldForbid, c.fate("09:01:00", "09:01:00", events.TickMerged, func(t *events.Tick) { t.Into = cronClock("09:02:00") }))
			c.ends("09:02:30", "09:00:00", "09:00:00", "a", events.ResultComplete)
			c.runs("09:02:31", "09:02:00", "b", nil)
			c.ledger("09:02:31", "09:02:00", "", events.NotHeld, c.started("09:02:00", "b", 31*time.Second))
			c.see("09:02:32", events.KindCronJobChanged, events.Evidence{})
			c.see("09:02:50", events.KindCronJobChanged, events.Evidence{})
		},
		"it is suspended, and resumed": func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.edit("09:00:30", "kubectl-patch", func(f *events.CronJobSeen) { f.Suspend = true })
			c.edit("09:03:10", "", func(f *events.CronJobSeen) { f.Suspend, f.Deadline = false, new(int64(90)) })
			c.ledger("09:03:10", "09:03:00", "", events.NotHeld,
				c.fate("09:01:00", "09:01:00", events.TickTooLate, nil), c.fate("09:02:00", "09:02:00", events.TickSkipped, func(t *events.Tick) { t.Into = cronClock("09:03:00") }),
				c.started("09:03:00", "b", 10*time.Second))
			c.runs("09:03:11", "09:03:00", "b", nil)
			c.see("09:03:12", events.KindCronJobChanged, events.Evidence{})
		},
		"its schedule and zone are edited, and it is deleted": func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.edit("09:00:30", "kubectl-patch", func(f *events.CronJobSeen) { f.Schedule, f.TimeZone = "*/2 * * * *", new("Europe/Berlin") })
			c.ledger("09:02:00", "09:00:30", "09:02:00", events.NotHeld)
			c.edit("09:02:01", "", func(f *events.CronJobSeen) {
				f.Schedule, f.TimeZone, f.Policy, f.KeepFailed, f.Deadline, f.Suspend = "soon", nil, "Replace", new(int32(3)), new(int64(5)), true
			})
			c.ledger("09:02:02", "09:02:01", "", events.NotHeld, c.fate("09:02:00", "09:02:00", events.TickReplaced, nil))
			c.seen.Deleted = cronClock("09:02:30")
			c.see("09:02:30", events.KindCronJobChanged, events.Evidence{})
			c.tell("09:02:31", c.of, events.KindCronJobDeleted, &events.CronJobGone{}, events.Evidence{Namespace: "batch", Name: "report"})
		},
		"it is lost, unknown and refused": func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			create := &events.CreateJob{Name: "report-b", Due: cronClock("09:01:00"), Template: "t1"}
			d := c.tell("09:01:00", c.of, events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{
				Stage: "due", Rule: "due", Reason: "Due", Commands: []events.Command{create},
			}}}, events.Evidence{Namespace: "batch", Name: "report"})
			ended := (&events.Task{Name: events.CommandID{Decided: d}, Command: create}).Ended(events.Refused)
			ended.Class, ended.Sent = events.RefusedQuota, true
			c.tell("09:01:01", c.of, events.KindCommandEnded, &ended, events.Evidence{Namespace: "batch", Name: "report-b", Message: "exceeded quota: jobs"})
			c.ledger("09:01:01", "09:00:00", "09:01:00", events.HeldNoCreate)
			c.ledger("09:02:00", "09:01:00", "", events.NotHeld, c.fate("09:01:00", "09:01:00", events.TickRefused, func(t *events.Tick) { t.Name = "report-b" }))
			c.ledger("09:03:00", "09:02:00", "", events.NotHeld, c.fate("09:02:00", "09:02:00", events.TickLost, func(t *events.Tick) { t.Name, t.Job = "report-c", c.run("c") }))
			c.listed("09:05:40", "09:02:30", func() {})
			c.ledger("09:06:00", "09:05:00", "", events.NotHeld, c.fate("09:03:00", "09:05:00", events.TickUnwatched, func(t *events.Tick) {
				t.UnwatchedFrom, t.UnwatchedUntil = cronClock("09:02:30"), cronClock("09:05:40")
			}))
			c.ledger("09:07:00", "09:06:00", "", events.NotHeld, c.fate("09:06:00", "09:06:00", events.TickUnknown, nil))
			c.see("09:07:10", events.KindCronJobChanged, events.Evidence{})
		},
		"runs by hand": func(c *sceneCron) {
			c.runs("08:59:40", "", "hand", func(f *events.RunSeen) { f.Manual, f.By = true, "kubectl-create" })
			c.ledger("08:59:40", "08:59:30", "", events.NotHeld, c.fate("08:59:40", "08:59:40", events.TickTriggered, func(t *events.Tick) {
				t.Job, t.Name, t.By = c.run("hand"), "report-hand", "anna by kubectl"
			}))
			c.well("09:00", "a", events.ResultComplete)
			c.runs("09:00:40", "", "other", nil)
			c.runs("09:00:41", "", "nameless", func(f *events.RunSeen) { f.Manual, f.Created = true, cronClock("09:00:41") })
			c.ledger("09:00:41", "09:00:00", "", events.NotHeld, c.fate("09:00:41", "09:00:41", events.TickTriggered, func(t *events.Tick) {
				t.Job, t.Name, t.By = c.run("nameless"), "report-nameless", "kubectl-create"
			}))
			c.ends("09:00:50", "08:59:40", "", "hand", events.ResultFailed)
			c.see("09:00:51", events.KindCronJobChanged, events.Evidence{})
		},
		"each is replaced by the next": func(c *sceneCron) {
			c.edit("08:59:50", "helm", func(f *events.CronJobSeen) { f.Policy = "Replace" })
			for i, name := range []string{"a", "b", "c", "d"} {
				clock := fmt.Sprintf("09:0%d", i)
				if i > 0 {
					c.tell(clock+":00", c.of, events.KindRunGone, &events.RunGone{Job: c.run([]string{"a", "b", "c"}[i-1])}, events.Evidence{Namespace: "batch", Name: "report"})
					c.seen.Active = nil
				}
				c.runs(clock+":00", clock+":00", name, nil)
				c.ledger(clock+":00", clock+":00", "", events.NotHeld, c.started(clock+":00", name, 0))
				c.see(clock+":01", events.KindCronJobChanged, events.Evidence{})
			}
		},
		"many run at once": func(c *sceneCron) {
			for i, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
				clock := fmt.Sprintf("09:0%d", i)
				c.runs(clock+":00", clock+":00", name, nil)
				c.ledger(clock+":00", clock+":00", "", events.NotHeld, c.started(clock+":00", name, 0))
				c.see(clock+":01", events.KindCronJobChanged, events.Evidence{})
			}
		},
		"nothing starts": func(c *sceneCron) {
			c.edit("09:07:30", "", func(f *events.CronJobSeen) { f.Deadline = new(int64(10)) })
		},
		"a Job is taken out of its hands": func(c *sceneCron) {
			c.edit("08:59:50", "helm", forbid)
			c.runs("09:00:00", "09:00:00", "a", nil)
			c.ledger("09:00:00", "09:00:00", "", events.NotHeld, c.started("09:00:00", "a", 0))
			c.see("09:00:01", events.KindCronJobChanged, events.Evidence{})
			c.tell("09:00:20", c.of, events.KindRunGone, &events.RunGone{Job: c.run("a"), Version: c.next(), Left: true}, events.Evidence{Namespace: "batch", Name: "report"})
			c.ledger("09:01:00", "09:00:00", "09:01:00", events.HeldForbid)
			c.see("09:01:30", events.KindCronJobChanged, events.Evidence{})
		},
		"it was there before": func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.listed("09:10:10", "09:00:30", func() {
				c.seen.Found = true
				c.edit("09:10:10", "", func(f *events.CronJobSeen) { f.Schedule, f.LastSchedule = "*/5 * * * *", cronClock("09:05:00") })
				c.seen.Found = false
			})
			c.see("09:12:00", events.KindCronJobChanged, events.Evidence{})
		},
	} {
		for _, ours := range []bool{false, true} {
			if not, is := only[name]; is && ours == not {
				continue
			}
			t.Run(fmt.Sprintf("%s, ours: %t", name, ours), func(t *testing.T) {
				l := newScene(t, ours)
				c := l.cron("08:59:30", ours, nil)
				play(c)
				l.judged()
				c.whyNots("08:30:00", "08:59:00", "08:59:40", "09:00:00", "09:00:30", "09:01:00", "09:02:00", "09:03:00", "09:04:00", "09:06:00", "09:20:00")
			})
		}
	}
}
