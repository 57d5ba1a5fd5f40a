package loop

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/projector/intake"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/observe"
	"github.com/jobledger/jobledger/store"
)

// Config configures a Loop. ZoneData, the snapshot settings and fields with a stated default are optional; the others
// are required.
type Config struct {
	Log           store.Log
	World         *projector.World // state up to the log's head; the Loop owns it from here on
	Settings      events.Settings
	Program       string          // program version, recorded at the start
	Key           string          // ID of the key that hashes specs and templates in observations
	ZoneData      string          // version of the time zone database
	Leader        string          // this process's Lease identity; empty without a Lease
	Patience      time.Duration   // observed Jobs: how long the other controller may take; observe.DefaultPatience if 0
	SnapshotEvery events.Sequence // records between snapshots; 100,000 if 0
	SnapshotStep  int             // streams that one turn encodes for a snapshot; 64 if 0
	// FloodPace is the minimum time between two recorded versions of an object whose namespace is over two budgets: a
	// minute if 0, and no extra limit if negative.
	FloodPace    time.Duration
	RestateBytes int // limit of state bytes that one turn adds to a new file; 64 KiB if 0
	// Clock returns how long the process has run. A turn works on states for about 5 ms at most. Nil in simulated time,
	// where only RestateBytes limits a turn.
	Clock func() time.Duration
	// Busy reports whether the executor has so many queued commands of a Job that further creates may become durable up
	// to 100 ms later without delaying the Job. Nil means never.
	Busy func(events.Stream) bool
	// Salt returns 16 random bytes. They protect erased evidence, so the source must be cryptographic.
	Salt func() events.Salt
}

// Loop turns inputs into records and commands, one turn at a time. It is not safe for concurrent use.
type Loop struct {
	log      store.Log
	world    *projector.World
	intake   intake.Intake
	settings events.Settings
	program  string
	key      string
	zoneData string
	leader   string
	salt     func() events.Salt
	urgency  urgency

	next      events.Sequence // sequence of the next record
	durable   events.Sequence // newest durable record: commands up to it may be sent. Invariant: durable < next
	terms     events.Sequence // newest record of settings, clock or epoch
	epoch     events.Sequence // newest rewind recorded by this process; 0 for none
	back      *events.Rewind  // a deleted object that exists again, as proof of a rewind; nil for none
	waiting   []promise       // commands waiting for their record to become durable, by sequence
	wakes     delayingQueue[events.Stream]
	progress  progress
	retrying  retrying
	hastened  []events.Task // tasks that have become more urgent since they were handed out
	pace      pace
	floodPace time.Duration
	words     words
	// resuming holds the streams not yet evaluated since the newest listing.
	resuming map[events.Stream]bool
	heads    map[events.Stream]events.Sequence // ended streams whose last records are not durable yet
	// forgotten is the newest durable record of a stream that neither heads nor the world knows any more.
	forgotten events.Sequence
	pasts     map[events.Stream]*past // from this turn's inputs
	room      []events.Record         // buffer for the current batch; empty between turns
	saver     saver
	restater  restater

	snapshotEvery events.Sequence
	snapshotBatch int
	restateBytes  int
	clock         func() time.Duration // nil for none
	watcher       *observe.Watcher     // nil if no Job is observed
	rival         string               // description of another controller found by this run; empty for none
	broken        error                // a read of the log failed: append nothing more
}

// promise holds the commands of one batch until its last record is durable.
type promise struct {
	through events.Sequence
	tasks   []events.Task
	back    []events.Task // to withdraw from the executor; none of them is in tasks
}

// Input is one input of a turn: an observation or the result of a command.
type Input struct {
	Observation *events.Observation
	Result      *events.TaskResult

	past *past // of the observation's Job; nil if the log was not asked
}

// New returns a Loop that continues at the end of the log.
func New(c Config) *Loop {
	head := c.Log.Head()
	l := &Loop{
		log: c.Log, world: c.World, intake: intake.Intake{World: c.World}, settings: c.Settings,
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

// World returns the folded state. The caller may read it between turns.
func (l *Loop) World() *projector.World { return l.world }

// Start appends the records of a start: the log's creation if it is empty, a clock step if the wall clock is behind
// the log, the settings, and the start of the first listing. now is the wall clock. It returns store.ErrNoRoom if the
// log has no room.
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

// startTerm records the start of this process's term, in its first batch.
func (l *Loop) startTerm(b *batch) {
	if term := l.log.Term(); term != l.world.Term {
		l.put(b, controllerDraft(events.KindTermStarted, &events.TermStarted{Term: term, Previous: l.log.Head().Hash}))
	}
}

// endedInOrder reports whether the previous run recorded an orderly stop.
func (l *Loop) endedInOrder() bool {
	for rec := range l.backward(events.Controller) {
		switch rec.Kind {
		case events.KindControllerStopped:
			return true
		case events.KindLeadershipChanged: // the Lease may be lost during a stop
		default:
			return false
		}
	}
	return false
}

// Step records that the clock was set: by step, to now.
func (l *Loop) Step(now events.Time, step events.ClockStepped) {
	b := l.begin(now)
	b.time = now
	l.put(b, controllerDraft(events.KindClockStepped, &step))
	l.wakes.shift(step.Step)
	l.progress = newProgress()
	for s := range l.world.RetiredJobs() { // their TTLs are times of the API server: no step moves them
		l.wakes.set(s.ID(), s.Due(now))
	}
	for _, s := range l.world.Subjects() { // as are some waits of finished subjects
		switch s := s.(type) {
		case *projector.Job:
			if s.Expiry().At != 0 {
				l.wakes.set(s.ID(), now)
			}
		case *projector.CronJob: // due times are times of this clock
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

// Lose records the loss of the Lease. A call of Stop follows, or has been made: the Lease may be lost during a stop.
func (l *Loop) Lose(now events.Time) {
	b := l.begin(now)
	l.put(b, controllerDraft(events.KindLeadershipChanged, &events.LeadershipChanged{Identity: l.leader}))
	l.commit(b, false)
}

// Stop records an orderly stop. After it nothing is decided and no command is sent. Commands whose record is not
// durable yet are withdrawn, since they were never sent. Stop returns the tasks to withdraw from the executor; that
// sends nothing, so it need not wait for durability. Outcomes of commands in flight may still be taken in.
func (l *Loop) Stop(now events.Time) (back []events.Task) {
	b := l.begin(now)
	l.tellAllWent(b, true)
	l.put(b, controllerDraft(events.KindControllerStopped, &events.ControllerStopped{}))
	back = l.giveBackWaiting(b)
	l.commit(b, true)
	return back
}

// giveBackWaiting ends the commands that wait for durability, and returns the tasks to withdraw from the executor.
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

// giveBack ends a command that was never sent, as withdrawn.
func (l *Loop) giveBack(b *batch, t *events.Task) {
	l.outcome(b, &events.TaskResult{Stream: t.Stream, Ended: t.Ended(events.Withdrawn)})
}

func controllerDraft(kind events.Kind, facts events.Facts) projector.Draft {
	return projector.Draft{Stream: events.Controller, Kind: kind, Facts: facts}
}

// Durable tells the loop that records through seq are durable. It returns the tasks that may now be sent, and the
// tasks to withdraw; the two do not overlap.
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

// without returns the tasks that are not in back.
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

// Wake returns when a turn is due without inputs; 0 for never. During a listing only inputs held back earlier can make
// one due.
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
