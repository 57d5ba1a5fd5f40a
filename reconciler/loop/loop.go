package loop

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/observe"
	"github.com/jobledger/jobledger/store"
)

// Config is what a Loop works with. ZoneData and the settings of snapshots may be left out, the other fields are
// required.
type Config struct {
	Log           store.Log
	World         *projector.World // what the log says up to its head; the Loop owns it from here on
	Settings      events.Settings
	Program       string          // version of the program, for the record of its start
	Key           string          // ID of the key with which observations name specs and templates
	ZoneData      string          // version of the time zone data
	Leader        string          // as which this process holds the Lease; empty when there is none
	Patience      time.Duration   // with observed Jobs, how long another controller may take; observe.DefaultPatience when 0
	SnapshotEvery events.Sequence // records between snapshots; 100,000 when 0
	SnapshotStep  int             // streams that one turn encodes for a snapshot; 64 when 0
	// FloodPace is the time between two versions of an object whose namespace is over two budgets: a minute when 0, and no
	// other pace than before when negative.
	FloodPace    time.Duration
	RestateBytes int // of states that one turn adds to a new file at most; 64 KiB when 0
	// Clock says how long the process has run: a turn works on states for 5 ms at most. Nil where time is made up: a turn
	// is bounded by bytes alone then.
	Clock func() time.Duration
	// Busy reports whether the hands have so many commands of a Job before them that further creates need not be
	// durable at once: the Job loses nothing when they are so 100 ms later. Nil for never.
	Busy func(events.Stream) bool
	// Salt makes 16 random bytes: from a cryptographic source, as they protect erased evidence.
	Salt func() events.Salt
}

// Loop turns inputs into records and commands, one turn at a time. It is not safe for concurrent use.
type Loop struct {
	log      store.Log
	world    *projector.World
	intake   projector.Intake
	settings events.Settings
	program  string
	key      string
	zoneData string
	leader   string
	salt     func() events.Salt
	urgency  urgency

	next      events.Sequence // of the next record
	durable   events.Sequence // may be acted on. Invariant: durable < next
	terms     events.Sequence // the newest record of settings, clock or epoch
	epoch     events.Sequence // the newest rewind that this process recorded; 0 for none
	back      *events.Rewind  // an object that had gone is there again; nil when there is none
	waiting   []promise       // commands that wait for their record to be durable, by sequence
	wakes     delayingQueue[events.Stream]
	progress  progress
	retrying  retrying
	hastened  []events.Task // more urgent than they were when they were handed out
	pace      pace
	floodPace time.Duration
	words     words
	// resuming are the streams that have not been looked at since the newest listing.
	resuming map[events.Stream]bool
	heads    map[events.Stream]events.Sequence // of streams that ended and whose last records are not durable yet
	// forgotten is the newest durable record of a stream that neither heads nor the world knows any more.
	forgotten events.Sequence
	pasts     map[events.Stream]*past // that the inputs of this turn brought along
	room      []events.Record         // of the batch in the making; empty between turns
	saver     saver
	restater  restater

	snapshotEvery events.Sequence
	snapshotBatch int
	restateBytes  int
	clock         func() time.Duration // nil for none
	watcher       *observe.Watcher     // nil where no Job is observed
	rival         string               // what this run found of another controller; empty when it found none
	broken        error                // the log could not be read: nothing more may be appended
}

// promise is the commands of one batch: they may be carried out once its last record is durable.
type promise struct {
	through events.Sequence
	tasks   []events.Task
	back    []events.Task // to be withdrawn from the executor; none of tasks
}

// Input is something that came in: an observation, or the result of a command.
type Input struct {
	Observation *events.Observation
	Result      *events.TaskResult

	past *past // of the observation's Job; nil where the log was not asked
}

// New makes a Loop at the end of the log.
func New(c Config) *Loop {
	head := c.Log.Head()
	l := &Loop{
		log: c.Log, world: c.World, intake: projector.Intake{World: c.World}, settings: c.Settings,
		program: c.Program, key: c.Key, zoneData: c.ZoneData, leader: c.Leader, salt: c.Salt,
		urgency: newUrgency(c.Busy), next: head.Sequence + 1, durable: head.Sequence, heads: map[events.Stream]events.Sequence{},
		pasts: map[events.Stream]*past{},
		saver: saver{saved: head.Sequence}, snapshotEvery: cmp.Or(c.SnapshotEvery, 100_000), snapshotBatch: cmp.Or(c.SnapshotStep, 64),
		restateBytes: cmp.Or(c.RestateBytes, restateBytes), clock: c.Clock,
		wakes: newWakes(), progress: newProgress(), retrying: newRetrying(c.World.Now), pace: newPace(), floodPace: cmp.Or(c.FloodPace, floodPace), words: newWords(), resuming: map[events.Stream]bool{},
	}
	if c.Settings.Mode == events.ModeObserve || c.Settings.ObserveOthers {
		l.watcher = observe.New(cmp.Or(c.Patience, observe.DefaultPatience))
	}
	return l
}

// World is the state that the loop has folded. The caller may read it between turns.
func (l *Loop) World() *projector.World { return l.world }

// Start appends what every start appends: the log's creation when it is empty, a step of the clock when it runs behind
// the log, the settings in force, and the opening of the first listing. now is the wall clock.
func (l *Loop) Start(now events.Time) error {
	if err := l.log.Room(turnRoom); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	seen, orderly := l.world.Now, l.endedInOrder()
	b := l.begin(now)
	if l.next == 1 {
		id := l.log.Identity()
		l.put(b, controllerDraft(events.KindLogCreated, &events.LogCreated{LogID: id.LogID, Epoch: id.Epoch, Format: events.LeastFormat}))
	}
	if step := now.Sub(l.world.Now); l.world.Now != 0 && step < 0 {
		if step < -clockTolerance {
			b.time = now
			l.put(b, controllerDraft(events.KindClockStepped, &events.ClockStepped{Step: step}))
			l.retrying.alive = l.retrying.alive.Add(step)
		}
	}
	l.startTerm(b)
	before := l.world.Key
	if before == l.key {
		before = ""
	}
	l.put(b, controllerDraft(events.KindControllerStarted, &events.ControllerStarted{
		Version: l.program, RulesVersion: reconciler.RulesVersion, Settings: l.settings, ZoneData: l.zoneData,
		Key: l.key, KeyBefore: before, FoldVersion: projector.FoldVersion, Least: Least(),
	}))
	if l.leader != "" {
		l.put(b, controllerDraft(events.KindLeadershipChanged, &events.LeadershipChanged{Leading: true, Identity: l.leader}))
	}
	resources := []events.Resource{events.Jobs, events.Pods}
	if l.settings.CronJobs {
		resources = append(resources, events.CronJobs)
	}
	listing := &events.Observation{Facts: &events.ListingStarted{
		Reason: events.ListingStart, Resources: resources, LastSeen: seen, Orderly: orderly,
	}}
	l.admit(b, listing)
	l.commit(b, true)
	return nil
}

// startTerm puts down, in the first batch that a process appends, that its term starts.
func (l *Loop) startTerm(b *batch) {
	if term := l.log.Term(); term != l.world.Term {
		l.put(b, controllerDraft(events.KindTermStarted, &events.TermStarted{Term: term, Previous: l.log.Head().Hash}))
	}
}

// endedInOrder reports whether the run before this one said that it stops in good order.
func (l *Loop) endedInOrder() bool {
	for rec := range l.backward(events.Controller) {
		switch rec.Kind {
		case events.KindControllerStopped:
			return true
		case events.KindLeadershipChanged: // the Lease may go while a stop waits
		default:
			return false
		}
	}
	return false
}

// Step records that the clock was set, by how much, at the time it shows now.
func (l *Loop) Step(now events.Time, step events.ClockStepped) {
	b := l.begin(now)
	b.time = now
	l.put(b, controllerDraft(events.KindClockStepped, &step))
	l.wakes.shift(step.Step)
	l.progress = newProgress()
	for s := range l.world.RetiredJobs() { // what they wait for is a time that the API server has published: no step moves it
		l.wakes.set(s.ID(), s.Due(now))
	}
	for _, s := range l.world.Subjects() { // and part of what finished ones wait for
		switch s := s.(type) {
		case *projector.Job:
			if s.Expiry().At != 0 {
				l.wakes.set(s.ID(), now)
			}
		case *projector.CronJob: // its due times are times of this clock
			l.wakes.set(s.ID(), now)
		}
	}
	if l.watcher != nil {
		l.watcher.Shift(step.Step)
	}
	l.retrying.shift(step.Step)
	l.pace.shift(step.Step)
	l.restater.last = l.restater.last.Add(step.Step)
	l.words.dues.shift(step.Step)
	l.commit(b, false)
}

// Lose records that the Lease is lost. Stop is to follow, or was before: the Lease may go while a stop waits.
func (l *Loop) Lose(now events.Time) {
	b := l.begin(now)
	l.put(b, controllerDraft(events.KindLeadershipChanged, &events.LeadershipChanged{Identity: l.leader}))
	l.commit(b, false)
}

// Stop appends the record of a stop in good order: nothing is decided from here on, and no command leaves any more.
// Those that still wait for their record to be durable are given back: they were never sent. It returns those that are
// to be taken back from the executor: that sends nothing, so it need not be durable. Outcomes of commands in flight may
// still come in.
func (l *Loop) Stop(now events.Time) (back []events.Task) {
	b := l.begin(now)
	l.tellAllWent(b, true)
	l.put(b, controllerDraft(events.KindControllerStopped, &events.ControllerStopped{}))
	back = l.giveBackWaiting(b)
	l.commit(b, true)
	return back
}

// giveBackWaiting ends the commands that wait for their record to be durable, and returns those that are to be
// withdrawn from the executor.
func (l *Loop) giveBackWaiting(b *batch) (back []events.Task) {
	for _, p := range l.waiting {
		for i := range p.tasks {
			l.giveBack(b, &p.tasks[i])
		}
		back = append(back, p.back...)
	}
	l.waiting = nil
	return back
}

// giveBack ends a command that never left.
func (l *Loop) giveBack(b *batch, t *events.Task) {
	l.outcome(b, &events.TaskResult{Stream: t.Stream, Ended: t.Ended(events.Withdrawn)})
}

func controllerDraft(kind events.Kind, facts events.Facts) projector.Draft {
	return projector.Draft{Stream: events.Controller, Kind: kind, Facts: facts}
}

// Durable takes notice that records through seq are durable. It returns the commands that may be carried out from here
// on, and those that are to be withdrawn; none of them is among the others.
func (l *Loop) Durable(seq events.Sequence) (tasks, back []events.Task) {
	l.durable = max(l.durable, seq)
	l.urgency.durable(l.durable)
	n := 0
	for ; n < len(l.waiting) && l.waiting[n].through <= l.durable; n++ {
		tasks = append(tasks, l.waiting[n].tasks...)
		back = append(back, l.waiting[n].back...)
	}
	l.refresh(tasks)
	l.waiting = l.waiting[n:]
	for s, head := range l.heads {
		if head <= l.durable {
			delete(l.heads, s)
			if l.world.Previous(s) == 0 {
				l.forgotten = max(l.forgotten, head)
			}
		}
	}
	return without(tasks, back), back
}

// without are the tasks that are not to be withdrawn at once.
func without(tasks, back []events.Task) []events.Task {
	if len(tasks) == 0 || len(back) == 0 {
		return tasks
	}
	taken := make(map[events.CommandID]bool, len(back))
	for i := range back {
		taken[back[i].Name] = true
	}
	return slices.DeleteFunc(tasks, func(t events.Task) bool { return taken[t.Name] })
}

// Wake is when a turn is due though nothing comes in; 0 for never. While a listing is open there is none but for what
// was held back before it.
func (l *Loop) Wake() events.Time {
	if l.back != nil {
		return 0
	}
	wake := l.pace.wake(l.world.Now, l.world.Listing)
	due := []events.Time{l.wakes.first(), l.retrying.asks.first(), l.retrying.probes.first()}
	if !l.world.Decides() {
		due = []events.Time{l.world.RivalOver()}
	}
	due = append(due, l.restateDue())
	if !l.world.Listing {
		due = append(due, l.words.dues.first())
	}
	for _, at := range due {
		if wake == 0 || (at != 0 && at < wake) {
			wake = at
		}
	}
	return wake
}
