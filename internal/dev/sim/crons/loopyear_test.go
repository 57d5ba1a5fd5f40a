package crons

import (
	"fmt"
	"math/bits"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	simworld "github.com/jobledger/jobledger/internal/dev/sim/world"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// loopYear is a year with some CronJobs and the whole controller.
type loopYear struct {
	*machine
	tables map[string]*timetable // by text
	names  []string
	ending bool
	kills  []events.Time // when the controller was killed, by its clock
}

// TestAYearInTheLoop writes the log of a year (60 days without JOBLEDGER_LONG) with the real loop, informer and
// executor. The controller is killed and down now and then, its clock is set, users edit CronJobs, and requests fail,
// end unknown or come late. Each due time has one fate, and each Job is told once. The log replays without a
// divergence, also in a process with another time zone and with other time zone databases of machine and program.
func TestAYearInTheLoop(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	y := newLoopYear(t, 7)
	days := 60
	switch {
	case effort.IsLong():
		days = 365
	case testing.Short():
		days = 30
	}
	y.live(days)
	due, told := y.judge()
	t.Logf("%d due times, %d fates told in %d records", due, told, y.log.Head().Sequence)
	if due < days*15 {
		t.Errorf("only %d due times", due)
	}
	replayElsewhere(t, y.log)
}

func newLoopYear(t *testing.T, seed uint64) *loopYear {
	y := &loopYear{machine: newMachine(t, seed), tables: map[string]*timetable{}}
	faults := apiserver.SeededFaults(simworld.Rand(seed, 21), apiserver.Rates{
		apiserver.TimeoutBefore: 0.01, apiserver.TimeoutAfter: 0.01, apiserver.TimeoutLate: 0.02, apiserver.TooManyRequests: 0.01,
		apiserver.ServerError: 0.01, apiserver.QuotaExceeded: 0.02, apiserver.TouchedByAnother: 0.02,
	}, 20*time.Second)
	y.client.Faults, y.crons.Faults = faults, faults
	return y
}

func (y *loopYear) live(days int) {
	for i := range 5 {
		name := fmt.Sprintf("c%d", i)
		y.names = append(y.names, name)
		y.create(name, y.spec(i > 0))
		y.plan(name)
	}
	y.start()
	var down, up func()
	down = func() {
		if !y.ending {
			y.kills = append(y.kills, y.now())
			y.kill()
			y.after(time.Duration(y.r.IntN(36*60))*time.Minute, "up", up)
		}
	}
	up = func() {
		y.start()
		y.after(time.Duration(y.r.IntN(6*24*60))*time.Minute, "down", down)
	}
	y.after(30*time.Hour, "down", down)
	var set func()
	set = func() {
		if !y.ending {
			y.step(time.Duration(y.r.IntN(1200)-600) * time.Second)
			y.after(time.Duration(y.r.IntN(30*24))*time.Hour, "clock", set)
		}
	}
	y.after(40*time.Hour, "clock", set)
	y.pass(y.world.Clock.Now().AddDate(0, 0, days))
	y.ending = true
	y.client.Faults, y.crons.Faults = nil, nil
	y.pass(y.world.Clock.Now().Add(7 * 24 * time.Hour)) // all plans are over by then
	if y.process == nil {
		y.start()
	}
	for _, suspend := range []bool{false, true} {
		for _, name := range y.names {
			y.edit(name, func(c *batchv1.CronJob) { c.Spec.Suspend = &suspend })
		}
		y.pass(y.world.Clock.Now().Add(3 * time.Hour))
	}
}

// spec returns a CronJob that is due some times a day, or now and then every few minutes.
func (y *loopYear) spec(idle bool) *batchv1.CronJobSpec {
	s := &batchv1.CronJobSpec{
		ConcurrencyPolicy: []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}[y.r.IntN(3)],
		JobTemplate:       template(idle),
	}
	y.reschedule(s)
	return s
}

func (y *loopYear) reschedule(s *batchv1.CronJobSpec) {
	s.StartingDeadlineSeconds, s.TimeZone = nil, nil
	if y.r.IntN(3) == 0 {
		s.StartingDeadlineSeconds = new(int64(60 + y.r.IntN(7200)))
	}
	table := &timetable{}
	minute, hour := fmt.Sprint(y.r.IntN(60)), fmt.Sprintf("%d-%d/%d", y.r.IntN(5), 16+y.r.IntN(8), 3+y.r.IntN(4))
	switch y.r.IntN(12) {
	case 0:
		minute, hour = "*/20", fmt.Sprint(y.r.IntN(24))
	case 1:
		for table = randomTimetable(y.r, true); bits.OnesCount64(table.minutes)*bits.OnesCount64(table.hours) > 24; {
			table = randomTimetable(y.r, true) // TestAYear covers schedules that are due all the time
		}
		minute = ""
	case 2:
		if s.StartingDeadlineSeconds == nil {
			every := time.Duration(7200+y.r.IntN(8*3600)) * time.Second
			table, minute = &timetable{text: "@every " + every.String(), every: every}, ""
		}
	}
	if minute != "" {
		table.read("", minute, hour, "*", "*", sometimes(y.r, 4, "mon-fri"))
	}
	y.tables[table.text] = table
	s.Schedule = table.text
	if place := places[y.r.IntN(len(places))]; place != "" {
		s.TimeZone = &place
	}
}

// plan schedules changes of a CronJob, now and then.
func (y *loopYear) plan(name string) {
	y.after(time.Duration(y.r.IntN(10*24*60))*time.Minute, "user", func() {
		if y.ending {
			return
		}
		switch y.r.IntN(5) {
		case 0, 1:
			y.edit(name, func(c *batchv1.CronJob) { y.reschedule(&c.Spec) })
		case 2:
			y.edit(name, func(c *batchv1.CronJob) { c.Spec.Suspend = new(true) })
			y.after(time.Duration(y.r.IntN(3*24*60))*time.Minute, "user", func() {
				y.edit(name, func(c *batchv1.CronJob) { c.Spec.Suspend = new(false) })
			})
		case 3:
			y.edit(name, func(c *batchv1.CronJob) { c.Spec.SuccessfulJobsHistoryLimit = new(int32(1 + y.r.IntN(4))) })
		case 4:
			_ = y.user.DeleteCronJob(y.t.Context(), "default", name, "", "Background")
			y.create(name, y.spec(name != "c0"))
		}
		y.plan(name)
	})
}

// judge replays the log and compares the fates that it tells with a walk over the schedules.
func (y *loopYear) judge() (due, told int) {
	y.t.Helper()
	all, known, away, last := map[string]*fates{}, map[types.UID]bool{}, &downs{}, events.Time(0)
	before := last // of the turn before
	kills := y.kills
	y.replayed(func(rec *events.Record) {
		if rec.Time != last {
			before, last = last, rec.Time
		}
		id := rec.Stream.ID
		switch f := rec.Facts.(type) {
		case *events.ControllerStarted:
			if len(away.spans) > 0 {
				away.ended(before, kills[0])
				kills = kills[1:]
			}
			away.began(rec.Time)
		case *events.ClockStepped:
			away.stepped(f.Step)
			for _, of := range all {
				of.stepped(f.Step)
			}
		case *events.CronJobSeen:
			if all[id] == nil {
				all[id] = &fates{}
				all[id].begin(f.Created)
			}
			all[id].show(y.tables[f.Schedule], f.TimeZone, rec.Time)
		case *events.CronJobGone:
			all[id].leave()
		case *events.RunSeen:
			if f.Due != 0 && !known[f.Job] {
				known[f.Job] = true
				all[id].create(y.t, f.Job, f.Due, false)
			}
		case *events.CommandEnded:
			if f.Type == events.CommandCreateJob && f.Ending == events.Done && !known[f.UID] {
				known[f.UID] = true
				all[id].create(y.t, f.UID, f.Due, false)
			}
		case *events.Decision:
			for i := range f.Steps {
				if said := f.Steps[i].Cron; said != nil && rec.Kind == events.KindDecided {
					all[id].hear(y.t, said, away, rec.Time)
				}
			}
		}
	})
	for _, of := range all {
		due += of.due
		for _, n := range of.counts {
			told += n
		}
		if !of.ledger.Closed {
			of.conclude(y.t, last)
		}
	}
	return due, told
}

// replayElsewhere replays a log in a process that finds other rules for all zones, from each source.
func replayElsewhere(t *testing.T, log *memlog.Log) {
	t.Helper()
	dir := t.TempDir()
	writeLog(t, log, dir+"/log")
	program := buildElsewhere(t, dir)
	out, err := runElsewhere(program, dir, "replay", "--log", dir+"/log")
	if err != nil {
		t.Fatalf("replay elsewhere: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}
