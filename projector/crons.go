package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/internal/subject/line"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// CronJob is the state of one CronJob, computed from its records. Package cronjob does the computing.
type CronJob struct {
	cronjob.CronJob
	stating line.Links[CronJob] // position in the list of CronJobs by last checkpoint (statement.crons)
}

// cronName is the namespace and name of a CronJob.
type cronName struct{ namespace, name string }

// newCronJob returns an empty CronJob that knows only its stream (the name of its part of the log).
func newCronJob(stream events.Stream, w *World) *CronJob {
	c := &CronJob{}
	c.Begin(stream, &w.Settings, w.zones, &w.watch)
	return c
}

// cronFromWire decodes a stored state of a CronJob.
func (w *World) cronFromWire(stream events.Stream, ref events.JobRef, s *pb.CronJobState) (*CronJob, error) {
	c := newCronJob(stream, w)
	return c, c.Restore(ref, s)
}

func (c *CronJob) over() bool                             { return c.Over() }
func (c *CronJob) began() events.Sequence                 { return c.First }
func (c *CronJob) toWire() (*pb.JobState, *pb.StateNames) { return c.ToWire() }

// CronJob returns the CronJob whose records are in stream s; nil if there is none.
func (w *World) CronJob(s events.Stream) *CronJob {
	c, _ := w.subjects[s].(*CronJob)
	return c
}

// CronJobs returns all CronJobs, even if the CronJob's object was not seen, in the order of their first records.
func (w *World) CronJobs() []*CronJob {
	var out []*CronJob
	for _, s := range w.Subjects() {
		if c, ok := s.(*CronJob); ok {
			out = append(out, c)
		}
	}
	return out
}

// holdCron adds a CronJob to the world, replacing a known one with the same UID.
func (w *World) holdCron(c *CronJob) Subject {
	if known := w.CronJob(c.Stream); known != nil {
		w.dropCron(known)
	}
	w.subjects[c.Stream] = c
	w.stated.crons.ToEnd(c)
	for uid := range c.Runs {
		w.runs[uid] = c.Stream
	}
	w.nameCron(c)
	return c
}

// nameCron makes CronJobNamed find the CronJob, if its object is known to exist.
func (w *World) nameCron(c *CronJob) {
	if c.Known() && !c.Gone {
		w.named[cronName{c.Ref.Namespace, c.Ref.Name}] = c.Stream
	}
}

// CronJobNamed returns the CronJob that was last seen under a name; nil if there is none.
func (w *World) CronJobNamed(namespace, name string) *CronJob {
	stream, ok := w.named[cronName{namespace, name}]
	if !ok {
		return nil
	}
	return w.CronJob(stream)
}

// dropCron forgets a CronJob, its name and its Jobs.
func (w *World) dropCron(c *CronJob) {
	w.stated.crons.Remove(c)
	if name := (cronName{c.Ref.Namespace, c.Ref.Name}); w.named[name] == c.Stream {
		delete(w.named, name)
	}
	for uid := range c.Runs {
		if w.runs[uid] == c.Stream {
			delete(w.runs, uid)
		}
	}
}

// followRuns updates w.runs, the map from Jobs to their CronJob, after a record of CronJob c that is not about a Job
// itself. A Job that the CronJob has created is added. A Job that turns out to be in another namespace is removed.
func (w *World) followRuns(c *CronJob, rec *events.Record) {
	switch f := rec.Facts.(type) {
	case *events.CommandEnded:
		if c.Runs[f.UID] != nil {
			w.runs[f.UID] = c.Stream
		}
	case *events.CronJobSeen:
		w.nameCron(c)
		for _, uid := range c.TakeStrange() {
			if w.runs[uid] == c.Stream {
				delete(w.runs, uid)
			}
		}
	}
}
