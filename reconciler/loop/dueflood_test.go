package loop_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// dueFlood is a namespace with CronJobs that are due each second. They fill the log without any request of a user.
type dueFlood struct {
	name, cron string
	// lives is how long one of their Jobs runs; 0 for ever. A Job that is not deleted keeps its name, so no other Job
	// of that minute can be made.
	lives time.Duration
	gone  bool // the Job is deleted when it has ended, as by its TTL
	// least and most are how many Jobs each CronJob makes in a minute.
	least, most int
}

var dueFloods = []dueFlood{
	{name: "Forbid, and the Job hangs", cron: "policy=Forbid", least: 0, most: 0},
	{name: "Allow, and the Jobs hang", cron: "", least: 1, most: 1},
	{name: "Allow, and the Jobs end at once", cron: "", lives: 300 * time.Millisecond, least: 1, most: 1},
	{name: "Forbid, and the Jobs end at once", cron: "policy=Forbid", lives: 300 * time.Millisecond, least: 1, most: 1},
	{name: "Replace, and the Jobs hang", cron: "policy=Replace", least: 1, most: 1},
	{name: "no start may be late", cron: "startBy=0", least: 0, most: 0},
	{name: "it is suspended", cron: "suspend=true", least: 0, most: 0},
	{name: "Allow, and the Jobs are deleted as they end", cron: "", lives: 300 * time.Millisecond, gone: true, least: 55, most: 60},
}

// dueCrowd is how many CronJobs the namespace has.
const dueCrowd = 20

// run lets the CronJobs be due for a while. It returns the bytes of the log, how many records of each kind there are,
// and when each Job was made, by its name.
func (f *dueFlood) run(t *testing.T, settings func(*events.Settings), d time.Duration) (m *machine, size int64, kinds map[events.Kind]int, made []string) {
	t.Helper()
	m = newMachine(t)
	m.settings.NamespaceBudget, m.settings.CronJobs = floodBudget, true
	settings(&m.settings)
	m.do("start")
	m.do("synced")
	for n := range dueCrowd {
		m.do(fmt.Sprintf("cronjob cron-%d schedule=@every_1s %s", n, f.cron))
	}
	s := dueServer{m: m, f: f, jobs: map[string]*dueJob{}}
	for until := m.now.Add(d); m.now < until; {
		m.now = m.now.Add(floodTick)
		m.turn(s.inputs()...)
		tasks, _ := m.loop.Durable(m.log.Head().Sequence)
		s.answer(tasks)
	}
	kinds = map[events.Kind]int{}
	for rec, err := range m.log.Read(t.Context(), 1) {
		m.must(err)
		stored, err := events.AppendRecord(nil, &rec)
		m.must(err)
		size += int64(len(stored))
		kinds[rec.Kind]++
	}
	return m, size, kinds, s.made
}

// dueServer is an API server in which the CronJobs' Jobs are made, run and end.
type dueServer struct {
	m       *machine
	f       *dueFlood
	jobs    map[string]*dueJob // by name
	order   []string
	results []loop.Input
	made    []string
}

type dueJob struct {
	run   *events.RunSeen
	cron  types.UID
	made  events.Time
	shown int // how much of its life the watch has shown
}

// answer carries out commands, and queues their results.
func (s *dueServer) answer(tasks []events.Task) {
	for i := range tasks {
		task := &tasks[i]
		s.m.version++
		ended := task.Ended(events.Done)
		ended.Sent, ended.Version, ended.Written = true, s.m.version, s.m.now.Second()
		switch c := task.Command.(type) {
		case *events.CreateJob:
			if had := s.jobs[c.Name]; had != nil {
				ended.Ending, ended.Class, ended.Version, ended.Written = events.Refused, events.RefusedNameTaken, 0, 0
				break
			}
			uid := types.UID(fmt.Sprintf("uid-%s-%d", c.Name, s.m.version))
			s.jobs[c.Name] = &dueJob{cron: task.Job.UID, made: s.m.now, run: &events.RunSeen{
				Job: uid, Name: c.Name, Version: s.m.version, Created: s.m.now.Second(), Due: c.Due,
			}}
			s.order = append(s.order, c.Name)
			s.made = append(s.made, fmt.Sprintf("%s at %s", c.Name, s.m.now.Go().Format("15:04:05.0")))
			ended.UID = uid
		case *events.ReadRun:
			if had := s.jobs[c.Name]; had != nil {
				ended.UID = had.run.Job
			} else {
				ended.Ending, ended.Class, ended.Version, ended.Written = events.Refused, events.RefusedNotFound, 0, 0
			}
		case *events.DeleteRun:
			had := s.jobs[c.Name]
			s.remove(c.Name)
			s.results = append(s.results, loop.Input{Observation: s.observation(had, &events.RunGone{Job: had.run.Job, Version: s.m.version})})
		}
		s.results = append(s.results, loop.Input{Result: &events.TaskResult{Stream: task.Stream, Ended: ended}})
	}
}

// inputs returns the results so far, and the events of the watch that are due now.
func (s *dueServer) inputs() []loop.Input {
	inputs := s.results
	s.results = nil
	for _, name := range slices.Clone(s.order) {
		job := s.jobs[name]
		switch age := s.m.now.Sub(job.made); {
		case job.shown == 0:
			job.shown++
			inputs = append(inputs, loop.Input{Observation: s.observation(job, job.run)})
		case job.shown == 1 && s.f.lives > 0 && age >= s.f.lives:
			job.shown++
			s.m.version++
			next := *job.run
			next.Version, next.Result, next.Succeeded, next.Completed = s.m.version, events.ResultComplete, true, s.m.now.Second()
			job.run = &next
			inputs = append(inputs, loop.Input{Observation: s.observation(job, &next)})
		case job.shown == 2 && s.f.gone:
			s.m.version++
			inputs = append(inputs, loop.Input{Observation: s.observation(job, &events.RunGone{Job: job.run.Job, Version: s.m.version})})
			s.remove(name)
		}
	}
	return inputs
}

func (s *dueServer) remove(name string) {
	delete(s.jobs, name)
	s.order = slices.DeleteFunc(slices.Clone(s.order), func(other string) bool { return other == name })
}

func (s *dueServer) observation(job *dueJob, facts events.Facts) *events.Observation {
	return &events.Observation{
		Job: events.JobRef{Namespace: "ns", Name: job.run.Name, UID: job.run.Job}, CronJob: job.cron, Facts: facts,
		Evidence: events.Evidence{Namespace: "ns", Name: job.run.Name},
	}
}

// mostDue is the formula of docs/design/0009-log-budgets.md for CronJobs that are due each second. Each CronJob leads
// to the records of two looks in a minute, and each Job that is made to its own records.
func mostDue(jobs int, d time.Duration) int64 {
	looks := int64(2*dueCrowd) * int64(d/time.Minute+1)
	return looks*dueLook + int64(jobs)*dueRun + dueCrowd*floodVersion
}

// dueLook is the most bytes that a look adds if it starts nothing: for its timer and its decision. dueRun is the most
// bytes that a Job adds: for the commands and their ends, and for its observations.
const (
	dueLook = 512
	dueRun  = 2 << 10
)

// C-085: TestDueFloods: CronJobs that are due each second fill the log no further than a formula allows, whether or not
// they start Jobs. They make the same Jobs at the same times as without a pace, and each due time has its outcome
// (fate).
func TestDueFloods(t *testing.T) {
	t.Parallel()
	const long = 4 * time.Minute
	for _, f := range dueFloods {
		_, free, _, before := f.run(t, func(s *events.Settings) { s.DuePace = 0 }, long)
		m, size, kinds, made := f.run(t, func(*events.Settings) {}, long)
		most := mostDue(len(made), long)
		t.Logf("%s: %d bytes, %d without a pace, at most %d; %d Jobs; %v", f.name, size, free, most, len(made), kinds)
		if size > most {
			t.Errorf("%s: the log has %d bytes, want at most %d", f.name, size, most)
		}
		if !slices.Equal(made, before) {
			t.Errorf("%s: %d Jobs were made, and without a pace %d, or at other times:\n%v\n%v", f.name, len(made), len(before), made, before)
		}
		if each := len(made) / dueCrowd / int(long/time.Minute); each < f.least || each > f.most {
			t.Errorf("%s: %d Jobs were made for each CronJob in a minute, want %d to %d", f.name, each, f.least, f.most)
		}
		f.fates(t, m)
		m.check()
	}
}

// fates checks that each due time of a CronJob has exactly one fate, in order. The due times of the last two minutes,
// and those of a suspended CronJob, may have none yet.
func (f *dueFlood) fates(t *testing.T, m *machine) {
	t.Helper()
	through := map[events.Stream]events.Time{}
	for rec, err := range m.log.Read(t.Context(), 1) {
		m.must(err)
		d, ok := rec.Facts.(*events.Decision)
		if !ok || rec.Stream.Kind != events.StreamCronJob {
			continue
		}
		for i := range d.Steps {
			if d.Steps[i].Cron == nil {
				continue
			}
			for _, e := range d.Steps[i].Cron.Ticks {
				last := through[rec.Stream]
				if last == 0 {
					last = e.First.Add(-time.Second)
				}
				if e.First != last.Add(time.Second) {
					t.Fatalf("%s: the fate of %s follows that of %s", f.name, e.First.Go(), last.Go())
				}
				through[rec.Stream] = e.Last
			}
		}
	}
	for n := range dueCrowd {
		s := events.CronJobStream(types.UID(fmt.Sprint("uid-cron-", n)))
		if f.cron != "suspend=true" && through[s] < m.now.Add(-2*time.Minute) {
			t.Errorf("%s: the due times of cron-%d have fates through %s, and it is %s", f.name, n, through[s].Go(), m.now.Go())
		}
	}
}
