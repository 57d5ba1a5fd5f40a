package projector

import "github.com/jobledger/jobledger/events"

// CronJob is the CronJob of a stream; nil when there is none.
func (w *World) CronJob(s events.Stream) *CronJob {
	c, _ := w.subjects[s].(*CronJob)
	return c
}

// CronJobs are all CronJobs, also those not yet seen, in the order in which their streams began.
func (w *World) CronJobs() []*CronJob {
	var out []*CronJob
	for _, s := range w.Subjects() {
		if c, ok := s.(*CronJob); ok {
			out = append(out, c)
		}
	}
	return out
}

// holdCron takes a CronJob over.
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

// dropCron lets a CronJob go, and what it says whose Jobs are.
func (w *World) dropCron(c *CronJob) {
	w.stated.crons.remove(c)
	for uid := range c.Runs {
		if w.runs[uid] == c.Stream {
			delete(w.runs, uid)
		}
	}
}

// followRuns keeps whose a Job is when a record other than one of the Job says so.
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
