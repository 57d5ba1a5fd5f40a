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

// tolerance is how late a wake-up may be, by the times of the records, before a missing decision is reported.
const tolerance = time.Second

// Replay makes the decisions of a log again, batch by batch, from its first record on. It is not safe for concurrent
// use.
type Replay struct {
	world *projector.World
	wakes map[events.Stream]events.Time
	first events.Time // earliest time in wakes; 0 for none
	batch []events.Record
	count Summary

	parts    projector.Parts                          // stored states of which not all parts have been read
	expected map[events.Sequence][]projector.StreamAt // states in a snapshot, by the last record that each includes
	partly   bool                                     // the caller leaves out some records
	pruned   bool                                     // the oldest records of the log were deleted (pruned)
}

// Summary counts what was replayed.
type Summary struct {
	Records     uint64
	Decisions   uint64
	OtherRules  uint64 // made by another rules version
	Otherwise   uint64 // of OtherRules, those that our rules decide differently; not divergences
	States      uint64 // stored states that were compared, including states in the snapshot
	OtherStates uint64 // states stored by another fold version (way of computing states), not compared
	LostStates  uint64 // states in the snapshot whose records were pruned, not compared
	Early       uint64 // decisions not made again, because the log begins with a part of the Job's state
	Divergences uint64
}

// New returns a Replay of a log before its first record.
func New() *Replay {
	return &Replay{
		world: projector.NewWorld(), wakes: map[events.Stream]events.Time{}, parts: projector.Parts{},
		expected: map[events.Sequence][]projector.StreamAt{},
	}
}

// Summary returns the counts so far.
func (r *Replay) Summary() Summary { return r.count }

// World returns the state after the records so far.
func (r *Replay) World() *projector.World { return r.world }

// ErrErased is the error when facts (what decisions read) of a record were erased, so that decisions cannot be made
// again.
var ErrErased = errors.New("facts of a record were erased: it cannot be replayed")

// ErrUnfounded is the error when a record refers to something that no earlier record introduced. No controller writes
// such a log.
var ErrUnfounded = errors.New("the log is not one that a controller wrote")

// Record replays the log's next record. With the last record of a batch it returns the differences in that batch.
// Errors are ErrErased, ErrUnfounded, and events.ErrNewer for a record that needs a newer program.
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

// wakeAll sets the times for evaluations of which no decision has asked. After a time without decisions (rested: a
// start, a clock step, a new epoch) it sets those of all Jobs and CronJobs. After a clock step it evaluates CronJobs at
// once, because their due times follow the clock. The TTLs of retired Jobs (nothing left to do) do not move with the
// clock.
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

// turn is the replay of one batch, the records of one turn of the loop.
type turn struct {
	replay    *Replay
	end       *events.Record
	touched   []events.Stream // Jobs and CronJobs with a new record, in order of their first one
	inputs    map[events.Stream]bool
	decisions map[events.Stream]*events.Record
	last      []*events.Record // records that retire Jobs; they follow the decisions
	restarted bool
	stepped   bool // the clock stepped
	woken     int  // number of Jobs and CronJobs that were evaluated because their wait was over
	found     []Divergence
}

// fold applies a record to the state, if the loop applied it before it decided. It keeps decisions, and records that
// retire Jobs, for later.
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

// decide makes the decision about the Job or CronJob s again, and compares it with the recorded one.
func (b *turn) decide(s events.Stream) error {
	w := b.replay.world
	rec := b.decisions[s]
	j := w.Subject(s)
	if j != nil && projector.Compared(j) { // another controller runs the Job: a recorded decision stays, and is reported
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
	if recorded != nil && w.Rules != 0 && recorded.RulesVersion != w.Rules { // a forged version would excuse any decision
		b.differ(rec.Sequence, s, recorded, decided, fmt.Sprintf(
			"it says that it is by rules %d, and its controller started with rules %d", recorded.RulesVersion, w.Rules))
		b.replay.wake(s, wake)
		w.Apply(rec)
		return nil
	}
	other := recorded != nil && recorded.RulesVersion != reconciler.RulesVersion || recorded == nil && w.Rules != reconciler.RulesVersion
	if other && decided != nil && recorded != nil { // compare the commands, not the version of the rules
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

// again makes the decision about j. It returns nil if the decision has no commands, or j is nil. wake is when to
// evaluate j next.
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

// at returns the record at which to report a difference: the recorded decision, or the end of the batch if there is
// none.
func (b *turn) at(rec *events.Record) events.Sequence {
	if rec == nil {
		return b.end.Sequence
	}
	return rec.Sequence
}

// early counts, and does not repeat, the recorded decision rec (nil for none) about a Job whose state is not complete,
// because the log begins with a part of it.
func (b *turn) early(rec *events.Record) {
	if rec != nil {
		b.replay.count.Decisions++
		b.replay.count.Early++
		b.replay.world.Apply(rec)
	}
}

// retired sets when a retired Job (nothing left to do) is to be deleted, after its TTL.
func (r *Replay) retired(rec *events.Record) {
	due := events.Time(0)
	if s := r.world.Retired(rec.Stream); s != nil {
		due = s.Due(rec.Time)
	}
	r.wake(rec.Stream, due)
}

// lookedAt returns when a Job or CronJob is evaluated after a listing. A CronJob may be evaluated at once: what became
// of due times during a suspension is recorded then, and no timer is set for it.
func lookedAt(s projector.Subject, now events.Time) events.Time {
	if c, ok := s.(*projector.CronJob); ok {
		if d := rules.DecideAt(c, now); !d.Commands() {
			return d.Wake
		}
	}
	return s.Due(now)
}

// wake sets when a Job or CronJob is to be evaluated next; 0 for never.
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

// latest returns the latest time at which the loop evaluates the subject of decision d if nothing happens before.
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

// overdue reports missing decisions: the time for an evaluation has passed, the rules now ask for something, and no
// record shows it. It does nothing in a turn in which MostWoken Jobs were evaluated, because the remaining ones follow
// in the next turns.
func (b *turn) overdue() {
	if b.woken >= reconciler.MostWoken {
		return
	}
	limit := b.end.Time.Add(-tolerance)
	if b.replay.first == 0 || b.replay.first >= limit {
		return // no wait is over, as in most batches: this saves a scan of all waiting Jobs
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
		// If the controller had other rules, the Job may have waited for something else
		if b.replay.world.Rules != reconciler.RulesVersion {
			b.replay.count.OtherRules++
			b.replay.count.Otherwise++
			continue
		}
		b.differ(b.end.Sequence, s, nil, &d.Decision, "a wait was over, and no decision was recorded")
	}
}

// look evaluates a Job or CronJob whose wait is over, as the loop should have: a Job now, a CronJob at the end of each
// of its waits. It returns no command if it is too late to act at the end of the batch, when a delayed loop evaluates.
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

// unexpected returns the Jobs and CronJobs with a recorded decision, although no other record of the batch is about
// them.
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

// equal reports whether the facts of two decisions are the same, byte for byte. It does not compare sentences and
// messages, which no decision reads.
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
