package commands

import (
	"cmp"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Book holds the commands in flight (decided, and not ended) of one subject, such as a Job, and their backoffs:
//
//	in flight --refused--> retrying (sent again) --done, or another way to end--> ended
//	                          |                                                     ^
//	                          +--no longer wanted (Withdraw)--> cancelled ----------+ outcome of its newest try
//
// A command that is refused for a temporary reason is retried: it stays in flight, keeps its slot, and is sent again
// unchanged, without another decision. The log has the first refusal. Later ones are recorded only if they say
// something new: the tries in between follow from the newest record, by [Retry.Next]. So no part of the backoff is in
// memory alone, and a refusal that lasts for days costs few records. events.Traits says which commands are retried, and
// which share a backoff. All other commands end when they are refused, and the next decision starts from what is known
// by then (J-180, J-237).
//
// A Book knows neither pods nor Jobs: the [Row] of each command kind defines its effect on a subject of type S. A Book
// is not safe for concurrent use, and must not be copied once a command was launched.
type Book[S any] struct {
	subject  S
	rows     *Rows[S]
	settings *events.Settings
	flights  map[events.CommandID]*Flight
	Itself   Target                    // commands about the subject itself
	backoffs [events.MaxBackoff]Retry  // shared backoffs; index 0 is that of BackoffOwn + 1
	counts   [events.MaxSlot + 1]int32 // number of commands in flight per slot (kind of use, such as "status write")
}

// Rows maps each command kind to its effect on subjects (such as Jobs) of type S.
type Rows[S any] [events.MaxCommandKind + 1]Row[S]

// Row is the effect of one command kind on a subject. If all functions are nil, the command is about the subject
// itself. It is retried if its traits say so. A restart of the process ends it; a new decision asks for it if it is
// still wanted.
type Row[S any] struct {
	// Launch starts a command: it finds the object that the command is about and calls Book.Launch with its Target. It
	// may do nothing if the object is gone.
	Launch func(S, *Flight)
	// End updates the subject when the newest try of the command has ended; made is the name of the created object, if
	// any. If End is nil, the command is retried if its traits say so; otherwise it is no longer in flight, and Over is
	// called.
	End func(s S, f *Flight, e *events.CommandEnded, made string)
	// Over updates the subject when a command without End has ended.
	Over func(s S, f *Flight, e *events.CommandEnded, made string)
	// Landed is called when a command is no longer in flight, for any reason.
	Landed func(S, *Flight)
	// Withdraw updates the subject when a decision cancels the command. If it is nil, a command in backoff is marked as
	// cancelled, and any other command ends.
	Withdraw func(S, *Flight)
	// Restart updates the subject when the process has restarted while the command was in flight. If it is nil, the
	// command ends.
	Restart func(S, *Flight)
}

// Flight is a command in flight: decided, and not ended.
type Flight struct {
	Command events.Command
	Since   events.Time // time of the decision
	Refused *Retry      // its backoff while it is retried; else nil

	target  *Target
	next    *Flight // the next in a linked list of the commands in flight about the same target
	decided events.Sequence
	place   uint32
	slot    events.Slot

	Cancelled bool // no longer wanted; the outcome of its newest try is awaited
}

// Name returns the command's ID.
func (f *Flight) Name() events.CommandID { return events.CommandID{Decided: f.decided, Place: f.place} }

// InBackoff reports whether the command is in backoff; false for a nil Flight.
func (f *Flight) InBackoff() bool { return f != nil && f.Refused != nil }

// Target holds the commands in flight about one object, at most one per slot. It is a field of the object's state, and
// must not be copied.
type Target struct{ first *Flight }

// Flight returns the command in flight in slot s; nil for none.
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

// row returns the functions that define the effect of the command on the subject.
func (b *Book[S]) row(f *Flight) *Row[S] { return &b.rows[f.Command.Traits().Kind] }

// Decide applies a recorded decision: it launches the decision's commands, and cancels the commands that the decision
// withdraws.
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

// Launch puts f in flight as a command about the object t. It replaces a command in the same slot.
func (b *Book[S]) Launch(f *Flight, t *Target) {
	if old := t.Flight(f.slot); old != nil {
		b.remove(old)
	}
	f.target, f.next, t.first = t, t.first, f
	b.flights[f.Name()] = f
	b.counts[f.slot]++
}

// Relaunch puts a command from a stored state in flight again, as Launch does; it does nothing if f is nil.
func (b *Book[S]) Relaunch(f *Flight, t *Target) {
	if f != nil {
		b.Launch(f, t)
	}
}

// withdraw cancels the command with the ID name, as a decision asks.
func (b *Book[S]) withdraw(name events.CommandID) {
	f := b.flights[name]
	if f == nil {
		return
	}
	switch withdraw := b.row(f).Withdraw; {
	case withdraw != nil:
		withdraw(b.subject, f)
	case f.InBackoff():
		// If the command is being retried, a try may be in flight: the command ends with the outcome of that try
		f.Cancelled = true
	default:
		b.Land(f)
	}
}

// End applies the recorded outcome e of a command. It does nothing if an observation has already ended the command.
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

// Retry updates the backoff of a command that stays in flight after try e has failed.
func (b *Book[S]) Retry(now events.Time, f *Flight, e *events.CommandEnded) {
	if f.Refused == nil {
		f.Refused = b.Backoff(f.Command)
	}
	f.Refused.Again(b.settings, now, e)
}

// Land removes a command that has ended.
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

// Restart applies a restart of the process: the outcomes of the commands in flight are now unknown.
func (b *Book[S]) Restart() {
	for _, f := range b.InOrder() {
		if b.flights[f.Name()] != f {
			continue // ended by the end of another command in this loop
		}
		if restart := b.row(f).Restart; restart != nil {
			restart(b.subject, f)
		} else {
			b.Land(f)
		}
	}
}

// Shift adds a clock step to all times, so that what has passed of each backoff stays the same.
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

// Backoff returns the backoff for commands like c: the one that such commands share, or else a new one.
func (b *Book[S]) Backoff(c events.Command) *Retry {
	if of := c.Traits().Backoff; of != events.BackoffOwn {
		return b.Shared(of)
	}
	return &Retry{}
}

// Shared returns the backoff that commands of the group of share.
func (b *Book[S]) Shared(of events.Backoff) *Retry { return &b.backoffs[of-1] }

// Busy reports whether a command of the subject is in flight.
func (b *Book[S]) Busy() bool { return len(b.flights) > 0 }

// Flight returns the command with the ID name, with its state; nil if it has ended.
func (b *Book[S]) Flight(name events.CommandID) *Flight { return b.flights[name] }

// Count returns the number of commands in flight in slot s, over all targets.
func (b *Book[S]) Count(s events.Slot) int32 { return b.counts[s] }

// InFlight returns the command with the ID name; nil if it has ended.
func (b *Book[S]) InFlight(name events.CommandID) events.Command {
	if f := b.flights[name]; f != nil {
		return f.Command
	}
	return nil
}

// GaveUp reports whether the command with the ID name was cancelled while its outcome is still awaited.
func (b *Book[S]) GaveUp(name events.CommandID) bool {
	f := b.flights[name]
	return f != nil && f.Cancelled
}

// Retrying returns the command with the ID name if it is in backoff after a refusal and still wanted; else nil.
func (b *Book[S]) Retrying(name events.CommandID) *Flight {
	if f := b.flights[name]; f.InBackoff() && !f.Cancelled {
		return f
	}
	return nil
}

// InOrder returns the commands in flight, in order of decision.
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
