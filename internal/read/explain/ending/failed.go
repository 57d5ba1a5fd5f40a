package ending

import (
	"cmp"
	"slices"

	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// FailedTries returns the tries (pods) that ended without success, ordered by their ends. It leaves out those that were
// stopped because the Job had ended.
func FailedTries(c *jobcase.Case) []*try.Try {
	var out []*try.Try
	for _, t := range c.Tries {
		if t.Failed() && !Stopped(c, t) {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *try.Try) int { return cmp.Compare(a.End().Record, b.End().Record) })
	return out
}

// Stopped reports whether try t (a pod) ended because the Job did not want it any more, and not by a failure.
func Stopped(c *jobcase.Case, t *try.Try) bool {
	switch Of(c, t).By {
	case try.ByUs, try.ByController, try.ByJobDeleted, try.ByNamespace, try.ByNothing:
		return true
	}
	return false
}
