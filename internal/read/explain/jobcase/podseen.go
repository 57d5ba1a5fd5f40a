package jobcase

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// takePod updates the try (pod) that record r is about, and returns it. It returns nil for a record that is not about a
// pod.
func (c *Case) takePod(r *events.Record) *try.Try {
	switch f := r.Facts.(type) {
	case *events.PodSeen:
		return c.seePod(r, f)
	case *events.PodGone:
		if t := c.tries[f.UID]; t != nil {
			if t.Gone, t.Moved = explain.MarkOf(r), f.Moved; t.AskedSeen.Record == 0 {
				t.Unrecorded = r.Evidence.PassedOver
			}
			c.Want.failed(t, r)
			if n := len(t.Waits); n > 0 && t.Waits[n-1].Until.Record == 0 {
				t.Waits[n-1].Until = explain.MarkOf(r)
			}
			return t
		}
	}
	return nil
}

func (c *Case) seePod(r *events.Record, f *events.PodSeen) *try.Try {
	if told := r.Evidence.Admitted; told != nil {
		c.Admitted, c.AdmittedAt = told, explain.MarkOf(r)
	}
	t := c.tries[f.UID]
	if t == nil {
		t = &try.Try{UID: f.UID, Ordered: c.ordered[f.Ordinal]}
		c.tries[f.UID] = t
		c.Tries = append(c.Tries, t)
	}
	// If the pod had a node when it was first seen, it was not compared with the template, unless the record itself
	// says what admission changed.
	if r.Kind == events.KindPodAdded && (!f.Scheduled || r.Evidence.Admitted != nil) {
		t.Admitted, t.AdmittedAt = c.Admitted, c.AdmittedAt
	}
	t.See(r, f)
	c.Want.failed(t, r)
	return t
}
