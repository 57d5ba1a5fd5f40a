package follow

import (
	"context"
	"errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// MaxCommands is the largest number of commands in flight that Commands caches. If there would be more, all are dropped
// from the cache.
const MaxCommands = 20_000

// Commands returns the command whose outcome a record reports. It caches the commands in flight (decided, and not
// ended), which it takes from the decisions in the records that it is shown.
type Commands struct {
	// Log is read for commands that are not in the cache; nil if there is to be no such read.
	Log store.Reader

	streams map[events.Stream]map[events.Sequence]*decision
	open    int // number of cached commands
}

// decision holds the commands of one decision, in the decision's order. A command that has ended is replaced by nil;
// open is the number of the others.
type decision struct {
	commands []events.Command
	open     int
}

// End returns the ID of the command whose end the record reports. The record is the command's outcome, or an
// observation of the Job that shows the result of a status write. ok is false for all other records.
func End(r *events.Record) (name events.CommandID, ok bool) {
	name, _, ok = end(r)
	return name, ok
}

// end does the same as End, and also returns the kind of the command; 0 if the record does not say it.
func end(r *events.Record) (name events.CommandID, kind events.CommandKind, ok bool) {
	switch f := r.Facts.(type) {
	case *events.CommandEnded:
		return f.Command, f.Type, true
	case *events.JobSeen:
		if f.Confirms != (events.CommandID{}) {
			return f.Confirms, events.CommandWriteStatus, true
		}
	}
	return events.CommandID{}, 0, false
}

// concludes reports whether r reports the final end of a command. A refused command may be retried, so its refusal is
// not final.
func concludes(r *events.Record) bool {
	f, outcome := r.Facts.(*events.CommandEnded)
	return !outcome || f.Ending == events.Done || f.Ending == events.Withdrawn
}

// TypeOf returns the kind of the command whose end the record reports, if the record itself says it; else 0.
func TypeOf(r *events.Record) events.CommandKind {
	_, kind, _ := end(r)
	return kind
}

// Ended returns the command whose end the record reports. It returns nil when an earlier record reported that end, when
// the record ends no command, and when the log no longer has the command. Errors come from the log. Call it before
// Shown for the same record.
func (c *Commands) Ended(ctx context.Context, r *events.Record) (events.Command, error) {
	name, ok := End(r)
	if !ok {
		return nil, nil
	}
	if command := c.Of(r.Stream, name); command != nil {
		return command, nil
	}
	// The command is not cached, so read it from the log. recall returns nil if an earlier record already reported its
	// final end
	return c.recall(ctx, r, name)
}

// Of returns the command with the ID name, of the Job or CronJob s, from the cache; nil when it is not cached.
func (c *Commands) Of(s events.Stream, name events.CommandID) events.Command {
	return c.streams[s][name.Decided].at(name)
}

// Open returns the number of cached commands of the Job or CronJob s.
func (c *Commands) Open(s events.Stream) (n int) {
	for _, d := range c.streams[s] {
		n += d.open
	}
	return n
}

// Shown updates the cache: it adds the commands of a decision, and drops those that have ended. Call it for every
// record, in order.
func (c *Commands) Shown(r *events.Record) {
	switch f := r.Facts.(type) {
	case *events.Decision:
		// A WouldDecide record is no input here: its commands are not sent, only compared with another controller's
		// acts
		if r.Kind == events.KindDecided {
			c.decided(r, f)
		}
	case *events.JobRetired:
		c.forget(r.Stream)
	default:
		if name, ok := End(r); ok && (concludes(r) || !c.mayGoOn(r, name)) {
			c.ended(r.Stream, name)
		}
	}
}

func (c *Commands) decided(r *events.Record, f *events.Decision) {
	d := &decision{commands: f.Commands()}
	for place, command := range d.commands {
		// If this is a Withdraw command, do not cache it: no record reports its end. The command that it withdraws
		// stays cached until its own end
		if command.Traits().Target == events.TargetCommand {
			d.commands[place] = nil
		} else {
			d.open++
		}
	}
	if d.open == 0 {
		return
	}
	if c.open+d.open > MaxCommands || c.streams == nil {
		c.streams, c.open = map[events.Stream]map[events.Sequence]*decision{}, 0
	}
	if c.streams[r.Stream] == nil {
		c.streams[r.Stream] = map[events.Sequence]*decision{}
	}
	c.streams[r.Stream][r.Sequence] = d
	c.open += d.open
}

// mayGoOn reports whether a command whose try failed may be retried unchanged.
func (c *Commands) mayGoOn(r *events.Record, name events.CommandID) bool {
	command := c.Of(r.Stream, name)
	if command == nil || !command.Traits().Retried {
		return false
	}
	return r.Facts.(*events.CommandEnded).Class.Passing()
}

func (c *Commands) ended(s events.Stream, name events.CommandID) {
	d := c.streams[s][name.Decided]
	if d.at(name) == nil {
		return
	}
	d.commands[name.Place] = nil
	c.open--
	if d.open--; d.open > 0 {
		return
	}
	if delete(c.streams[s], name.Decided); len(c.streams[s]) == 0 {
		delete(c.streams, s)
	}
}

func (c *Commands) forget(s events.Stream) {
	c.open -= c.Open(s)
	delete(c.streams, s)
}

func (d *decision) at(name events.CommandID) events.Command {
	if d == nil || int(name.Place) >= len(d.commands) {
		return nil
	}
	return d.commands[name.Place]
}

// recall reads the command from the log. It returns nil if a record before rec reported the command's final end.
func (c *Commands) recall(ctx context.Context, rec *events.Record, name events.CommandID) (command events.Command, err error) {
	if c.Log == nil {
		return nil, nil
	}
	for r, err := range c.Log.ReadStream(ctx, rec.Stream, name.Decided, store.Forward) {
		switch {
		case errors.Is(err, store.ErrPruned):
			return command, nil
		case err != nil:
			return nil, err
		case r.Sequence >= rec.Sequence:
			return command, nil
		}
		if d, ok := r.Facts.(*events.Decision); ok && r.Sequence == name.Decided {
			if all := d.Commands(); int(name.Place) < len(all) {
				command = all[name.Place]
			}
		}
		if command == nil {
			return nil, nil // the log no longer has the decision
		}
		if end, ok := End(&r); ok && end == name && concludes(&r) {
			return nil, nil
		}
	}
	return command, nil
}
