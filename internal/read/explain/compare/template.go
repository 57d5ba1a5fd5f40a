package compare

import (
	"context"
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/croncase"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/history"
)

// findTemplate looks for the newest edit that the CronJob's jobTemplate had after this Job was created. Later Jobs of
// the CronJob then have another template than this one.
func (c *Jobs) findTemplate(ctx context.Context) error {
	o := c.Origin
	if o == nil || o.Kind != "CronJob" || o.UID == "" {
		return nil
	}
	cron, err := croncase.Read(ctx, c.Src, events.CronJobStream(o.UID),
		history.Point{Sequence: events.Sequence(c.Job.AsOf.Sequence)})
	if err != nil && !errors.Is(err, history.ErrNoCronJob) && !c.Src.Beside(err) {
		return fmt.Errorf("look for edits of its CronJob: %w", err)
	}
	if cron == nil {
		return nil
	}
	for i := len(cron.Due.Changes) - 1; i >= 0; i-- {
		ch := &cron.Due.Changes[i]
		if ch.Retemplates() && !ch.After.Found && ch.Record > c.Added.Record {
			c.template = &templateEdit{ch.At, fates.ChangeMarks(ch), cron.EditText(ch)}
			return nil
		}
	}
	return nil
}

// templateEdit is the edit of a CronJob's jobTemplate since which the CronJob creates other Jobs than this one.
type templateEdit struct {
	at   events.Time
	from []explain.Mark // the versions of the CronJob before and after the edit
	text explain.Passage
}

// movedOn returns a sentence that the CronJob's jobTemplate was edited after this Job was created, and how. It returns
// none if there was no such edit.
func (c *Jobs) movedOn() []explain.Sentence {
	if c.template == nil {
		return nil
	}
	e := c.template
	return []explain.Sentence{explain.Say(e.from, "since this Job was made, its CronJob was edited at %s: %s",
		c.Clock(e.at), e.text)}
}
