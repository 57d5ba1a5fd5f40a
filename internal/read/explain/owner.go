package explain

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// owner is what the records of a Job's CronJob show about the Job's deletion.
type owner struct {
	job  types.UID
	spec *events.CronJobSeen // as of the deletion

	ordered   Mark // our decision to delete the Job
	replacing bool
	next      RunMark // the first Job of the CronJob after the deletion

	ends    map[types.UID]events.JobResult // the results of the CronJob's Jobs that had ended before the deletion
	deleted Mark                           // the CronJob's own deletion was seen
	ours    bool                           // we run the CronJob
}

// RunMark is a Job of a CronJob, and the record that shows it.
type RunMark struct {
	Mark
	Name string
}

// ownerSaid returns what the Job's CronJob recorded about the Job's deletion, seen at a record; nil for nothing.
func (c *Case) ownerSaid(seen Mark) *owner {
	if !c.ownerRead {
		c.owner, c.ownerRead = c.readOwner(seen), true
	}
	return c.owner
}

// readOwner reads the CronJob's stream from before the Job's first record to some time after its deletion. It does not
// read on: a CronJob can live for years.
func (c *Case) readOwner(seen Mark) *owner {
	o := c.origin
	if o == nil || o.Kind != "CronJob" || o.UID == "" {
		return nil
	}
	s := events.CronJobStream(o.UID)
	from, err := history.Stated(c.ctx, c.src, s, events.Sequence(c.Job.First))
	if err != nil || from == 0 {
		c.miss(c.src, err)
		return nil
	}
	w := &owner{job: types.UID(c.stream.ID), ends: map[types.UID]events.JobResult{}, ours: c.cronJobsOurs}
	for r, err := range c.src.ReadStream(c.ctx, s, from, store.Forward) {
		if err != nil {
			c.miss(c.src, err)
			return nil
		}
		if uint64(r.Sequence) > c.Job.AsOf.Sequence || r.Sequence > seen.Record && r.Time.Sub(seen.At) > soonAfter {
			break
		}
		w.learn(&r, seen)
	}
	return w
}

func (w *owner) learn(r *events.Record, seen Mark) {
	before := r.Sequence <= seen.Record
	switch f := r.Facts.(type) {
	case *events.CronJobSeen:
		if before {
			w.spec = f
		}
		if f.Deleted != 0 && w.deleted.Record == 0 {
			w.deleted = markOf(r)
		}
	case *events.CronJobGone:
		if w.deleted.Record == 0 {
			w.deleted = markOf(r)
		}
	case *events.RunSeen:
		if before && f.Result != events.ResultNone {
			w.ends[f.Job] = f.Result
		}
		if f.Job != w.job && !before && f.Created.Add(2*time.Second) > seen.At && w.next.Record == 0 {
			w.next = RunMark{markOf(r), f.Name}
		}
	case *events.RunGone:
		if before && f.Job != w.job {
			delete(w.ends, f.Job)
		}
	case *events.Decision:
		if r.Kind == events.KindDecided && before {
			w.orders(r, f)
		}
	case *events.CommandEnded:
		refused := f.Ending == events.Refused || f.Ending == events.Withdrawn
		// Another client deleted it, unless a new decision follows.
		if refused && f.Run == w.job && f.Command.Decided == w.ordered.Record {
			w.ordered, w.replacing = Mark{}, false
		}
	}
}

func (w *owner) orders(r *events.Record, d *events.Decision) {
	for _, command := range d.Commands() {
		if x, ok := command.(*events.DeleteRun); ok && x.Job == w.job {
			w.ordered, w.replacing = markOf(r), x.Replacing
		}
	}
}

// soonAfter is the maximum time between a deletion and its consequence: the built-in controllers check every second,
// and garbage collection takes longer under load.
const soonAfter = 2 * time.Minute

// removedBy says who deleted the Job, by the records of its CronJob; empty if they do not show it.
func (w *owner) removedBy(name string, seen Mark) (by string, from []Mark) {
	switch {
	case w.ordered.Record != 0 && w.replacing && w.next.Record != 0:
		return fmt.Sprintf("by Jobledger: replaced by %s (concurrencyPolicy Replace)", w.next.Name), marks(w.ordered, w.next.Mark)
	case w.ordered.Record != 0 && w.replacing:
		return "by Jobledger: to be replaced by the next one (concurrencyPolicy Replace)", marks(w.ordered)
	case w.ordered.Record != 0:
		return "by Jobledger: " + w.limitText(), marks(w.ordered)
	case w.deleted.Record != 0 && w.deleted.At <= seen.At.Add(time.Second) && seen.At.Sub(w.deleted.At) < soonAfter:
		return fmt.Sprintf("with its CronJob %s, which was deleted", name), marks(w.deleted)
	case w.ours: // our decision would be in the log
		return "", nil
	}
	return w.inferred(seen)
}

// limitText names the history limit that the Job exceeded.
func (w *owner) limitText() string {
	result, name := w.ends[w.job], "successfulJobsHistoryLimit"
	if result == events.ResultFailed {
		name = "failedJobsHistoryLimit"
	}
	limit := w.keeps(result)
	if limit == nil {
		return "more Jobs had ended than the CronJob's history limits keep"
	}
	return fmt.Sprintf("more Jobs had ended than %s %d keeps", name, *limit)
}

// inferred returns what the built-in CronJob controller would have done. That controller writes no records, so only
// what followed shows it.
func (w *owner) inferred(seen Mark) (by string, from []Mark) {
	if w.spec == nil {
		return "", nil
	}
	result, ended := w.ends[w.job]
	switch {
	case !ended && w.spec.Policy == "Replace" && w.next.Record != 0 && w.next.At.Sub(seen.At) < 10*time.Second:
		return fmt.Sprintf("by the built-in CronJob controller, to judge by what followed: %s came %s later (concurrencyPolicy Replace)",
			w.next.Name, words.Span(w.next.At.Sub(seen.At))), marks(w.next.Mark)
	case ended && w.overLimit(result):
		return "by the built-in CronJob controller, to judge by its limit: " + w.limitText(), nil
	}
	return "", nil
}

// overLimit reports whether more Jobs had ended with a result than the CronJob keeps.
func (w *owner) overLimit(result events.JobResult) bool {
	limit := w.keeps(result)
	alike := 0
	for _, r := range w.ends {
		if r == result {
			alike++
		}
	}
	return limit != nil && alike > int(*limit)
}

// keeps returns how many Jobs with a result the CronJob keeps; nil for all, or if unknown.
func (w *owner) keeps(result events.JobResult) *int32 {
	switch {
	case w.spec == nil:
		return nil
	case result == events.ResultFailed:
		return w.spec.KeepFailed
	}
	return w.spec.KeepSucceeded
}
