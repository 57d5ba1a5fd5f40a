package explain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
)

// heed brings what tries count as to what the status of a Job that has ended counts. Pods that were stopped at its end
// are counted by one write of the status, or not at all, and no record of theirs says which. What the status leaves
// open is CountedUnknown.
func (c *Case) heed() {
	if c.folded == nil || !c.folded.Finished() || c.Truncated() || c.damage != 0 {
		return
	}
	failed, succeeded := c.folded.Base.Failed, c.folded.Base.Succeeded
	c.unwatchedEnds(int(succeeded))
	// A pod that is deleted as its Job fails counts as a failure from then on, also when it ends with success (J-022).
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

// byCount are the tries in the order in which they counted.
func (c *Case) byCount() []*Try {
	tries := slices.Clone(c.Tries)
	slices.SortStableFunc(tries, func(a, b *Try) int { return cmp.Compare(a.CountAt.Record, b.CountAt.Record) })
	return tries
}

// agree makes as many tries count so as the status says. fits are those that may.
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
				early = append(early, t) // nothing but its count lets a Job go on past its end
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
	case want == 0: // whoever wrote the status counts none of them
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

// conclusion is the record that shows the status with which the Job ended.
func (c *Case) conclusion() Mark {
	if c.settled == nil {
		return Mark{}
	}
	return cmp.Or(c.settled.Over, c.settled.Stored, c.settled.Seen)
}

// afterVerdict reports whether a try ended, or was asked to, after it was settled how the Job ends.
func (c *Case) afterVerdict(t *Try) bool {
	return c.settled != nil && c.settled.bound() != 0 && t.end().Record >= c.settled.bound()
}

// statusText says what the status counts, where the tries that are known do not come to that.
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
