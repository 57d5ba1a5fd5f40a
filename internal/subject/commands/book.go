package commands

import (
	"cmp"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Book holds the commands of one subject that have not ended, and what was learnt from those that were refused. A
// command goes
//
//	            refused                          done, or another way to end
//	in flight ──────────▶ retrying (asked again) ──────────────────────────▶ ended
//	                         │ no longer wanted                    ▲
//	                         └─────────▶ cancelled (Withdraw) ─────┘ how its newest try ended is known
//
// A command that the API server refused for a reason that may pass is retried: it stays in flight, holds what it holds,
// and is asked again as it is, without another decision. The log has the first refusal, and after that what is news of
// it; in between the tries follow from the newest record, as [Retry.Next] says. So nothing of it is in memory alone,
// and a refusal that lasts for days costs no more than a record now and then. events.Traits says which commands are
// retried, and which of them share a backoff. Others end when they are refused, and what is next is decided from what
// is known by then (J-180, J-237).
//
// A Book knows no pods and no Jobs. What its commands mean is what the [Row] of each kind says, for a subject of type
// S. It is not safe for concurrent use, and must not be copied once a command was launched.
type Book[S any] struct {
	subject  S
	rows     *Rows[S]
	settings *events.Settings
	flights  map[events.CommandID]*Flight
	Itself   Target                    // commands about the subject itself
	backoffs [events.MaxBackoff]Retry  // those that commands share, from BackoffOwn + 1
	counts   [events.MaxSlot + 1]int32 // of flights
}

// Rows are what the commands of each kind mean to subjects of type S.
type Rows[S any] [events.MaxCommandKind + 1]Row[S]

// Row is what the commands of one kind mean to a subject. Without functions such a command is about the subject itself,
// is retried if its traits say so, and ends with a restart: it is decided again if it is still wanted.
type Row[S any] struct {
	// Launch puts a command on its way: it finds the target and calls launch. It may find that there is no target any
	// more. The flight is new.
	Launch func(S, *Flight)
	// End folds how the newest try ended; made is the name of the object that it made, if any. Nil: it is retried, or it
	// lands and Over says the rest.
	End func(s S, f *Flight, e *events.CommandEnded, made string)
	// Over folds how a command without End ended, after it has landed.
	Over func(s S, f *Flight, e *events.CommandEnded, made string)
	// Landed is told that a command is no longer in flight, for whatever reason.
	Landed func(S, *Flight)
	// Withdraw folds the decision to give the command up. Nil: one in backoff is cancelled, any other lands.
	Withdraw func(S, *Flight)
	// Restart folds a process's start while the command was in flight. Nil: it lands.
	Restart func(S, *Flight)
}

// Flight is a command that has not ended.
type Flight struct {
	Command events.Command
	Since   events.Time // when it was decided
	Refused *Retry      // its backoff, while it is retried; else nil

	target  *Target
	next    *Flight // at the target
	decided events.Sequence
	place   uint32
	slot    events.Slot

	Cancelled bool // it is wanted no longer; how its newest try ended is awaited
}

// Name is the command's ID.
func (f *Flight) Name() events.CommandID { return events.CommandID{Decided: f.decided, Place: f.place} }

// InBackoff reports whether a command is in backoff; one that is not in flight is not.
func (f *Flight) InBackoff() bool { return f != nil && f.Refused != nil }

// Target is an object that commands are about, as the commands on their way to it: at most one in each slot. It is a
// part of what a subject knows of the object, and must not be copied.
type Target struct{ first *Flight }

// Flight is the command in the slot that is on its way to the object; nil for none.
func (t *Target) Flight(s events.Slot) *Flight {
	for f := t.first; f != nil; f = f.next {
		if f.slot == s {
			return f
		}
	}
	return nil
}

func (t *Target) remove(f *Flight) {
	for at := &t.first; *at != nil; at = &(*at).next {
		if *at == f {
			*at, f.next = f.next, nil
			return
		}
	}
}

func New[S any](subject S, rows *Rows[S], settings *events.Settings) Book[S] {
	return Book[S]{subject: subject, rows: rows, settings: settings, flights: map[events.CommandID]*Flight{}}
}

// row is what the command means to the subject.
func (b *Book[S]) row(f *Flight) *Row[S] { return &b.rows[f.Command.Traits().Kind] }

// Decide folds a decision: its commands are in flight from here on, and those that it withdraws are given up.
func (b *Book[S]) Decide(rec *events.Record, d *events.Decision) {
	for place, c := range d.Commands() {
		if w, ok := c.(*events.Withdraw); ok {
			b.withdraw(w.Command)
			continue
		}
		f := NewFlight(events.CommandID{Decided: rec.Sequence, Place: uint32(place)}, c, rec.Time)
		if launch := b.row(f).Launch; launch != nil {
			launch(b.subject, f)
		} else {
			b.Launch(f, &b.Itself)
		}
	}
}

func NewFlight(name events.CommandID, c events.Command, since events.Time) *Flight {
	return &Flight{Command: c, Since: since, decided: name.Decided, place: name.Place, slot: c.Traits().Slot}
}

// Launch puts a command on its way to its target. One that has its slot there is displaced.
func (b *Book[S]) Launch(f *Flight, t *Target) {
	if old := t.Flight(f.slot); old != nil {
		b.remove(old)
	}
	f.target, f.next, t.first = t, t.first, f
	b.flights[f.Name()] = f
	b.counts[f.slot]++
}

// Relaunch puts a command that is restored back on its way; nil is none.
func (b *Book[S]) Relaunch(f *Flight, t *Target) {
	if f != nil {
		b.Launch(f, t)
	}
}

// withdraw folds the recorded decision to give a command up.
func (b *Book[S]) withdraw(name events.CommandID) {
	f := b.flights[name]
	if f == nil {
		return
	}
	switch withdraw := b.row(f).Withdraw; {
	case withdraw != nil:
		withdraw(b.subject, f)
	case f.InBackoff():
		f.Cancelled = true // a try may be on its way
	default:
		b.Land(f)
	}
}

// End folds how a command ended. A command that an observation has ended is no longer in flight, and its outcome is no
// news.
func (b *Book[S]) End(rec *events.Record, e *events.CommandEnded) {
	f := b.flights[e.Command]
	if f == nil {
		return
	}
	row := b.row(f)
	if row.End != nil {
		row.End(b.subject, f, e, rec.Evidence.Name)
		return
	}
	again := e.Ending == events.OutcomeUnknown || (e.Ending == events.Refused && e.Class.Passing())
	if again && f.Command.Traits().Retried && !f.Cancelled {
		b.Retry(rec.Time, f, e)
		return
	}
	b.Land(f)
	if row.Over != nil {
		row.Over(b.subject, f, e, rec.Evidence.Name)
	}
}

// Retry folds a try in vain of a command that is asked again as it is.
func (b *Book[S]) Retry(now events.Time, f *Flight, e *events.CommandEnded) {
	if f.Refused == nil {
		f.Refused = b.Backoff(f.Command)
	}
	f.Refused.Again(b.settings, now, e)
}

// Land removes a command from those in flight.
func (b *Book[S]) Land(f *Flight) {
	if !b.remove(f) {
		return
	}
	if landed := b.row(f).Landed; landed != nil {
		landed(b.subject, f)
	}
}

func (b *Book[S]) remove(f *Flight) bool {
	if f == nil || b.flights[f.Name()] != f {
		return false
	}
	delete(b.flights, f.Name())
	f.target.remove(f)
	b.counts[f.slot]--
	return true
}

// Restart folds a process's start: what was in flight is in doubt.
func (b *Book[S]) Restart() {
	for _, f := range b.InOrder() {
		if b.flights[f.Name()] != f {
			continue // another one's end has ended it
		}
		if restart := b.row(f).Restart; restart != nil {
			restart(b.subject, f)
		} else {
			b.Land(f)
		}
	}
}

// Shift moves the times with the clock.
func (b *Book[S]) Shift(step time.Duration) {
	for i := range b.backoffs {
		b.backoffs[i].Shift(step)
	}
	for _, f := range b.flights {
		if f.InBackoff() && f.Command.Traits().Backoff == events.BackoffOwn {
			f.Refused.Shift(step)
		}
	}
}

// Backoff is what was learnt from refusals of commands like c: those that share its backoff, or a new one of its own.
func (b *Book[S]) Backoff(c events.Command) *Retry {
	if of := c.Traits().Backoff; of != events.BackoffOwn {
		return b.Shared(of)
	}
	return &Retry{}
}

// Shared is a backoff that commands share.
func (b *Book[S]) Shared(of events.Backoff) *Retry { return &b.backoffs[of-1] }

// Busy reports whether a command of the subject is in flight.
func (b *Book[S]) Busy() bool { return len(b.flights) > 0 }

// Flight is the command of that name on its way; nil when it has ended.
func (b *Book[S]) Flight(name events.CommandID) *Flight { return b.flights[name] }

// Count is how many commands are in flight that have that slot at their targets.
func (b *Book[S]) Count(s events.Slot) int32 { return b.counts[s] }

// InFlight is the command of that name; nil when it has ended.
func (b *Book[S]) InFlight(name events.CommandID) events.Command {
	if f := b.flights[name]; f != nil {
		return f.Command
	}
	return nil
}

// GaveUp reports whether the command of that name was cancelled, and its end is awaited.
func (b *Book[S]) GaveUp(name events.CommandID) bool {
	f := b.flights[name]
	return f != nil && f.Cancelled
}

// Retrying is the command of that name when it is in backoff and is still wanted; else nil.
func (b *Book[S]) Retrying(name events.CommandID) *Flight {
	if f := b.flights[name]; f.InBackoff() && !f.Cancelled {
		return f
	}
	return nil
}

// InOrder are the commands in flight, in the order in which they were decided.
func (b *Book[S]) InOrder() []*Flight {
	all := make([]*Flight, 0, len(b.flights))
	for _, f := range b.flights {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *Flight) int {
		return cmp.Or(cmp.Compare(a.decided, b.decided), cmp.Compare(a.place, b.place))
	})
	return all
}
