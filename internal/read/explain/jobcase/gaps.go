package jobcase

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
)

// BegunBefore returns what had happened before the first record (Begun). It is empty if a gap of the answer already
// says that nobody watched then.
func (c *Case) BegunBefore() string {
	if slices.ContainsFunc(c.Touching(), func(g *history.Gap) bool { return g.From == 0 }) {
		return ""
	}
	return c.Begun
}

// GapBefore returns the gap (a time in which nobody watched) that may have hidden a deletion; nil if there is none.
// seen is the record that shows the deletion, from the listing after the gap.
func (c *Case) GapBefore(t *try.Try, seen explain.Mark) *history.Gap {
	for _, g := range c.Gaps {
		from, until := events.Time(g.From), events.Time(g.Until)
		if seen.Record > events.Sequence(g.Listing) && seen.At >= from && (until == 0 || seen.At <= until) {
			return g
		}
	}
	return nil
}

// Touching returns the gaps (times in which nobody watched the cluster) that overlap the time from the Job's creation
// to its end.
func (c *Case) Touching() []*history.Gap {
	var out []*history.Gap
	all := c.Gaps
	// If the requested time is within a gap, use that gap (g) as known at that time.
	if g := c.Job.Gap; g != nil && !c.Over() {
		if all = slices.DeleteFunc(slices.Clone(all),
			func(x *history.Gap) bool { return x.Listing == g.Listing }); g.From != 0 {
			out = append(out, g)
		}
	}
	for _, g := range all {
		until := events.Time(g.Until)
		if g.From == 0 && c.Start() == c.Added.At {
			// This gap was before the first watch. If the listing after it found the Job right after its creation, the
			// gap does not touch the Job.
			continue
		}
		if events.Time(g.From) < c.End() && (until == 0 || until > c.Start()) && !explain.AtOnce(g) {
			out = append(out, g)
		}
	}
	return out
}

// PassedOver returns the times in the Job's life in which its namespace was over its log budget. Pods may have come and
// gone then without a record.
func (c *Case) PassedOver() []history.Passed {
	return c.Passed.Touching(c.Job.Namespace, false, c.Start(), c.End())
}

// Complete reports whether each version of the Job and its pods that was seen has a record.
func (c *Case) Complete() bool { return c.Unrecorded.Versions == 0 && len(c.PassedOver()) == 0 }
