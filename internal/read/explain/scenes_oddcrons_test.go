package explain_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// template tells of the text of a template that a CronJob names.
func (c *sceneCron) template(clock, hash, text string) {
	c.t.Helper()
	c.tell(clock, c.of, events.KindTemplateStored, &events.JobTemplate{Hash: hash}, events.Evidence{Namespace: "batch", Name: "report", Template: []byte(text)})
}

// jobOf tells of the Job of a run, as its own records do.
func (c *sceneCron) jobOf(clock, name string, change func(*sceneJob)) *sceneJob {
	c.t.Helper()
	return c.job(clock, "report-"+name, "", func(j *sceneJob) {
		j.e.Origin, j.of = &events.Origin{Kind: "CronJob", Name: "report", UID: "uid-report"}, events.JobStream(types.UID("uid-report-"+name))
		if change != nil {
			change(j)
		}
	})
}

// TestScenesOfOddCronJobs: a CronJob of which little else is odd than how it stands.
func TestScenesOfOddCronJobs(t *testing.T) {
	forbid := func(f *events.CronJobSeen) { f.Policy = "Forbid" }
	for name, row := range map[string]struct {
		modes  string // "ours", "another's", or both
		change func(*events.CronJobSeen)
		play   func(c *sceneCron)
		at     []string // instants that are asked for
		says   []string
	}{
		"held back by us, and then another runs it": {"ours", forbid, func(c *sceneCron) {
			c.runs("09:00:00", "09:00:00", "a", nil)
			c.ledger("09:00:00", "09:00:00", "", events.NotHeld, c.started("09:00:00", "a", 0))
			c.see("09:00:01", events.KindCronJobChanged, events.Evidence{})
			c.ledger("09:01:00", "09:00:00", "09:01:00", events.HeldForbid)
			c.controller("09:01:20", events.ModeObserve, nil)
		}, []string{"09:01:00"}, nil},
		"its schedule has no due time": {"both", func(f *events.CronJobSeen) { f.Schedule = "0 0 30 2 *" }, func(c *sceneCron) {
			c.see("09:00:01", events.KindCronJobChanged, events.Evidence{})
		}, []string{"09:00:00"}, []string{`NEVER DUE: the schedule "0 0 30 2 *" has no due time in the next five years`, "trouble: stuck NEVER DUE"}},
		"its schedule never had a due time, and it is older than the log": {"both", func(f *events.CronJobSeen) {
			f.Schedule, f.Created, f.Generation = "0 0 30 2 *", cronClock("07:00:00"), 2
		}, func(c *sceneCron) { c.see("09:00:01", events.KindCronJobChanged, events.Evidence{}) }, nil, []string{"NEVER DUE: the schedule"}},
		"its schedule cannot be read, since an edit": {"both", nil, func(c *sceneCron) {
			c.edit("09:00:01", "kubectl", func(f *events.CronJobSeen) { f.Schedule = "soon" })
		}, []string{"09:00:00", "08:59:00"}, []string{"NEVER DUE: ", "trouble: stuck NEVER DUE"}},
		"nothing in the Job that holds it back ends it": {"both", forbid, func(c *sceneCron) {
			held(c, nil)
		}, []string{"09:01:00"}, []string{". Nothing in its spec ends it: activeDeadlineSeconds is not set"}},
		"a deadline of the Job that holds it back": {"both", forbid, func(c *sceneCron) {
			held(c, func(j *sceneJob) { j.spec.ActiveDeadlineSeconds = new(int64(3600)) })
		}, []string{"09:01:00"}, []string{". Its activeDeadlineSeconds ends it at 2 Mar 10:00:01"}},
		"a starting deadline, of a due time that is held back": {"both", func(f *events.CronJobSeen) { forbid(f); f.Deadline = new(int64(100)) }, func(c *sceneCron) {
			held(c, nil)
		}, []string{"09:01:00"}, []string{"longer than to 2 Mar 09:02:40: then startingDeadlineSeconds 100 is over, and it is too late"}},
		"a starting deadline that is over": {"both", func(f *events.CronJobSeen) { forbid(f); f.Deadline = new(int64(12)) }, func(c *sceneCron) {
			held(c, nil)
			c.node("09:01:30", "node-1", func(*events.NodeSeen) {})
		}, []string{"09:01:00"}, []string{"by 2 Mar 09:01:12 startingDeadlineSeconds 12 was over"}},
		"many Jobs that hold it back": {"both", forbid, func(c *sceneCron) {
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				c.runs("09:00:00", "", name, func(f *events.RunSeen) { f.Created = cronClock("08:59:40") })
			}
			held(c, nil)
		}, nil, []string{" and 3 more run, the oldest for ", "!and 4 more run"}},
		"its template is edited in many fields, and all fails since": {"both", nil, func(c *sceneCron) {
			c.template("08:59:31", "t1", `{"template":{"spec":{"containers":[{"name":"main","image":"app:1"}]}}}`)
			c.template("08:59:32", "t2", `{"template":{"spec":{"containers":[{"name":"main","image":"app:2"}],"priority":7,"serviceAccount":"x","hostname":"h","subdomain":"s"}}}`)
			c.well("09:00", "a", events.ResultComplete)
			c.edit("09:00:30", "helm", func(f *events.CronJobSeen) { f.Template, f.Redacted = "t2", "t2" })
			c.well("09:01", "b", events.ResultFailed)
			c.well("09:02", "c", events.ResultFailed)
		}, nil, []string{
			"FAILING since the edit of 2 Mar 09:00:30 (main.image app:1 → app:2, hostname + h, field manager helm", "): 2 of 2 failed, 1 of 1 before succeeded",
			"jobTemplate: ", " · 1 more (field manager helm)",
		}},
		"its template is edited, and its Jobs show how": {"both", nil, func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.jobOf("09:00:21", "a", nil)
			c.edit("09:00:30", "", func(f *events.CronJobSeen) { f.Template, f.Redacted = "t2", "t2" })
			c.well("09:01", "b", events.ResultFailed)
			c.jobOf("09:01:21", "b", func(j *sceneJob) { j.spec.BackoffLimit = new(int32(1)) })
		}, nil, []string{"FAILING since the edit of 2 Mar 09:00:30 (backoffLimit: 6 → 1): 1 of 1 failed"}},
		"a controller that records no CronJobs began": {"both", nil, func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.controller("09:00:40", events.ModeObserve, func(s *events.Settings) { s.CronJobs = false })
		}, []string{"09:00:00", "09:05:00"}, []string{"a controller that records no CronJobs began at 2 Mar 09:00:40"}},
		"a zone in which it is another day": {"both", func(f *events.CronJobSeen) { f.TimeZone = new("Etc/GMT-14") }, func(c *sceneCron) {
			c.well("13:00", "a", events.ResultComplete)
		}, []string{"13:00:00"}, nil},
		"suspended from the beginning": {"both", func(f *events.CronJobSeen) { f.Suspend = true }, func(c *sceneCron) {
			c.node("09:03:10", "node-1", func(*events.NodeSeen) {})
			c.see("09:03:30", events.KindCronJobChanged, events.Evidence{})
		}, []string{"09:01:00", "09:02:30"}, []string{"SUSPENDED for 4m, since 2 Mar 08:59:30: 4 due times passed"}},
		"due each second, and suspended for long": {"both", func(f *events.CronJobSeen) { f.Schedule = "@every 1s" }, func(c *sceneCron) {
			c.edit("09:00:00", "helm", func(f *events.CronJobSeen) { f.Suspend = true })
			c.see("19:00:00", events.KindCronJobChanged, events.Evidence{})
		}, nil, []string{"SUSPENDED for 10h, since 2 Mar 09:00:00 (field manager helm): "}},
		"Jobs in status.active that are not known": {"ours", forbid, func(c *sceneCron) {
			c.seen.Active = []events.RunName{{UID: "uid-x", Name: "report-x"}, {UID: "uid-y", Name: "report-y"}}
			c.see("08:59:50", events.KindCronJobChanged, events.Evidence{})
			if c.ours {
				c.ledger("09:00:00", "08:59:30", "09:00:00", events.HeldForbid)
			}
			c.see("09:00:40", events.KindCronJobChanged, events.Evidence{})
		}, []string{"09:00:00"}, []string{"HELD BACK for 40s: due 2 Mar 09:00 UTC, and report-x and 1 more are in status.active (policy Forbid)"}},
		"one did not start for a name that is taken": {"ours", nil, func(c *sceneCron) {
			c.ledger("09:01:00", "09:00:00", "", events.NotHeld, c.fate("09:00:00", "09:00:00", events.TickRefused, nil))
		}, []string{"09:00:00"}, []string{"it never started: another object has the name of its Job"}},
		"the API server's refusal is no longer kept": {"ours", nil, func(c *sceneCron) {
			c.ledger("09:00:00", "08:59:30", "09:00:00", events.HeldNoCreate)
			c.ledger("09:01:00", "09:00:00", "", events.NotHeld, c.fate("09:00:00", "09:00:00", events.TickRefused, nil))
		}, []string{"09:00:00"}, []string{"it never started: the API server refused its Job", "!a refusal"}},
		"each of many did not start, for one of two reasons": {"ours", nil, func(c *sceneCron) {
			c.ledger("09:00:30", "09:00:00", "", events.NotHeld, c.fate("09:00:00", "09:00:00", events.TickRefused, nil))
			c.ledger("09:01:30", "09:01:00", "", events.NotHeld, c.fate("09:01:00", "09:01:00", events.TickTooLate, nil))
			c.ledger("09:02:30", "09:02:00", "", events.NotHeld, c.fate("09:02:00", "09:02:00", events.TickTooLate, nil))
			c.ledger("09:05:30", "09:05:00", "", events.NotHeld, c.fate("09:03:00", "09:05:00", events.TickLost, nil))
		}, []string{"09:02:00", "09:04:00"}, []string{"NOT STARTING: its last 6 due times did not start; the newest, 2 Mar 09:05 UTC: lost", "2 due times from 2 Mar 09:01 to 2 Mar 09:02 UTC: too late"}},
		"its newest due times are unknown": {"another's", nil, func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.listed("09:05:40", "09:00:30", func() {})
			c.ledger("09:05:41", "09:05:00", "", events.NotHeld, c.fate("09:01:00", "09:05:00", events.TickUnknown, func(t *events.Tick) {
				t.UnwatchedFrom, t.UnwatchedUntil = cronClock("09:00:30"), cronClock("09:05:40")
			}))
		}, []string{"09:01:00", "09:05:00"}, []string{"UNKNOWN what became of its last 5 due times, from 2 Mar 09:01 UTC to 2 Mar 09:05 UTC: it was not watched from 2 Mar 09:00:30 to 2 Mar 09:05:40"}},
		"what kept the first was not what kept the last": {"another's", nil, func(c *sceneCron) {
			c.edit("08:59:40", "helm", func(f *events.CronJobSeen) { f.Suspend = true })
			c.edit("09:02:30", "helm", func(f *events.CronJobSeen) { f.Suspend = false })
			c.ledger("09:05:41", "09:05:00", "", events.NotHeld, c.fate("09:00:00", "09:05:00", events.TickSkipped, func(t *events.Tick) { t.Into = cronClock("09:06:00") }))
		}, []string{"09:01:00", "09:04:00"}, []string{", for the first of them; for the last: "}},
		"nothing kept it from starting": {"another's", func(f *events.CronJobSeen) { f.Deadline = new(int64(20)) }, func(c *sceneCron) {
			c.ledger("09:01:41", "09:01:00", "", events.NotHeld, c.fate("09:01:00", "09:01:00", events.TickSkipped, nil))
		}, []string{"09:01:00"}, []string{"why is not known; by 2 Mar 09:01:20 startingDeadlineSeconds 20 was over"}},
		"more due times than are looked at": {"both", func(f *events.CronJobSeen) { f.Created = cronClock("08:59:30") }, func(c *sceneCron) {
			for i := range 45 {
				c.well(fmt.Sprintf("09:%02d", i), fmt.Sprintf("n%d", i), events.ResultComplete)
			}
		}, []string{"09:05:00", "09:44:00"}, []string{"HEALTHY: its last 45 due times started"}},
	} {
		for _, ours := range []bool{false, true} {
			if row.modes == "ours" && !ours || row.modes == "another's" && ours {
				continue
			}
			t.Run(fmt.Sprintf("%s, ours: %t", name, ours), func(t *testing.T) {
				l := newScene(t, ours)
				c := l.cron("08:59:30", ours, row.change)
				row.play(c)
				keepSum(t, l.source())
				l.says(row.says...)
				if len(row.at) > 0 {
					c.whyNots(row.at...)
				}
			})
		}
	}
}

// held lets a Job of 09:00 run on, so that the due time of 09:01 cannot start. Its own records are there, too.
func held(c *sceneCron, change func(*sceneJob)) {
	c.t.Helper()
	c.runs("09:00:00", "09:00:00", "z", nil)
	c.ledger("09:00:00", "09:00:00", "", events.NotHeld, c.started("09:00:00", "z", 0))
	j := c.jobOf("09:00:01", "z", change)
	j.starts("09:00:01")
	j.pod("09:00:02", "report-z-pod", nil).runs("09:00:03", "node-1")
	c.see("09:00:04", events.KindCronJobChanged, events.Evidence{})
	if c.ours {
		c.ledger("09:01:00", "09:00:00", "09:01:00", events.HeldForbid)
	}
	c.see("09:01:08", events.KindCronJobChanged, events.Evidence{})
}
