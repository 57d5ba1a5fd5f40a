package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// Read reads the case of the Job of stream s up to the point at, and sets as what its tries count. It returns the errors
// of history.JobAt. With an error the case can still be non-nil: it then covers the records before the damage.
func Read(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*Case, error) {
	c, err := readCase(ctx, src, s, at)
	if c == nil {
		return nil, err
	}
	c.heed()
	return c, cmp.Or(err, c.Unread())
}

// heed corrects as what tries count, so that they match the final status of the Job. One status write counts the pods
// that were stopped at the Job's end, or none does, and the pods' records do not show which. Tries that the status
// leaves open become CountedUnknown.
func (c *Case) heed() {
	if c.folded == nil || !c.folded.Finished() || c.Truncated() || c.damage != 0 {
		return
	}
	failed, succeeded := c.folded.Base.Failed, c.folded.Base.Succeeded
	c.unwatchedEnds(int(succeeded))
	// A pod deleted because its Job fails counts as a failure from then on, even if it ends with success (J-022).
	stopped := func(t *Try) bool { return c.afterVerdict(t) && c.settled.Failure }
	c.agree(CountedFailed, int(failed), func(t *Try) bool {
		return t.Phase != events.PodSucceeded && !t.maySucceed || stopped(t)
	})
	c.agree(CountedSucceeded, int(succeeded), func(t *Try) bool { return t.Phase == events.PodSucceeded })
	n := int32(0)
	for _, t := range c.byCount() {
		if t.Counted == CountedFailed {
			n++
			t.Failure = n
		}
	}
}

// byCount returns the tries in the order in which they counted.
func (c *Case) byCount() []*Try {
	tries := slices.Clone(c.Tries)
	slices.SortStableFunc(tries, func(a, b *Try) int { return cmp.Compare(a.CountAt.Record, b.CountAt.Record) })
	return tries
}

// agree changes tries until want of them count as as. Only tries with fits may become counted. For example, with want
// 3, two counted failures and one open try that fits, the open try becomes the third. If several choices are left, the
// tries become CountedUnknown.
func (c *Case) agree(as Counted, want int, fits func(*Try) bool) {
	var have, late, open, early []*Try
	for _, t := range c.Tries {
		switch {
		case t.Counted == as:
			have = append(have, t)
			if c.afterVerdict(t) {
				late = append(late, t)
			}
		case t.Counted == CountedNot && t.over() && !t.Moved && fits(t):
			open = append(open, t)
			if by := c.ending(t).By; !c.afterVerdict(t) && by != ByUs && by != ByController && by != ByJobDeleted {
				// It ended before the verdict, so it must count: an uncounted end lets the Job go on.
				early = append(early, t)
			}
		}
	}
	over := c.conclusion()
	switch {
	case want == len(have):
	case want < len(have) && len(have)-want == len(late):
		for _, t := range late {
			t.Counted, t.CountAt, t.Failure = CountedNot, Mark{}, 0
		}
	case want == 0: // the writer of the status counts none of them
		for _, t := range have {
			t.Counted, t.CountAt, t.Failure = CountedNot, Mark{}, 0
		}
	case want < len(have):
		c.unsure(late)
	case want-len(have) == len(open), want-len(have) == len(early):
		if want-len(have) == len(early) {
			open = early
		}
		for _, t := range open {
			t.Counted, t.CountAt = as, over
		}
	default:
		c.unsure(open)
	}
}

func (c *Case) unsure(tries []*Try) {
	for _, t := range tries {
		t.Counted, t.CountAt, t.Failure = CountedUnknown, c.conclusion(), 0
	}
}

// conclusion returns the record of the status with which the Job ended.
func (c *Case) conclusion() Mark {
	if c.settled == nil {
		return Mark{}
	}
	return cmp.Or(c.settled.Over, c.settled.Stored, c.settled.Seen)
}

// afterVerdict reports whether a try ended after the Job's end was settled.
func (c *Case) afterVerdict(t *Try) bool {
	return c.settled != nil && c.settled.bound() != 0 && t.end().Record >= c.settled.bound()
}

// statusText says what the status counts, if the known tries add up to other counts.
func (c *Case) statusText(counts map[Counted]int) string {
	if c.folded == nil || !c.folded.Finished() {
		return ""
	}
	b := &c.folded.Base
	if int(b.Succeeded) == counts[CountedSucceeded] && int(b.Failed) == counts[CountedFailed] {
		return ""
	}
	return fmt.Sprintf(" · the status counts %d succeeded, %d failed", b.Succeeded, b.Failed)
}
