package crons

import (
	"bytes"
	"container/heap"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/projector/intake"
	"github.com/jobledger/jobledger/reconciler/rules"
)

// world is a cluster with CronJobs, and a controller that is up or down.
type world struct {
	t      *testing.T
	r      *rand.Rand
	true   time.Time     // time of the API server
	offset time.Duration // error of the controller's clock
	agenda agenda        // of the cluster, by the API server's clock
	wakes  agenda        // of the controller, by its own clock; void ones are skipped
	order  int

	version uint64
	crons   []*cron
	jobs    map[string]*job // by name

	ending   bool // no more changes are planned
	up       bool
	world    *projector.World
	intake   intake.Intake
	next     events.Sequence
	life     int // number of controllers so far; actions that an earlier one planned are dropped
	away     downs
	late     int                                          // number of creates that arrived after their sender gave up
	script   func(events.Command) (answer, time.Duration) // chooses the answers to requests; nil for random ones
	newest   tail
	deciding *cron // the CronJob of the newest decision
}

// cron is a CronJob as the API server has it, with the fates that its decisions told.
type cron struct {
	uid     types.UID
	stream  events.Stream
	facts   events.CronJobSeen
	by      *timetable // its schedule
	gone    bool
	refused time.Time    // until then none of its Jobs can be created
	wake    *appointment // in force
	fates
}

type job struct {
	facts events.RunSeen
	owner *cron // nil for a Job without a CronJob
}

// agenda is a heap of appointments, by time.
type agenda []*appointment

type appointment struct {
	at    time.Time
	order int
	do    func()
	void  bool
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

// first returns the first appointment that is not void; nil for none.
func (a *agenda) first() *appointment {
	for len(*a) > 0 {
		if first := (*a)[0]; !first.void {
			return first
		}
		heap.Pop(a)
	}
	return nil
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		t: t, r: rand.New(rand.NewPCG(seed, 16)), true: time.Date(2026, 1, 1, 0, 0, 17, 0, time.UTC),
		jobs: map[string]*job{}, world: projector.NewWorld(),
	}
	w.intake = intake.Intake{World: w.world, FileStart: 1}
	return w
}

func (w *world) after(d time.Duration, do func()) {
	w.order++
	heap.Push(&w.agenda, &appointment{at: w.true.Add(d), order: w.order, do: do})
}

// alive calls the function `do` after d, if the controller still lives then.
func (w *world) alive(d time.Duration, do func()) {
	life := w.life
	w.after(d, func() {
		if w.up && w.life == life {
			do()
		}
	})
}

func (w *world) now() events.Time { return events.Time(w.true.Add(w.offset).UnixNano()) }

// run lets the world live until a time.
func (w *world) run(until time.Time) {
	for {
		next := w.agenda.first()
		if next != nil && next.at.After(until) {
			next = nil
		}
		if wake := w.wakes.first(); w.up && wake != nil {
			at := wake.at.Add(-w.offset)
			if !at.After(until) && (next == nil || at.Before(next.at)) {
				if at.After(w.true) {
					w.true = at
				}
				heap.Pop(&w.wakes)
				wake.do()
				continue
			}
		}
		if next == nil {
			w.true = until
			return
		}
		w.true = next.at
		heap.Pop(&w.agenda)
		next.do()
	}
}

// look decides for a CronJob after a wait.
func (w *world) look(c *cron) {
	c.wake = nil
	subject := w.world.Subject(c.stream)
	if subject == nil {
		return
	}
	d := rules.DecideAt(subject, w.now())
	if !d.Commands() {
		w.wake(c, d.Wake)
		return
	}
	w.input(projector.Draft{Stream: c.stream, Kind: events.KindTimerFired, Facts: &events.TimerFired{}})
}

func (w *world) wake(c *cron, at events.Time) {
	if c.wake != nil {
		c.wake.void = true
		c.wake = nil
	}
	if at != 0 {
		w.order++
		c.wake = &appointment{at: at.Go(), order: w.order, do: func() { w.look(c) }}
		heap.Push(&w.wakes, c.wake)
	}
}

// put folds a record.
func (w *world) put(d projector.Draft) events.Sequence {
	w.next++
	rec := events.Record{
		Header: events.Header{Sequence: w.next, Time: w.now(), Stream: d.Stream, Kind: d.Kind, Critical: d.Kind.Critical()},
		Facts:  d.Facts, Evidence: d.Evidence,
	}
	w.world.Apply(&rec)
	w.newest.keep(&rec)
	return w.next
}

// input makes a turn of the loop with these inputs.
func (w *world) input(drafts ...projector.Draft) {
	var touched []events.Stream
	for _, d := range drafts {
		w.put(d)
		if !slices.Contains(touched, d.Stream) && d.Stream != events.Controller {
			touched = append(touched, d.Stream)
		}
	}
	for _, s := range touched {
		w.decide(w.cron(s))
	}
}

func (w *world) decide(c *cron) {
	subject := w.world.Subject(c.stream)
	if subject == nil {
		w.wake(c, 0)
		return
	}
	d := rules.Decide(subject)
	w.wake(c, d.Wake)
	if !d.Commands() {
		return
	}
	at := w.put(projector.Draft{Stream: c.stream, Kind: events.KindDecided, Facts: &d.Decision})
	for i := range d.Steps {
		if said := d.Steps[i].Cron; said != nil {
			w.deciding = c
			c.hear(w.t, said, &w.away, w.now())
			w.plain(said)
		}
	}
	if subject := w.world.Subject(c.stream); subject != nil && w.next%64 == 0 {
		if again := rules.Decide(subject); again.Commands() {
			w.t.Fatalf("%s decides again right after its decision %+v: %+v", c.stream, d.Steps, again.Steps)
		}
		w.restores(c.stream)
	}
	for place, command := range d.Decision.Commands() {
		w.carryOut(c, events.CommandID{Decided: at, Place: uint32(place)}, command)
	}
}

// plain checks that no Event calls a Job unexpected: the controller made all of them, except those made by hand.
func (w *world) plain(said *events.CronStep) {
	for _, n := range said.Notices {
		if n.Reason == "UnexpectedJob" && !strings.Contains(n.Message, byHand) {
			w.t.Fatalf("at %s: %s", w.now().Go(), n.Message)
		}
	}
}

func (w *world) cron(s events.Stream) *cron {
	for _, c := range w.crons {
		if c.stream == s {
			return c
		}
	}
	w.t.Fatalf("there is no %s", s)
	return nil
}

// begin starts a controller, and lists.
func (w *world) begin() {
	w.up = true
	w.life++
	w.away.began(w.now())
	settings := events.DefaultSettings()
	settings.Mode, settings.CronJobs = events.ModeAll, true
	w.put(projector.Draft{Stream: events.Controller, Kind: events.KindControllerStarted, Facts: &events.ControllerStarted{
		Version: "test", Settings: settings, FoldVersion: projector.FoldVersion,
	}})
	watched := []events.Resource{events.Jobs, events.CronJobs}
	w.put(projector.Draft{Stream: events.Controller, Kind: events.KindListingStarted, Facts: &events.ListingStarted{
		Reason: events.ListingStart, Resources: watched, LastSeen: w.away.since.from,
	}})
	for _, c := range w.crons {
		subject := w.world.CronJob(c.stream)
		if c.gone {
			if subject != nil && !subject.Gone {
				w.put(projector.Draft{Stream: c.stream, Kind: events.KindCronJobDeleted, Facts: &events.CronJobGone{Version: w.version, Missed: true}})
			}
		} else {
			for _, d := range w.admit(c) {
				w.put(d)
			}
		}
		if subject != nil {
			w.missing(subject)
		}
	}
	for _, name := range w.names() {
		if j := w.jobs[name]; j.owner != nil && !j.owner.gone {
			for _, d := range w.intake.FollowRun(observed(j)) {
				w.put(d)
			}
		}
	}
	w.put(projector.Draft{Stream: events.Controller, Kind: events.KindSynced, Facts: &events.Synced{Resources: watched, Versions: []uint64{0, 0}}})
	for _, c := range w.crons {
		if subject := w.world.CronJob(c.stream); subject != nil && subject.Known() {
			w.input(projector.Draft{Stream: c.stream, Kind: events.KindJobResumed, Facts: &events.JobResumed{}})
		}
	}
}

// names returns the names of all Jobs.
func (w *world) names() []string { return slices.Sorted(maps.Keys(w.jobs)) }

// missing records Jobs of a CronJob that a listing did not show.
func (w *world) missing(c *projector.CronJob) {
	for _, r := range c.SortedRuns() {
		if j := w.jobs[r.Name]; j == nil || j.facts.Job != r.Job {
			w.put(projector.Draft{Stream: c.Stream, Kind: events.KindRunGone, Facts: &events.RunGone{Job: r.Job, Version: w.version, Missed: true}})
		}
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
	w.away.ended(w.now(), w.now())
	w.wakes = w.wakes[:0]
	for _, c := range w.crons {
		c.wake = nil
	}
}

// step sets the controller's clock.
func (w *world) step(by time.Duration) {
	w.offset += by
	w.put(projector.Draft{Stream: events.Controller, Kind: events.KindClockStepped, Facts: &events.ClockStepped{Step: by}})
	w.away.stepped(by)
	for _, c := range w.crons {
		c.stepped(by)
		if w.world.CronJob(c.stream) != nil {
			w.wake(c, w.now())
		}
	}
}
