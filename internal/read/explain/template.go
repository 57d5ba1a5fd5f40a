package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// findTemplate looks for the newest edit of the CronJob's jobTemplate since the Job was created. Newer Jobs have
// another template.
func (c *compared) findTemplate(ctx context.Context) error {
	o := c.origin
	if o == nil || o.Kind != "CronJob" || o.UID == "" {
		return nil
	}
	cron, err := ReadCron(ctx, c.src, events.CronJobStream(o.UID), history.Point{Sequence: events.Sequence(c.Job.AsOf.Sequence)})
	if err != nil && !errors.Is(err, history.ErrNoCronJob) && !c.src.Beside(err) {
		return fmt.Errorf("look for edits of its CronJob: %w", err)
	}
	if cron == nil {
		return nil
	}
	for i := len(cron.due.Changes) - 1; i >= 0; i-- {
		ch := &cron.due.Changes[i]
		if ch.Retemplates() && !ch.After.Found && ch.Record > c.added.Record {
			c.template = &templateEdit{ch.At, changeMarks(ch), cron.editText(ch)}
			return nil
		}
	}
	return nil
}

// templateEdit is an edit of a CronJob's jobTemplate.
type templateEdit struct {
	at   events.Time
	from []Mark // the CronJob before the edit, and after it
	text passage
}

// movedOn says that the Job's CronJob creates other Jobs by now.
func (c *compared) movedOn() []Sentence {
	if c.template == nil {
		return nil
	}
	e := c.template
	return []Sentence{say(e.from, "since this Job was made, its CronJob was edited at %s: %s", c.clock(e.at), e.text)}
}
