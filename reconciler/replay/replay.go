package replay

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/rules"
)

// tolerance is how late a wake-up may be, in log time.
const tolerance = time.Second

// Replay repeats decisions, batch by batch, from the log's first record on. It is not safe for concurrent use.
type Replay struct {
	world *projector.World
	wakes map[events.Stream]events.Time
	first events.Time // earliest time in wakes; 0 for none
	batch []events.Record
	count Summary

	parts    projector.Parts                          // of stored states
	expected map[events.Sequence][]projector.StreamAt // states that a snapshot has as of a coming record
	partly   bool                                     // some records are skipped
	pruned   bool                                     // the log's first records are pruned
}

// Summary counts what was replayed.
type Summary struct {
	Records     uint64
	Decisions   uint64
	OtherRules  uint64 // made by another rules version
	Otherwise   uint64 // of these, decided differently by our rules; not divergences
	States      uint64 // stored states, also of the snapshot, that were compared
	OtherStates uint64 // stored by another fold version, not compared
	LostStates  uint64 // of the snapshot, with pruned records, not compared
	Early       uint64 // not repeated: the Job's state begins in parts, and the last part comes later
	Divergences uint64
}

// New starts a replay of an empty log.
func New() *Replay {
	return &Replay{
		world: projector.NewWorld(), wakes: map[events.Stream]events.Time{}, parts: projector.Parts{},
		expected: map[events.Sequence][]projector.StreamAt{},
	}
}

// Summary returns the counts so far.
func (r *Replay) Summary() Summary { return r.count }

// World returns the state folded so far.
func (r *Replay) World() *projector.World { return r.world }

// ErrErased is returned if facts of a record were erased, so that decisions cannot be repeated.
var ErrErased = errors.New("facts of a record were erased: it cannot be replayed")

// ErrUnfounded is returned if a record refers to something that no earlier record introduced. No controller writes
// such a log.
var ErrUnfounded = errors.New("the log is not one that a controller wrote")

// Record takes the log's next record, and returns the divergences of a batch with its last record. It returns
// ErrErased, ErrUnfounded, or events.ErrNewer for a record that this program is too old for.
func (r *Replay) Record(rec events.Record) ([]Divergence, error) {
	if _, erased := rec.Facts.(*events.Erased); erased {
		return nil, fmt.Errorf("replay record %d: %w", rec.Sequence, ErrErased)
	}
	if err := projector.Readable(&rec); err != nil {
		return nil, fmt.Errorf("replay record %d: %w", rec.Sequence, err)
	}
	if r.count.Records == 0 && len(r.batch) == 0 {
		r.pruned = rec.Sequence > 1
	}
	r.batch = append(r.batch, rec)
	if !rec.Last {
		return nil, nil
	}
	found, err := r.replay(r.batch)
	r.batch = r.batch[:0]
	r.count.Divergences += uint64(len(found))
	return found, err
}

func (r *Replay) replay(batch []events.Record) ([]Divergence, error) {
	b := &turn{
		replay: r, end: &batch[len(batch)-1],
		inputs: map[events.Stream]bool{}, decisions: map[events.Stream]*events.Record{},
	}
	r.count.Records += uint64(len(batch))
	rested := !r.world.Decides()
	for i := range batch {
		if err := b.check(&batch[i]); err != nil {
			return nil, err
		}
		b.fold(&batch[i])
	}
	if r.world.Decides() {
		b.wakeAll(rested)
		if !rested && !b.restarted {
			b.overdue()
		}
		for _, s := range b.touched {
			if err := b.decide(s); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range b.unexpected() {
		rec := b.decisions[s]
		if r.world.Collecting(s) {
			b.early(rec)
			continue
		}
		b.differ(rec.Sequence, s, rec.Facts.(*events.Decision), nil, "nothing in its batch touched the Job")
		r.world.Apply(rec)
	}
	for _, rec := range b.last {
		b.retire(rec)
		r.world.Apply(rec)
		r.retired(rec)
	}
	b.snapshot()
	return b.found, nil
}

// wakeAll sets wakes that no decision sets: after a rest those of all subjects, and after a step of the clock those of
// CronJobs, whose due times are times of the clock as it is now. No step moves what retired Jobs wait for.
func (b *turn) wakeAll(rested bool) {
	r, now := b.replay, b.end.Time
	if rested {
		for _, s := range r.world.Subjects() {
			r.wake(s.ID(), lookedAt(s, now))
		}
	}
	if rested || b.stepped {
		for s := range r.world.RetiredJobs() {
			r.wake(s.ID(), s.Due(now))
		}
	}
	if b.stepped {
		for _, c := range r.world.CronJobs() {
			r.wake(c.Stream, now)
		}
	}
}

// turn is the replay of one batch.
type turn struct {
	replay    *Replay
	end       *events.Record
	touched   []events.Stream // in order of their first input
	inputs    map[events.Stream]bool
	decisions map[events.Stream]*events.Record
	last      []*events.Record // retirements, which follow the decisions
	restarted bool
	stepped   bool // the clock stepped
	woken     int  // subjects whose wait was over
	found     []Divergence
}

// fold folds what the loop folded before it decided.
func (b *turn) fold(rec *events.Record) {
	switch rec.Kind {
	case events.KindDecided, events.KindTicksObserved:
		b.decisions[rec.Stream] = rec
		return
	case events.KindJobRetired:
		b.last = append(b.last, rec)
		return
	case events.KindControllerStarted, events.KindClockStepped, events.KindEpochChanged:
		b.restarted = true
		b.stepped = b.stepped || rec.Kind == events.KindClockStepped
	case events.KindTimerFired, events.KindJobResumed:
		b.woken++
	case events.KindStateStored:
		b.state(rec)
		b.replay.world.Apply(rec)
		return
	case events.KindWouldDecide:
		b.replay.world.Apply(rec)
		return
	default: // inputs
	}
	b.replay.world.Apply(rec)
	if rec.Stream != events.Controller && !b.inputs[rec.Stream] {
		b.inputs[rec.Stream] = true
		b.touched = append(b.touched, rec.Stream)
	}
}

// decide repeats the decision about one subject, and compares.
func (b *turn) decide(s events.Stream) error {
	w := b.replay.world
	rec := b.decisions[s]
	j := w.Subject(s)
	if j != nil && projector.Compared(j) { // never decided: any recorded decision is unexpected
		b.replay.wake(s, 0)
		return nil
	}
	delete(b.decisions, s)
	if w.Collecting(s) {
		b.early(rec)
		return nil
	}
	var recorded *events.Decision
	if rec != nil {
		b.replay.count.Decisions++
		recorded = rec.Facts.(*events.Decision)
	}
	decided, wake := again(j)
	if recorded != nil && w.Rules != 0 && recorded.RulesVersion != w.Rules { // else a forged number would hide a difference
		b.differ(rec.Sequence, s, recorded, decided, fmt.Sprintf(
			"it says that it is by rules %d, and its controller started with rules %d", recorded.RulesVersion, w.Rules))
		b.replay.wake(s, wake)
		w.Apply(rec)
		return nil
	}
	other := recorded != nil && recorded.RulesVersion != reconciler.RulesVersion || recorded == nil && w.Rules != reconciler.RulesVersion
	if other && decided != nil && recorded != nil { // compare the commands, not the rules' names
		decided.RulesVersion = recorded.RulesVersion
	}
	same, err := equal(recorded, decided)
	same = same && (rec == nil || (rec.Kind == events.KindTicksObserved) == j.Observed())
	switch {
	case err != nil:
		return err
	case other && recorded == nil && decided == nil: // both decide nothing
	case other:
		b.replay.count.OtherRules++
		if !same {
			b.replay.count.Otherwise++
		}
	case !same:
		b.differ(b.at(rec), s, recorded, decided, "")
	}
	b.replay.wake(s, wake)
	if rec != nil {
		w.Apply(rec)
	}
	return nil
}

// again repeats a decision; nil if it has no commands, or there is no subject.
func again(j projector.Subject) (decided *events.Decision, wake events.Time) {
	if j == nil {
		return nil, 0
	}
	d := rules.Decide(j)
	if d.Commands() {
		decided = &d.Decision
	}
	return decided, latest(&d)
}

// at returns the record of a difference: the decision, or the end of a turn without one.
func (b *turn) at(rec *events.Record) events.Sequence {
	if rec == nil {
		return b.end.Sequence
	}
	return rec.Sequence
}

// early skips a decision (nil for none) about a Job whose state is not complete yet in the log.
func (b *turn) early(rec *events.Record) {
	if rec != nil {
		b.replay.count.Decisions++
		b.replay.count.Early++
		b.replay.world.Apply(rec)
	}
}

// retired notes when a retired Job is due.
func (r *Replay) retired(rec *events.Record) {
	due := events.Time(0)
	if s := r.world.Retired(rec.Stream); s != nil {
		due = s.Due(rec.Time)
	}
	r.wake(rec.Stream, due)
}

// lookedAt returns when a subject is decided again after a listing. A CronJob is decided at that time: the fates of
// due times during a suspension need an evaluation, and no timer is set for them.
func lookedAt(s projector.Subject, now events.Time) events.Time {
	if c, ok := s.(*projector.CronJob); ok {
		if d := rules.DecideAt(c, now); !d.Commands() {
			return d.Wake
		}
	}
	return s.Due(now)
}

// wake notes when a stream is decided again; 0 for never.
func (r *Replay) wake(s events.Stream, at events.Time) {
	if at == 0 {
		delete(r.wakes, s)
		return
	}
	r.wakes[s] = at
	if r.first == 0 || at < r.first {
		r.first = at
	}
}

// latest returns the latest time of a subject's next decision if nothing happens before.
func latest(d *reconciler.Decision) events.Time {
	if d.Progress == 0 {
		return d.Wake
	}
	shown := d.Progress.Add(reconciler.ProgressSpread)
	if d.Wake == 0 {
		return shown
	}
	return min(d.Wake, shown)
}

// overdue makes missed probes: a Job's wake-up time has passed without a record. A turn that woke MostWoken subjects
// leaves the rest to the next turns.
func (b *turn) overdue() {
	if b.woken >= reconciler.MostWoken {
		return
	}
	limit := b.end.Time.Add(-tolerance)
	if b.replay.first == 0 || b.replay.first >= limit {
		return // true for most batches: do not scan all waiting Jobs
	}
	var late []events.Stream
	b.replay.first = 0
	for s, at := range b.replay.wakes {
		if at < limit && !b.inputs[s] {
			late = append(late, s)
		}
		b.replay.wake(s, at)
	}
	slices.SortFunc(late, func(a, c events.Stream) int { return bytes.Compare([]byte(a.ID), []byte(c.ID)) })
	for _, s := range late {
		j := b.replay.world.Subject(s)
		if j == nil || projector.Compared(j) {
			delete(b.replay.wakes, s)
			continue
		}
		d := b.look(j)
		if !d.Commands() && !d.Judges {
			b.replay.wake(s, latest(&d))
			continue
		}
		delete(b.replay.wakes, s)
		if b.replay.world.Rules != reconciler.RulesVersion { // other rules may have waited without need
			b.replay.count.OtherRules++
			b.replay.count.Otherwise++
			continue
		}
		b.differ(b.end.Sequence, s, nil, &d.Decision, "a wait was over, and no decision was recorded")
	}
}

// look evaluates a subject whose wait is over: now, or for a CronJob at the end of each wait, as the loop did. A loop
// that stood still evaluates later, when it may be too late to start anything.
func (b *turn) look(s projector.Subject) reconciler.Decision {
	c, ok := s.(*projector.CronJob)
	if !ok {
		d := rules.DecideAt(s, b.end.Time)
		if d.Progress != 0 && d.Progress.Add(reconciler.ProgressSpread) < b.end.Time.Add(-tolerance) {
			return rules.DecideWoken(s, b.end.Time)
		}
		return d
	}
	at := b.replay.wakes[c.Stream]
	for at != 0 && at < b.end.Time.Add(-tolerance) {
		d := rules.DecideAt(c, at)
		if d.Commands() {
			if late := rules.DecideAt(c, b.end.Time); !late.Commands() {
				return reconciler.Decision{Wake: late.Wake}
			}
			return d
		}
		at = d.Wake
	}
	return reconciler.Decision{Wake: at}
}

// unexpected returns the streams with a decision that nothing in the batch caused.
func (b *turn) unexpected() []events.Stream {
	var out []events.Stream
	for s := range b.decisions {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, c events.Stream) int { return bytes.Compare([]byte(a.ID), []byte(c.ID)) })
	return out
}

func (b *turn) differ(at events.Sequence, s events.Stream, recorded, decided *events.Decision, why string) {
	d := Divergence{Sequence: at, Stream: s, Recorded: recorded, Decided: decided, Why: why}
	d.Job = b.replay.world.RefOf(s)
	b.found = append(b.found, d)
}

// equal compares the facts of two decisions byte for byte; sentences and messages are evidence.
func equal(a, b *events.Decision) (bool, error) {
	if a == nil || b == nil {
		return a == b, nil
	}
	x, err := events.EncodeFacts(a)
	if err != nil {
		return false, fmt.Errorf("compare decisions: %w", err)
	}
	y, err := events.EncodeFacts(b)
	if err != nil {
		return false, fmt.Errorf("compare decisions: %w", err)
	}
	return bytes.Equal(x, y), nil
}
