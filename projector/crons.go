package projector

import "github.com/jobledger/jobledger/events"

// CronJob returns the CronJob of a stream; nil if there is none.
func (w *World) CronJob(s events.Stream) *CronJob {
	c, _ := w.subjects[s].(*CronJob)
	return c
}

// CronJobs returns all CronJobs, seen or not, in the order in which their streams began.
func (w *World) CronJobs() []*CronJob {
	var out []*CronJob
	for _, s := range w.Subjects() {
		if c, ok := s.(*CronJob); ok {
			out = append(out, c)
		}
	}
	return out
}

// holdCron adds a CronJob, replacing one of the same stream.
func (w *World) holdCron(c *CronJob) Subject {
	if known := w.CronJob(c.Stream); known != nil {
		w.dropCron(known)
	}
	w.subjects[c.Stream] = c
	w.stated.crons.toEnd(c)
	for uid := range c.Runs {
		w.runs[uid] = c.Stream
	}
	return c
}

// dropCron forgets a CronJob and its index of Jobs.
func (w *World) dropCron(c *CronJob) {
	w.stated.crons.remove(c)
	for uid := range c.Runs {
		if w.runs[uid] == c.Stream {
			delete(w.runs, uid)
		}
	}
}

// followRuns updates the index from Job to CronJob after a record that is not about a Job itself.
func (w *World) followRuns(c *CronJob, rec *events.Record) {
	switch f := rec.Facts.(type) {
	case *events.CommandEnded:
		if c.Runs[f.UID] != nil {
			w.runs[f.UID] = c.Stream
		}
	case *events.CronJobSeen:
		for _, uid := range c.strange {
			if w.runs[uid] == c.Stream {
				delete(w.runs, uid)
			}
		}
		c.strange = nil
	}
}
