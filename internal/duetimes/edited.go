package duetimes

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/store"
)

// Reschedules reports whether a change is one of the schedule or of its zone.
func (ch *Change) Reschedules() bool {
	by := countsBy(ch.After)
	return !(&timing{by: countsBy(ch.Before)}).same(&by)
}

// Retemplates reports whether a change is one of the Jobs that are made.
func (ch *Change) Retemplates() bool {
	return ch.Before.Template != ch.After.Template || ch.Before.Redacted != ch.After.Redacted
}

// WasOne is the change since which an instant is no due time, though by the schedule before it would be one; nil for none.
func (c *CronJob) WasOne(t time.Time) *Change {
	at := events.At(t)
	for i := len(c.Changes) - 1; i >= 0; i-- {
		if ch := &c.Changes[i]; ch.At <= at && ch.Reschedules() && c.dueBy(ch.Before, t) {
			return ch
		}
	}
	return nil
}

// BecameOne is the change by which an instant before it would be a due time; nil for none.
func (c *CronJob) BecameOne(t time.Time) *Change {
	at := events.At(t)
	for i := range c.Changes {
		if ch := &c.Changes[i]; ch.At > at && ch.Reschedules() && c.dueBy(ch.After, t) {
			return ch
		}
	}
	return nil
}

// dueBy reports whether an instant is a due time of the CronJob as it was. Those of @every depend on when it started.
func (c *CronJob) dueBy(seen *events.CronJobSeen, t time.Time) bool {
	by := countsBy(seen)
	s, err := c.of(&by)
	return err == nil && !s.Every() && s.Next(t.Add(-time.Second)).Equal(t)
}

// mostBack is how many records before those that were read are looked at for changes of the spec.
const mostBack = 512

// LookBack reads changes of the spec that were made before what was read. Where the log is damaged there, it looks no further.
func (c *CronJob) LookBack(ctx context.Context, src history.Source, s events.Stream) error {
	after := c.firstSeenAs
	if c.first == 0 || after == nil {
		return nil
	}
	var found []Change
	n := 0
	var newer *events.Record
	for r, err := range src.ReadStream(ctx, s, c.first, store.Backward) {
		if n++; errors.Is(err, store.ErrPruned) || src.Beside(err) || n > mostBack {
			break
		}
		if err != nil {
			return err
		}
		f, ok := r.Facts.(*events.CronJobSeen)
		if !ok || r.Sequence >= c.first {
			continue
		}
		was := Place{r.Sequence, r.Time}
		switch differs := len(f.Differs(after)) > 0; {
		case newer != nil && differs:
			found = append(found, Change{Before: f, After: after, By: newer.Evidence.Edit, Record: newer.Sequence, At: newer.Time, Was: was})
		case newer == nil && !differs && len(c.Changes) > 0 && c.Changes[0].Was == Place{}:
			c.Changes[0].Was = was // reading began with a stored state
		}
		kept := r
		after, newer = f, &kept
	}
	slices.Reverse(found)
	c.Changes = append(found, c.Changes...)
	return c.findRules(ctx, src)
}
