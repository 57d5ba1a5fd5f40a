package follow

import (
	"context"
	"errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// MaxCommands bounds the commands that are remembered. Beyond it all are forgotten.
const MaxCommands = 20_000

// Commands says which command a record ends. It remembers the commands whose decisions it was shown, while they are in
// flight.
type Commands struct {
	// Log is where others are looked up; nil when nothing can be.
	Log store.Reader

	streams map[events.Stream]map[events.Sequence]*decision
	open    int // commands that are remembered
}

// decision is what one record decided. The place of a command that is remembered no longer is nil.
type decision struct {
	commands []events.Command
	open     int
}

// End names the command whose end a record tells: by its outcome, or by a Job that shows what a status write stored. ok
// is false for all other records.
func End(r *events.Record) (name events.CommandID, ok bool) {
	switch f := r.Facts.(type) {
	case *events.CommandEnded:
		return f.Command, true
	case *events.JobSeen:
		return f.Confirms, f.Confirms != events.CommandID{}
	}
	return events.CommandID{}, false
}

// concludes reports whether nothing more can be told of a command after that end: one that was refused may go on.
func concludes(r *events.Record) bool {
	f, outcome := r.Facts.(*events.CommandEnded)
	return !outcome || f.Ending == events.Done || f.Ending == events.Withdrawn
}

// TypeOf is the type of the command whose end a record tells, as far as the record itself says it; 0 when it does not.
func TypeOf(r *events.Record) events.CommandKind {
	switch f := r.Facts.(type) {
	case *events.CommandEnded:
		return f.Type
	case *events.JobSeen:
		if f.Confirms != (events.CommandID{}) {
			return events.CommandWriteStatus
		}
	}
	return 0
}

// Ended is the command whose end a record tells. It is nil when a record before told that already, when the record
// tells no end, and when the log no longer holds the command. Its error is the log's. It is asked before the record is
// shown.
func (c *Commands) Ended(ctx context.Context, r *events.Record) (events.Command, error) {
	name, ok := End(r)
	if !ok {
		return nil, nil
	}
	if command := c.Of(r.Stream, name); command != nil {
		return command, nil
	}
	return c.recall(ctx, r, name) // it may have been told, and have been forgotten
}

// Of is a command that is remembered; nil when it is not.
func (c *Commands) Of(s events.Stream, name events.CommandID) events.Command {
	return c.streams[s][name.Decided].at(name)
}

// Open is how many commands of a stream are remembered.
func (c *Commands) Open(s events.Stream) (n int) {
	for _, d := range c.streams[s] {
		n += d.open
	}
	return n
}

// Shown remembers what later records may need. It is called with every record, in order.
func (c *Commands) Shown(r *events.Record) {
	switch f := r.Facts.(type) {
	case *events.Decision:
		if r.Kind == events.KindDecided { // what would have been decided is not carried out
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
		if command.Traits().Target == events.TargetCommand { // it has no end of its own, and does not hide that of the other
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

// mayGoOn reports whether a command whose try failed may be tried again as it is.
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

// recall reads from the log what was decided, and whether the end was told before the record.
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
