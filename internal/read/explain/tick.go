package explain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// unknownManager stands for an unrecorded field manager.
const unknownManager = "an unknown field manager"

// headTick is the first section of a Job that a CronJob controls.
const headTick = "TICK"

// tick says for which due time the Job was created and how late, or who created it by hand or requested it.
func (c *JobCase) tick() []Sentence {
	o := c.origin
	if o == nil || o.Kind != "CronJob" || o.UID == "" {
		return nil
	}
	f := fates{zone: c.zone}
	by := "cronjob/" + o.Name
	cronJob, e, run, err := duetimes.OfJob(c.ctx, c.src, events.CronJobStream(o.UID), types.UID(c.stream.ID), events.Sequence(c.Job.First))
	switch {
	case c.src.Beside(err), err != nil && errors.Is(err, history.ErrNoCronJob):
		return []Sentence{say(nil, "made by %s: for which due time is unknown, as the log does not tell of that CronJob", by)}
	case err != nil:
		c.miss(c.src, err)
		return nil
	}
	f.due, f.location = cronJob, cronJob.Location()
	switch {
	case e != nil && e.Fate == events.TickManual:
		return []Sentence{say([]Mark{{e.Record, e.At}}, "made by hand by %s, of %s: no due time asked for it", cmp.Or(e.By, unknownManager), by)}
	case e != nil && e.Fate == events.TickTriggered:
		return []Sentence{say([]Mark{{e.Record, e.At}}, "triggered by %s, of %s: no due time asked for it", words.Asker(e.By), by)}
	case e != nil:
		text, from := fmt.Sprintf("due %s by %s, started %s late", f.at(e.First), by, words.Span(e.Late)), []Mark{{e.Record, e.At}}
		if e.Observed {
			text = fmt.Sprintf("due %s by %s, started by another controller, %s late, seen %s after it was due", f.at(e.First), by, words.Span(e.Late), words.Span(e.Seen))
		}
		if why, held := f.heldBefore(e); why != "" {
			text, from = text+": "+why, append(held, from...)
		}
		c.refusedItself = slices.ContainsFunc(f.due.Holds, func(h duetimes.Hold) bool { return h.Due == e.First && h.By == events.HeldNoCreate })
		return []Sentence{say(from, "%s", text)}
	case run != nil && run.Due != 0:
		return []Sentence{say(nil, "due %s by %s", f.at(run.Due), by)}
	case run != nil && run.Manual:
		return []Sentence{say(nil, "made by hand, of %s", by)}
	}
	return []Sentence{say(nil, "made by %s: for which due time is unknown", by)}
}

// heldBefore says what held a due time back that started in the end.
func (f *fates) heldBefore(e *duetimes.Entry) (why string, from []Mark) {
	for i := range f.due.Holds {
		if h := &f.due.Holds[i]; h.Due == e.First {
			text := f.holdText(h.By, h.Active)
			if why != "" {
				text = why + "; " + text
			}
			why, from = text, append(from, Mark{h.Record, h.At})
		}
	}
	if why == "" && e.Late >= lateStart {
		return f.lateBy(e)
	}
	return why, from
}

// lateStart is the minimum lateness of a start that an answer explains.
const lateStart = history.LateStart

// lateBy explains a late start without a recorded hold. No decision is recorded while a CronJob is suspended, and what
// delays another controller follows from observations.
func (f *fates) lateBy(e *duetimes.Entry) (why string, from []Mark) {
	if f.gapAt(e.First) != nil {
		return "", nil
	}
	if all, whole := f.due.Kept(e.First, e.First.Add(e.Late)); whole {
		return f.keptText(all)
	}
	if e.Observed {
		return "in the records nothing held it back: that controller was slow, or not running", nil
	}
	return "", nil
}
