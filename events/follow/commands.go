package follow

import (
	"context"
	"errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// MaxCommands is the largest number of cached commands. If there would be more, all are dropped.
const MaxCommands = 20_000

// Commands finds the command that a record ends. It caches the commands in flight from the decisions in records that it
// was shown.
type Commands struct {
	// Log is where commands are looked up that are not cached; nil for no lookup.
	Log store.Reader

	streams map[events.Stream]map[events.Sequence]*decision
	open    int // number of cached commands
}

// decision holds the commands of one decision. A dropped command is nil.
type decision struct {
	commands []events.Command
	open     int
}

// End returns the name of the command that a record ends: by its outcome, or by a Job that shows the result of a status
// write. ok is false for all other records.
func End(r *events.Record) (name events.CommandID, ok bool) {
	name, _, ok = end(r)
	return name, ok
}

// end is End, and returns the kind of the command too; 0 if the record does not say it.
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

// concludes reports whether the end in r is final. A refused command may be retried.
func concludes(r *events.Record) bool {
	f, outcome := r.Facts.(*events.CommandEnded)
	return !outcome || f.Ending == events.Done || f.Ending == events.Withdrawn
}

// TypeOf returns the kind of the command that a record ends, if the record itself says it; else 0.
func TypeOf(r *events.Record) events.CommandKind {
	_, kind, _ := end(r)
	return kind
}

// Ended returns the command that a record ends. It returns nil when an earlier record reported that end, when the
// record ends no command, and when the log no longer has the command. Errors come from the log. Call it before Shown
// for the same record.
func (c *Commands) Ended(ctx context.Context, r *events.Record) (events.Command, error) {
	name, ok := End(r)
	if !ok {
		return nil, nil
	}
	if command := c.Of(r.Stream, name); command != nil {
		return command, nil
	}
	return c.recall(ctx, r, name) // the end may have been reported, and the command dropped
}

// Of returns a cached command; nil when it is not cached.
func (c *Commands) Of(s events.Stream, name events.CommandID) events.Command {
	return c.streams[s][name.Decided].at(name)
}

// Open returns the number of cached commands of a stream.
func (c *Commands) Open(s events.Stream) (n int) {
	for _, d := range c.streams[s] {
		n += d.open
	}
	return n
}

// Shown caches what later records may need. Call it for every record, in order.
func (c *Commands) Shown(r *events.Record) {
	switch f := r.Facts.(type) {
	case *events.Decision:
		if r.Kind == events.KindDecided { // a decision that was only observed is not carried out
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
		// A Withdraw command has no end of its own. The command that it withdraws stays cached until its own end
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

// recall reads the command from the log. It returns nil if a record before rec reported the final end.
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
			return nil, nil // it is no longer kept
		}
		if end, ok := End(&r); ok && end == name && concludes(&r) {
			return nil, nil
		}
	}
	return command, nil
}
