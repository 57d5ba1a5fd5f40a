package ending

import (
	"cmp"
	"context"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
)

// unwatchedEnds marks tries (pods) that may have succeeded while nobody watched (MaySucceed): they were gone
// afterwards, and the status counts more successes than were seen. For example, succeeded (the status) is 3, 2 pods
// were seen to succeed, and 2 pods vanished: each of the two may be the third success.
func unwatchedEnds(c *jobcase.Case, succeeded int) {
	seen := 0
	for _, t := range c.Tries {
		if t.Phase == events.PodSucceeded {
			seen++
		}
	}
	for _, t := range c.Tries {
		vanished := t.Gone.Record != 0 && t.Ended.Record == 0 && !t.Moved
		told := t.AskedSeen.Record != 0 || t.Deleted.Record != 0 || t.Disrupted != nil
		if vanished && !told && succeeded > seen && c.GapBefore(t, t.Gone) != nil {
			t.MaySucceed, t.Counted, t.CountAt, t.Failure = true, try.CountedUnknown, c.Conclusion(), 0
		}
	}
}

// Read reads the records of the Job with stream s up to point at, and decides what each try (pod) counts as. If the log
// is damaged, it returns the error, and if possible the case up to the damage.
func Read(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*jobcase.Case, error) {
	c, err := jobcase.Read(ctx, src, s, at)
	if c == nil {
		return nil, err
	}
	Heed(c)
	return c, cmp.Or(err, c.Unread())
}

// Heed corrects what each try (pod) counts as, so that it agrees with the final status of the Job. The records of the
// pods do not tell whether the status counts the pods that were stopped at the Job's end. If the status does not tell
// either, these tries become CountedUnknown.
func Heed(c *jobcase.Case) {
	if c.Folded == nil {
		return
	}
	for _, t := range c.Tries {
		if t.Counted == try.CountedSucceeded && outside(c, t.CountOf) {
			t.Counted, t.CountAt = try.CountedNot, explain.Mark{}
		}
	}
	if !c.Folded.Finished() || c.Truncated() || c.Damage != 0 {
		return
	}
	failed, succeeded := c.Folded.Base.Failed, c.Folded.Base.Succeeded
	// Count the succeeded indexes of an indexed Job by status.completedIndexes: status.succeeded may be too high,
	// because the API server refuses to lower it in some writes (J-236).
	if c.Folded.Indexed {
		succeeded = c.Folded.Base.Completed.Len()
	}
	unwatchedEnds(c, int(succeeded))
	// A pod that is deleted because its Job fails counts as a failure from then on, even if its containers then end
	// with success (J-022).
	stopped := func(t *try.Try) bool { return c.AfterVerdict(t) && c.Settled.Failure }
	agree(c, try.CountedFailed, int(failed), func(t *try.Try) bool {
		return t.Phase != events.PodSucceeded && !t.MaySucceed || stopped(t)
	})
	agree(c, try.CountedSucceeded, int(succeeded), func(t *try.Try) bool {
		return t.Phase == events.PodSucceeded && !Outside(c, t)
	})
	n := int32(0)
	for _, t := range byCount(c) {
		if t.Counted == try.CountedFailed {
			n++
			t.Failure = n
		}
	}
}

// Outside reports whether the Job no longer has the index of try t (a pod), because completions was lowered. Its
// success then no longer counts (J-037, J-076).
func Outside(c *jobcase.Case, t *try.Try) bool { return outside(c, t.Index) }

func outside(c *jobcase.Case, index int32) bool {
	return c.Folded != nil && c.Folded.Indexed && index >= c.Terms().Completions
}

// CompletionsSet returns the record of the last edit of spec.completions; none if it was never edited.
func CompletionsSet(c *jobcase.Case) explain.Mark {
	number := func(s *events.JobSpec) int32 { return jobcase.Number(s.Completions) }
	for _, e := range slices.Backward(c.Edits) {
		if number(e.Before) != number(e.After) {
			return e.At
		}
	}
	return explain.Mark{}
}

// byCount returns the tries (pods) in the order in which the Job's status counted them.
func byCount(c *jobcase.Case) []*try.Try {
	tries := slices.Clone(c.Tries)
	slices.SortStableFunc(tries, func(a, b *try.Try) int { return cmp.Compare(a.CountAt.Record, b.CountAt.Record) })
	return tries
}

// agree changes what tries (pods) count as, until the number of tries that count as `as` (succeeded or failed) is
// `want`. A try may become counted only if fits returns true for it. For example, with want 3, two counted failures,
// and one open try that fits, the open try becomes the third failure. If there are several ways to choose, the tries
// become CountedUnknown.
func agree(c *jobcase.Case, as try.Counted, want int, fits func(*try.Try) bool) {
	var have, late, open, early, left []*try.Try
	for _, t := range c.Tries {
		switch {
		case t.Counted == as:
			have = append(have, t)
			if c.AfterVerdict(t) {
				late = append(late, t)
			}
		case t.Counted != try.CountedNot || !t.Over() || !fits(t):
		case t.Moved || t.Uncounted.Record != 0:
			if t.Ended.Record != 0 {
				left = append(left, t)
			}
		default:
			open = append(open, t)
			if by := Of(c, t).By; !c.AfterVerdict(t) && by != try.ByUs && by != try.ByController && by != try.ByJobDeleted {
				// A pod that ended before the Job's end was decided, and that its controller did not delete, counted
				early = append(early, t)
			}
		}
	}
	over := c.Conclusion()
	// A status that counts more pods than have and open together counted some of the others before the Job lost them
	if want-len(have) > len(open) {
		open = append(open, left...)
	}
	switch {
	case want == len(have):
	case want < len(have) && len(have)-want == len(late):
		for _, t := range late {
			t.Counted, t.CountAt, t.Failure = try.CountedNot, explain.Mark{}, 0
		}
	case want == 0: // the status counts no pod in this way
		for _, t := range have {
			t.Counted, t.CountAt, t.Failure = try.CountedNot, explain.Mark{}, 0
		}
	case want < len(have):
		unsure(c, late)
	case want-len(have) == len(open), want-len(have) == len(early):
		if want-len(have) == len(early) {
			open = early
		}
		for _, t := range open {
			t.Counted, t.CountAt = as, over
		}
	default:
		unsure(c, open)
	}
}

func unsure(c *jobcase.Case, tries []*try.Try) {
	for _, t := range tries {
		t.Counted, t.CountAt, t.Failure = try.CountedUnknown, c.Conclusion(), 0
	}
}
