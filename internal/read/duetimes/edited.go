package duetimes

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// Reschedules reports whether the change is one of the schedule, its time zone, or the rules of the zone.
func (ch *Change) Reschedules() bool {
	by := countsBy(ch.After)
	return !(&timing{by: countsBy(ch.Before)}).same(&by)
}

// Retemplates reports whether the Job template changed.
func (ch *Change) Retemplates() bool {
	return ch.Before.Template != ch.After.Template
}

// SeenAt returns the version of the CronJob's object that was in force at an instant; nil if the log has none.
func (c *CronJob) SeenAt(t events.Time) *events.CronJobSeen {
	seen, through := c.Seen, c.now
	if c.then != nil && t <= c.thenAt {
		seen, through = c.then, c.thenAt
	}
	for i := len(c.Changes) - 1; i >= 0 && c.Changes[i].At > t; i-- {
		if through == 0 || c.Changes[i].At <= through {
			seen = c.Changes[i].Before
		}
	}
	return seen
}

// nextAfter returns the first due time after an instant, by the schedule in force then; zero if none is known. It skips
// an @every schedule that was replaced later: its due times count from its runs, so they cannot be computed.
func (c *CronJob) nextAfter(t time.Time) time.Time {
	for i := range c.Changes {
		ch := &c.Changes[i]
		if ch.At <= events.At(t) || !ch.Reschedules() {
			continue
		}
		by := countsBy(c.SeenAt(events.At(t)))
		if s, _ := c.of(&by); !s.Every() {
			if next := s.Next(t); !next.IsZero() && events.At(next) <= ch.At {
				return next
			}
		}
		t = ch.At.Go()
	}
	next, _, err := c.Next(t, 1)
	if err != nil || len(next) == 0 {
		return time.Time{}
	}
	return next[0]
}

// WasOne returns the change before the instant that replaced a schedule by which the instant was a due time; nil for
// none.
func (c *CronJob) WasOne(t time.Time) *Change {
	at := events.At(t)
	for i := len(c.Changes) - 1; i >= 0; i-- {
		if ch := &c.Changes[i]; ch.At <= at && ch.Reschedules() && c.dueBy(ch.Before, t) {
			return ch
		}
	}
	return nil
}

// BecameOne returns the change after the instant that brought a schedule by which the instant would have been a due
// time; nil for none.
func (c *CronJob) BecameOne(t time.Time) *Change {
	at := events.At(t)
	for i := range c.Changes {
		if ch := &c.Changes[i]; ch.At > at && ch.Reschedules() && c.dueBy(ch.After, t) {
			return ch
		}
	}
	return nil
}

// dueBy reports whether an instant is a due time by the schedule of seen, a version of the CronJob. It is false for
// @every, whose due times depend on earlier starts.
func (c *CronJob) dueBy(seen *events.CronJobSeen, t time.Time) bool {
	by := countsBy(seen)
	s, _ := c.of(&by)
	return !s.Every() && s.Next(t.Add(-time.Second)).Equal(t)
}

// mostBack limits LookBack: it searches at most 512 records before the part that was read.
const mostBack = 512

// LookBack finds changes of the spec in the 512 records before the part that was read, and adds them to Changes. It
// stops at a damaged record, without an error.
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
			// Reading began with a checkpoint (a record with the whole state), which does not say which record has the
			// version before the change: set it now.
			c.Changes[0].Was = was
		}
		kept := r
		after, newer = f, &kept
	}
	slices.Reverse(found)
	c.Changes = append(found, c.Changes...)
	return c.findRules(ctx, src)
}
