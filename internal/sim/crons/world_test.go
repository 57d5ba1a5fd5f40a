package crons

import (
	"bytes"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/schedule"
	"github.com/jobledger/jobledger/internal/zones"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// world is a cluster with CronJobs, and a controller that is up or down.
type world struct {
	t      *testing.T
	r      *rand.Rand
	true   time.Time     // of the API server
	offset time.Duration // of the controller's clock
	agenda agenda
	order  int

	version uint64
	crons   []*cron
	jobs    map[string]*job // by name

	ending  bool // nothing more is planned
	up      bool
	world   *projector.World
	intake  projector.Intake
	next    events.Sequence
	wakes   map[events.Stream]events.Time
	life    int // of the controller: what was agreed with an earlier one is not carried out
	records int
	stored  []events.Record // all of them, when they are to be replayed
	keep    bool
}

// cron is a CronJob as the API server has it, and what its decisions have said.
type cron struct {
	uid   types.UID
	facts events.CronJobSeen
	fates
}

type job struct {
	facts  events.RunSeen
	owner  *cron
	exists bool
}

// agenda is what happens when, by the API server's clock.
type agenda []*appointment

type appointment struct {
	at    time.Time
	order int
	do    func()
}

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at.Before(a[j].at) || a[i].at.Equal(a[j].at) && a[i].order < a[j].order
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(*appointment)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		t: t, r: rand.New(rand.NewPCG(seed, 16)), true: time.Date(2026, 1, 1, 0, 0, 17, 0, time.UTC),
		jobs: map[string]*job{}, world: projector.NewWorld(), wakes: map[events.Stream]events.Time{},
	}
	w.intake = projector.Intake{World: w.world, FileStart: 1}
	return w
}

func (w *world) after(d time.Duration, do func()) {
	w.order++
	heap.Push(&w.agenda, &appointment{w.true.Add(d), w.order, do})
}

// alive does so if the controller lives on till then.
func (w *world) alive(d time.Duration, do func()) {
	life := w.life
	w.after(d, func() {
		if w.up && w.life == life {
			do()
		}
	})
}

func (w *world) now() events.Time { return events.Time(w.true.Add(w.offset).UnixNano()) }

// run lives until then.
func (w *world) run(until time.Time) {
	for {
		next := until
		if len(w.agenda) > 0 && w.agenda[0].at.Before(next) {
			next = w.agenda[0].at
		}
		if at, stream := w.firstWake(); stream != (events.Stream{}) && at.Before(next) {
			if at.After(w.true) {
				w.true = at
			}
			w.look(stream)
			continue
		}
		w.true = next
		if next.Equal(until) {
			return
		}
		heap.Pop(&w.agenda).(*appointment).do()
	}
}

func (w *world) firstWake() (at time.Time, stream events.Stream) {
	if !w.up {
		return
	}
	for s, wake := range w.wakes {
		if t := wake.Go().Add(-w.offset); stream == (events.Stream{}) || t.Before(at) || t.Equal(at) && s.ID < stream.ID {
			at, stream = t, s
		}
	}
	return at, stream
}

// look is a wait that is over.
func (w *world) look(s events.Stream) {
	subject := w.world.Subject(s)
	delete(w.wakes, s)
	if subject == nil {
		return
	}
	d := reconciler.DecideAt(subject, w.now())
	if !d.Commands() {
		w.wake(s, d.Wake)
		return
	}
	w.input(projector.Draft{Stream: s, Kind: events.KindTimerFired, Facts: &events.TimerFired{}})
}

func (w *world) wake(s events.Stream, at events.Time) {
	delete(w.wakes, s)
	if at != 0 {
		w.wakes[s] = at
	}
}

// put folds a record.
func (w *world) put(d projector.Draft) events.Sequence {
	w.next++
	w.records++
	rec := events.Record{
		Header: events.Header{Sequence: w.next, Time: w.now(), Stream: d.Stream, Kind: d.Kind, Critical: d.Kind.Critical()},
		Facts:  d.Facts, Evidence: d.Evidence,
	}
	w.world.Apply(&rec)
	if w.keep {
		w.stored = append(w.stored, rec)
	}
	return w.next
}

// input is a turn of the loop with these inputs.
func (w *world) input(drafts ...projector.Draft) {
	var touched []events.Stream
	for _, d := range drafts {
		w.put(d)
		if !slices.Contains(touched, d.Stream) && d.Stream != events.Controller {
			touched = append(touched, d.Stream)
		}
	}
	for _, s := range touched {
		w.decide(s)
	}
}

func (w *world) decide(s events.Stream) {
	subject := w.world.Subject(s)
	if subject == nil {
		delete(w.wakes, s)
		return
	}
	d := reconciler.Decide(subject)
	w.wake(s, d.Wake)
	if !d.Commands() {
		return
	}
	at := w.put(projector.Draft{Stream: s, Kind: events.KindDecided, Facts: &d.Decision})
	c := w.cron(s)
	for i := range d.Steps {
		if said := d.Steps[i].Cron; said != nil {
			c.hear(w.t, said, w.now())
		}
	}
	if subject := w.world.Subject(s); subject != nil && w.next%64 == 0 {
		if again := reconciler.Decide(subject); again.Commands() {
			w.t.Fatalf("%s decides again right after its decision %+v: %+v", s, d.Steps, again.Steps)
		}
	}
	for place, command := range d.Decision.Commands() {
		w.carryOut(c, events.CommandID{Decided: at, Place: uint32(place)}, command)
	}
}

func (w *world) cron(s events.Stream) *cron {
	for _, c := range w.crons {
		if string(c.uid) == s.ID {
			return c
		}
	}
	w.t.Fatalf("there is no %s", s)
	return nil
}

// carryOut makes the request some time later. What is answered to a controller that has gone is not heard.
func (w *world) carryOut(c *cron, name events.CommandID, command events.Command) {
	task := events.Task{Name: name, Command: command}
	delay := time.Duration(5+w.r.IntN(50)) * time.Millisecond
	if w.r.IntN(200) == 0 {
		delay = time.Duration(w.r.IntN(600)) * time.Second // a slow one
	}
	life := w.life
	how, ended := w.r.IntN(50), task.Ended(events.Done)
	early := how > 1 && w.r.IntN(2) == 0 // it has its effect though the controller may not live to hear of it
	if early {
		w.effect(c, command, &ended)
	}
	w.after(delay, func() {
		if !w.up || w.life != life {
			return
		}
		var read []projector.Draft
		switch {
		case how == 0:
			ended.Ending, ended.Class = events.Refused, events.RefusedServer
		case how == 1:
			if w.r.IntN(2) == 0 {
				w.effect(c, command, &ended)
			}
			ended = task.Ended(events.OutcomeUnknown)
		case !early || command.Traits().Reads:
			read = w.effect(c, command, &ended)
		}
		w.input(append(read, projector.Draft{Stream: events.CronJobStream(c.uid), Kind: events.KindCommandEnded, Facts: &ended})...)
	})
}

// effects are what the API server does.
func effects() map[events.CommandKind]func(w *world, c *cron, command events.Command, ended *events.CommandEnded) []projector.Draft {
	return map[events.CommandKind]func(w *world, c *cron, command events.Command, ended *events.CommandEnded) []projector.Draft{
		events.CommandCreateJob: func(w *world, c *cron, command events.Command, ended *events.CommandEnded) []projector.Draft {
			create := command.(*events.CreateJob)
			if w.jobs[create.Name] != nil {
				ended.Ending, ended.Class = events.Refused, events.RefusedNameTaken
				return nil
			}
			w.version++
			created := events.Time(w.true.UnixNano()).Second()
			j := &job{owner: c, exists: true, facts: events.RunSeen{
				Job: types.UID(fmt.Sprintf("job-%d", w.version)), Name: create.Name, Version: w.version, Created: created, Started: created, Due: create.Due,
			}}
			w.jobs[create.Name] = j
			c.made(w.t, create.Due)
			ended.UID, ended.Version, ended.Written = j.facts.Job, w.version, created
			w.tell(j)
			length := time.Duration(w.r.IntN(60)) * time.Second
			if w.r.IntN(20) == 0 {
				length = time.Duration(w.r.IntN(300)) * time.Minute
			}
			w.after(length, func() { w.finish(j) })
			return nil
		},
		events.CommandDeleteRun: func(w *world, _ *cron, command events.Command, ended *events.CommandEnded) []projector.Draft {
			j := w.jobs[command.(*events.DeleteRun).Name]
			if j == nil {
				ended.Ending, ended.Class = events.Refused, events.RefusedNotFound
				return nil
			}
			w.remove(j)
			return nil
		},
		events.CommandReadRun: func(w *world, c *cron, command events.Command, ended *events.CommandEnded) []projector.Draft {
			j := w.jobs[command.(*events.ReadRun).Name]
			if j == nil {
				ended.Ending, ended.Class = events.Refused, events.RefusedNotFound
				return nil
			}
			ended.UID, ended.Version = j.facts.Job, j.facts.Version
			if !w.up {
				return nil
			}
			return w.intake.FollowRun(observed(j))
		},
		events.CommandReadCronJob: func(w *world, c *cron, _ events.Command, ended *events.CommandEnded) []projector.Draft {
			ended.UID, ended.Version = c.uid, c.facts.Version
			if !w.up {
				return nil
			}
			return w.admit(c)
		},
		events.CommandWriteCronStatus: func(w *world, c *cron, command events.Command, ended *events.CommandEnded) []projector.Draft {
			write := command.(*events.WriteCronStatus)
			if write.Base != c.facts.Version {
				ended.Ending, ended.Class = events.Refused, events.RefusedConflict
				return nil
			}
			if write.LastSchedule < c.facts.LastSchedule || write.LastSuccess < c.facts.LastSuccess {
				w.t.Fatalf("a status goes back: %+v after %+v (C-243, C-244)", write, c.facts)
			}
			w.version++
			c.facts.Version, c.facts.Active = w.version, slices.Clone(write.Active)
			c.facts.LastSchedule, c.facts.LastSuccess = write.LastSchedule, write.LastSuccess
			ended.UID, ended.Version = c.uid, w.version
			return nil
		},
	}
}

func (w *world) effect(c *cron, command events.Command, ended *events.CommandEnded) []projector.Draft {
	return effects()[command.Traits().Kind](w, c, command, ended)
}

func observed(j *job) *events.Observation {
	facts := j.facts
	return &events.Observation{
		Job: events.JobRef{Namespace: "default", Name: facts.Name, UID: facts.Job}, Facts: &events.JobSeen{Version: facts.Version},
		CronJob: j.owner.uid, Run: &facts,
		Evidence: events.Evidence{Origin: &events.Origin{Kind: "CronJob", Name: string(j.owner.uid), UID: j.owner.uid}},
	}
}

// tell has the watch show a Job.
func (w *world) tell(j *job) {
	w.alive(time.Duration(w.r.IntN(30))*time.Millisecond, func() {
		if j.exists {
			w.input(w.intake.FollowRun(observed(j))...)
		}
	})
}

func (w *world) finish(j *job) {
	if !j.exists {
		return
	}
	w.version++
	j.facts.Version, j.facts.Result = w.version, events.ResultFailed
	if w.r.IntN(4) > 0 {
		j.facts.Result, j.facts.Succeeded, j.facts.Completed = events.ResultComplete, true, events.Time(w.true.UnixNano()).Second()
	}
	w.tell(j)
}

func (w *world) remove(j *job) {
	w.version++
	version := w.version
	j.exists = false
	delete(w.jobs, j.facts.Name)
	w.alive(time.Duration(w.r.IntN(30))*time.Millisecond, func() { w.gone(j, version) })
}

func (w *world) gone(j *job, version uint64) {
	w.input(w.intake.FollowRun(&events.Observation{Job: events.JobRef{UID: j.facts.Job}, Facts: &events.JobGone{Version: version}})...)
}

func (w *world) admit(c *cron) []projector.Draft {
	facts := c.facts
	o := &events.Observation{
		Job: events.JobRef{Namespace: "default", Name: string(c.uid), UID: c.uid}, Facts: &facts,
		Evidence: events.Evidence{Namespace: "default", Name: string(c.uid)},
	}
	for _, name := range schedule.Named(facts.Schedule, facts.TimeZone) {
		if z, ok := zones.Find(name); ok {
			o.Zones = append(o.Zones, events.ZoneRules{Name: z.Name, TZif: z.TZif, Hash: z.Hash})
			facts.Zones = append(facts.Zones, events.ZoneName{Name: z.Name, Hash: z.Hash})
		}
	}
	return w.intake.Admit(o, w.next+1)
}

// edit changes a CronJob as its user does.
func (w *world) edit(c *cron, change func(*events.CronJobSeen)) {
	w.version++
	change(&c.facts)
	c.facts.Version = w.version
	c.facts.Generation++
	w.alive(time.Duration(w.r.IntN(30))*time.Millisecond, func() { w.input(w.admit(c)...) })
}

// begin starts a controller, which lists.
func (w *world) begin() {
	w.up = true
	w.life++
	settings := events.DefaultSettings()
	settings.Mode, settings.CronJobs = events.ModeAll, true
	w.put(projector.Draft{Stream: events.Controller, Kind: events.KindControllerStarted, Facts: &events.ControllerStarted{Version: "test", Settings: settings}})
	for _, c := range w.crons {
		for _, d := range w.admit(c) {
			w.put(d)
		}
		w.restores(events.CronJobStream(c.uid))
		subject := w.world.CronJob(events.CronJobStream(c.uid))
		for _, uid := range slices.Sorted(func(yield func(types.UID) bool) {
			for uid := range subject.Runs {
				if !yield(uid) {
					return
				}
			}
		}) {
			if j := w.jobs[subject.Runs[uid].Name]; j == nil || j.facts.Job != uid {
				w.put(projector.Draft{Stream: subject.Stream, Kind: events.KindRunGone, Facts: &events.RunGone{Job: uid, Version: w.version, Missed: true}})
			}
		}
	}
	var names []string
	for name := range w.jobs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, d := range w.intake.FollowRun(observed(w.jobs[name])) {
			w.put(d)
		}
	}
	for _, c := range w.crons {
		w.input(projector.Draft{Stream: events.CronJobStream(c.uid), Kind: events.KindJobResumed, Facts: &events.JobResumed{}})
	}
}

// restores checks that a stored state gives the same CronJob again.
func (w *world) restores(s events.Stream) {
	facts, names, _ := w.world.StreamState(s)
	other := projector.NewWorld()
	other.Settings = w.world.Settings
	if err := other.RestoreStream(s, facts, names); err != nil {
		w.t.Fatal(err)
	}
	if again, called, _ := other.StreamState(s); !bytes.Equal(facts, again) || !bytes.Equal(names, called) {
		w.t.Fatalf("the state of %s is another one once it is restored", s)
	}
}

// end kills the controller.
func (w *world) end() {
	w.up = false
	clear(w.wakes)
}

// step sets the controller's clock.
func (w *world) step(by time.Duration) {
	w.offset += by
	w.put(projector.Draft{Stream: events.Controller, Kind: events.KindClockStepped, Facts: &events.ClockStepped{Step: by}})
	for _, c := range w.crons {
		w.input(projector.Draft{Stream: events.CronJobStream(c.uid), Kind: events.KindJobResumed, Facts: &events.JobResumed{}})
	}
}
