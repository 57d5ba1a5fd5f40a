package metrics

import (
	"github.com/jobledger/jobledger/events"
)

// deletion is one of an expired Job that is in flight.
type deletion struct {
	name    events.CommandID
	expired events.Time
}

// expiry follows the deletions of expired Jobs (T-062). A retired Job is not remembered for it, but a deletion in
// flight is.
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
	case *events.JobGone: // its end is not recorded any more
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
