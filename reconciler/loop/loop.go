package loop

import (
	"cmp"
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/projector/intake"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/admission"
	"github.com/jobledger/jobledger/reconciler/checkpoint"
	"github.com/jobledger/jobledger/reconciler/due"
	"github.com/jobledger/jobledger/reconciler/observe"
	"github.com/jobledger/jobledger/reconciler/retries"
	"github.com/jobledger/jobledger/reconciler/tasks"
	"github.com/jobledger/jobledger/store"
)

// Config configures a Loop. Fields are required unless their comment names a default or allows nil, zero or empty;
// ZoneData is optional, too.
type Config struct {
	Log      store.Log
	World    *projector.World // state after the log's last record; from now on only the Loop may change it
	Settings events.Settings
	Program  string // program version, recorded at the start
	Key      string // ID of the key with which observations hash specs and templates
	ZoneData string // version of the time zone database
	Leader   string // this process's Lease identity; empty without a Lease
	// Refilled says which records the NATS stream of a replicated log lost and got again from a replica. The start
	// records it; nil for none.
	Refilled      *events.StreamRefilled
	Patience      time.Duration   // how long another controller may stay inactive; observe.DefaultPatience if 0
	SnapshotEvery events.Sequence // records between snapshots; 100,000 if 0
	SnapshotStep  int             // number of Jobs and CronJobs whose state one turn encodes for a snapshot; 64 if 0
	// FloodPace is the minimum time between two recorded versions of an object, in a namespace that has used twice its
	// log budget. 0 means a minute, a negative value no extra limit.
	FloodPace    time.Duration
	RestateBytes int // limit for the bytes of states that one turn writes at the beginning of a file; 64 KiB if 0
	// Clock returns how long the process has run; it limits a turn's work on states to about 5 ms. Nil in simulated
	// time, where only RestateBytes limits a turn.
	Clock func() time.Duration
	// Busy reports whether the executor has so many queued commands of a Job that further pod creations need not become
	// durable at once: 100 ms more do not delay the Job. Nil means never.
	Busy func(events.Stream) bool
	// Salt returns 16 random bytes. They protect the hashes of erased evidence, so the source must be cryptographic.
	Salt func() events.Salt
}

// Loop turns inputs into records and commands: in each turn it folds inputs into the state, decides, and appends one
// batch. It is not safe for concurrent use.
type Loop struct {
	log      store.Log
	world    *projector.World
	intake   intake.Intake
	settings events.Settings
	program  string
	key      string
	zoneData string
	leader   string
	refilled *events.StreamRefilled // records that the NATS stream lost and got again; nil for none
	salt     func() events.Salt
	urgency  tasks.Urgency

	next    events.Sequence // sequence of the next record
	durable events.Sequence // newest durable record; commands decided up to it may be sent. Invariant: durable < next
	terms   events.Sequence // newest record that changed the settings, the clock or the epoch
	epoch   events.Sequence // newest record of this process that the cluster was restored; 0 for none
	back    *events.Rewind  // proof that the cluster was restored: a deleted object exists again; nil for none
	// commands whose record is not durable yet, ordered by that record
	waiting  []promise
	wakes    due.Queue[events.Stream] // when each Job or CronJob is evaluated next; computed from the state
	progress due.Progress
	retries  *retries.Retries
	hastened []events.Task // tasks that have become more urgent since they were submitted
	gate     admission.Gate
	words    admission.Words
	// resuming has the Jobs and CronJobs that have something due, but have not been evaluated since the newest listing.
	resuming map[events.Stream]bool
	heads    map[events.Stream]events.Sequence // last record of each stream (Job or CronJob), while it is not durable
	// forgotten is the newest durable record of all streams (Jobs, CronJobs) that the state no longer knows.
	forgotten events.Sequence
	pasts     map[events.Stream]*admission.Past // last records in the log of Jobs that this turn's inputs are about
	room      []events.Record                   // buffer for the records of the next batch, reused; empty between turns
	snapshots checkpoint.Snapshots
	files     checkpoint.Files

	watcher *observe.Watcher // compares our decisions with another controller's acts; nil if no Job is observed
	rival   string           // description of another controller that this run has found; empty for none
	broken  error            // a failed read of the log, after which nothing may be appended
}

// promise holds the tasks of one batch until its last record, through, is durable.
type promise struct {
	through events.Sequence
	tasks   []events.Task
	back    []events.Task // tasks to withdraw from the executor; none of them is in tasks
}

// Input is one input of a turn: an observation (what a watch or a read has shown), or the result of a command.
type Input struct {
	Observation *events.Observation
	Result      *events.TaskResult

	past *admission.Past // last record of the Job in the log, if the queue has looked it up; nil otherwise
}

// New returns a Loop that continues after the last record of the log.
func New(c Config) *Loop {
	head := c.Log.Head()
	l := &Loop{
		log: c.Log, world: c.World, intake: intake.Intake{World: c.World}, settings: c.Settings,
		program: c.Program, key: c.Key, zoneData: c.ZoneData, leader: c.Leader, refilled: c.Refilled, salt: c.Salt,
		urgency: tasks.NewUrgency(c.Busy), next: head.Sequence + 1, durable: head.Sequence, heads: map[events.Stream]events.Sequence{},
		pasts:     map[events.Stream]*admission.Past{},
		snapshots: checkpoint.NewSnapshots(c.World, head.Sequence, cmp.Or(c.SnapshotEvery, 100_000), cmp.Or(c.SnapshotStep, 64)),
		files:     checkpoint.NewFiles(c.World, cmp.Or(c.RestateBytes, checkpoint.TurnBytes), c.Clock),
		wakes:     newWakes(), progress: due.NewProgress(), retries: retries.New(c.World, c.World.Now), words: admission.NewWords(), resuming: map[events.Stream]bool{},
	}
	l.gate = admission.New(c.World, &l.intake, cmp.Or(c.FloodPace, admission.FloodPace))
	if c.Settings.Mode == events.ModeObserve || c.Settings.ObserveOthers {
		l.watcher = observe.New(cmp.Or(c.Patience, observe.DefaultPatience))
	}
	return l
}

// newWakes returns an empty queue of the times at which each Job or CronJob is evaluated next.
func newWakes() due.Queue[events.Stream] {
	return due.New(func(a, b events.Stream) int { return cmp.Compare(a.ID, b.ID) })
}

// World returns the state folded from the log. The caller may read it between turns.
func (l *Loop) World() *projector.World { return l.world }

// Start appends the records of a start: the creation of the log if it is empty, a clock step if the wall clock is
// behind the log, the settings, and the start of the first listing. now is the wall clock. If the log has no space,
// Start returns store.ErrNoRoom.
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
			l.retries.ShiftAlive(step)
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
	if l.refilled != nil {
		l.put(b, controllerDraft(events.KindStreamRefilled, l.refilled))
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

// startTerm records the number (term) of this process as the log's writer, unless the log has this record.
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
		case events.KindLeadershipChanged: // go on: the Lease may have been lost during an orderly stop
		default:
			return false
		}
	}
	return false
}

// Step records that the wall clock was set: by step, to the time now. It moves all waits by that step, so that they
// last as long as before.
func (l *Loop) Step(now events.Time, step events.ClockStepped) {
	b := l.begin(now)
	b.time = now
	l.put(b, controllerDraft(events.KindClockStepped, &step))
	l.wakes.Shift(step.Step)
	l.progress = due.NewProgress()
	// The times of TTLs do not move, because they count by the API server's clock
	for s := range l.world.RetiredJobs() {
		l.wakes.Set(s.ID(), s.Due(now))
	}
	// Some waits of finished Jobs and of CronJobs do not move either: evaluate these again now
	for _, s := range l.world.Subjects() {
		switch s := s.(type) {
		case *projector.Job:
			if s.Expiry().At != 0 {
				l.wakes.Set(s.ID(), now)
			}
		case *projector.CronJob: // due times of schedules follow the wall clock
			l.wakes.Set(s.ID(), now)
		}
	}
	if l.watcher != nil {
		l.watcher.Shift(step.Step)
	}
	l.retries.Shift(step.Step)
	l.gate.Shift(step.Step)
	l.files.Shift(step.Step)
	l.words.Shift(step.Step)
	l.commit(b, false)
}

// Lose records the loss of the Lease. The caller also calls Stop, before or after: the Lease may be lost during a stop.
func (l *Loop) Lose(now events.Time) {
	b := l.begin(now)
	l.put(b, controllerDraft(events.KindLeadershipChanged, &events.LeadershipChanged{Identity: l.leader}))
	l.commit(b, false)
}

// Stop records an orderly stop. After it nothing is decided and no command is sent. Commands whose record is not
// durable yet were never sent, so they end as withdrawn. Stop returns the tasks to withdraw from the executor; this
// sends nothing, so the caller need not wait for durability. The loop still records outcomes of commands in flight.
func (l *Loop) Stop(now events.Time) (back []events.Task) {
	b := l.begin(now)
	l.recordCounts(b, true)
	l.put(b, controllerDraft(events.KindControllerStopped, &events.ControllerStopped{}))
	back = l.giveBackWaiting(b)
	l.commit(b, true)
	return back
}

// giveBackWaiting ends the commands whose record is not durable yet as withdrawn. It returns the tasks that the
// executor must withdraw.
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

// giveBack records that a command was withdrawn before it was sent.
func (l *Loop) giveBack(b *batch, t *events.Task) {
	l.outcome(b, &events.TaskResult{Stream: t.Stream, Ended: t.Ended(events.Withdrawn)})
}

func controllerDraft(kind events.Kind, facts events.Facts) projector.Draft {
	return projector.Draft{Stream: events.Controller, Kind: kind, Facts: facts}
}

// Wake returns when a turn is due without inputs; 0 for never. During a listing a turn is due only to record
// observations that were held back, to store states in a new file, or to end the pause after another controller was
// found.
func (l *Loop) Wake() events.Time {
	if l.back != nil {
		return 0
	}
	wake := l.gate.Wake()
	times := []events.Time{l.wakes.First(), l.retries.Wake()}
	if !l.world.Decides() {
		times = []events.Time{l.world.RivalOver()}
	}
	times = append(times, l.files.Due(l.log.NextFile()))
	if !l.world.Listing {
		times = append(times, l.words.Wake())
	}
	for _, at := range times {
		if wake == 0 || (at != 0 && at < wake) {
			wake = at
		}
	}
	return wake
}
