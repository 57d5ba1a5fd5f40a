package jobcase

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// Owner is what the records of a Job's CronJob say about the deletion of the Job, such as our decision to delete it.
type Owner struct {
	Job  types.UID
	Spec *events.CronJobSeen // newest version of the CronJob at the deletion

	Ordered   explain.Mark // our decision to delete the Job
	Replacing bool
	Next      RunMark // the CronJob's first Job after the deletion

	Ends    map[types.UID]events.JobResult // results of the CronJob's Jobs that had ended and still existed
	Deleted explain.Mark                   // record that the CronJob itself was deleted
	Ours    bool                           // Jobledger runs the CronJob
}

// RunMark is a Job of a CronJob: its name, and the record that shows it.
type RunMark struct {
	explain.Mark
	Name string
}

// OwnerSaid returns what the records of the Job's CronJob say about the deletion of the Job. seen is the record that
// shows the deletion. It returns nil if they say nothing.
func (c *Case) OwnerSaid(seen explain.Mark) *Owner {
	if !c.ownerRead {
		c.owner, c.ownerRead = c.readOwner(seen), true
	}
	return c.owner
}

// readOwner reads the CronJob's records from before the Job's first record until SoonAfter (2 minutes) after the
// deletion, which record seen shows. It reads no further, because a CronJob can live for years.
func (c *Case) readOwner(seen explain.Mark) *Owner {
	o := c.Origin
	if o == nil || o.Kind != "CronJob" || o.UID == "" {
		return nil
	}
	s := events.CronJobStream(o.UID)
	from, err := history.Stated(c.Ctx, c.Src, s, events.Sequence(c.Job.First))
	if err != nil || from == 0 {
		c.Miss(c.Src, err)
		return nil
	}
	w := &Owner{Job: types.UID(c.Stream.ID), Ends: map[types.UID]events.JobResult{}, Ours: c.cronJobsOurs}
	for r, err := range c.Src.ReadStream(c.Ctx, s, from, store.Forward) {
		if err != nil {
			c.Miss(c.Src, err)
			return nil
		}
		if uint64(r.Sequence) > c.Job.AsOf.Sequence || r.Sequence > seen.Record && r.Time.Sub(seen.At) > SoonAfter {
			break
		}
		w.Learn(&r, seen)
	}
	return w
}

func (w *Owner) Learn(r *events.Record, seen explain.Mark) {
	before := r.Sequence <= seen.Record
	switch f := r.Facts.(type) {
	case *events.CronJobSeen:
		if before {
			w.Spec = f
		}
		if f.Deleted != 0 && w.Deleted.Record == 0 {
			w.Deleted = explain.MarkOf(r)
		}
	case *events.CronJobGone:
		if w.Deleted.Record == 0 {
			w.Deleted = explain.MarkOf(r)
		}
	case *events.RunSeen:
		if before && f.Result != events.ResultNone {
			w.Ends[f.Job] = f.Result
		}
		if f.Job != w.Job && !before && f.Created.Add(2*time.Second) > seen.At && w.Next.Record == 0 {
			w.Next = RunMark{explain.MarkOf(r), f.Name}
		}
	case *events.RunGone:
		if before && f.Job != w.Job {
			delete(w.Ends, f.Job)
		}
	case *events.Decision:
		if r.Kind == events.KindDecided && before {
			w.orders(r, f)
		}
	case *events.CommandEnded:
		refused := f.Ending == events.Refused || f.Ending == events.Withdrawn
		// If our command to delete the Job was refused or withdrawn, and the Job is deleted nevertheless, another
		// client deleted it: forget our decision. A later decision of ours sets it again.
		if refused && f.Run == w.Job && f.Command.Decided == w.Ordered.Record {
			w.Ordered, w.Replacing = explain.Mark{}, false
		}
	}
}

func (w *Owner) orders(r *events.Record, d *events.Decision) {
	for _, command := range d.Commands() {
		if x, ok := command.(*events.DeleteRun); ok && x.Job == w.Job {
			w.Ordered, w.Replacing = explain.MarkOf(r), x.Replacing
		}
	}
}

// SoonAfter is the longest time between a deletion and its consequence. The built-in controllers check every second;
// garbage collection takes longer under load.
const SoonAfter = 2 * time.Minute
