package job

import (
	"cmp"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// headTick is the head (title) of the section that says for which due time a CronJob created the Job.
const headTick = "TICK"

// tick says for which due time of its CronJob the Job was created, and how late; or which user created it or asked for
// it.
func (c *Case) tick() []explain.Sentence {
	o := c.Origin
	if o == nil || o.Kind != "CronJob" || o.UID == "" {
		return nil
	}
	f := fates.Fates{Zone: c.Zone}
	by := "cronjob/" + o.Name
	cronJob, e, run, err := duetimes.OfJob(c.Ctx, c.Src, events.CronJobStream(o.UID), types.UID(c.Stream.ID),
		events.Sequence(c.Job.First))
	switch {
	case c.Src.Beside(err), err != nil && errors.Is(err, history.ErrNoCronJob):
		return []explain.Sentence{explain.Say(nil,
			"made by %s: for which due time is unknown, as the log does not tell of that CronJob", by)}
	case err != nil:
		c.Miss(c.Src, err)
		return nil
	}
	f.Due, f.Location = cronJob, cronJob.Location()
	switch {
	case e != nil && e.Fate == events.TickManual:
		return []explain.Sentence{explain.Say([]explain.Mark{{Record: e.Record, At: e.At}},
			"made by hand by %s, of %s: no due time asked for it", cmp.Or(e.By, explain.UnknownManager), by)}
	case e != nil && e.Fate == events.TickTriggered:
		return []explain.Sentence{explain.Say([]explain.Mark{{Record: e.Record, At: e.At}},
			"triggered by %s, of %s: no due time asked for it", words.Asker(e.By), by)}
	case e != nil:
		text, from := fmt.Sprintf("due %s by %s, started %s late", f.At(e.First), by, words.Span(e.Late)),
			[]explain.Mark{{Record: e.Record, At: e.At}}
		if e.Observed {
			text = fmt.Sprintf("due %s by %s, started by another controller, %s late, seen %s after it was due", f.At(e.First),
				by, words.Span(e.Late), words.Span(e.Seen))
		}
		if why, held := f.HeldBefore(e); why != "" {
			text, from = text+": "+why, append(held, from...)
		}
		c.refusedItself = f.Refused(e.First)
		return []explain.Sentence{explain.Say(from, "%s", text)}
	case run != nil && run.Due != 0:
		return []explain.Sentence{explain.Say(nil, "due %s by %s", f.At(run.Due), by)}
	case run != nil && run.Manual:
		return []explain.Sentence{explain.Say(nil, "made by hand, of %s", by)}
	}
	return []explain.Sentence{explain.Say(nil, "made by %s: for which due time is unknown", by)}
}
