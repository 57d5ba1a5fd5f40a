package metrics

import (
	"github.com/jobledger/jobledger/events"
)

// deletion is the deletion of an expired Job that has not been answered yet.
type deletion struct {
	name    events.CommandID
	expired events.Time
}

// expiry keeps track of the deletions of expired Jobs (T-062), and counts each one when it is answered. Of a Job
// without work left, no other state is kept.
func (c *Consumer) expiry(rec *events.Record) {
	switch f := rec.Facts.(type) {
	case *events.Decision:
		if rec.Kind == events.KindDecided {
			c.expiring(rec, f)
		}
	case *events.CommandEnded:
		known, ok := c.deletions[rec.Stream]
		if !ok || known.name != f.Command {
			return
		}
		delete(c.deletions, rec.Stream)
		if f.Ending == events.Done {
			c.metrics.deletionSeconds.Observe(rec.Time.Sub(known.expired).Seconds())
		}
	case *events.JobGone: // the outcome of the deletion is not recorded after this
		delete(c.deletions, rec.Stream)
	}
}

func (c *Consumer) expiring(rec *events.Record, d *events.Decision) {
	for place, command := range d.Commands() {
		if command, ok := command.(*events.DeleteJob); ok {
			c.deletions[rec.Stream] = deletion{events.CommandID{Decided: rec.Sequence, Place: uint32(place)}, command.Expired}
		}
	}
}
