package stuck

import (
	"slices"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
)

// unwanted says why a Job never wanted a pod: it was suspended, or its parallelism was 0. It is empty for other Jobs.
func unwanted(c *jobcase.Case) (text string, from []explain.Mark) {
	switch {
	case c.Spec == nil || len(c.Tries) > 0:
		return "", nil
	case c.Spec.Suspend:
		return suspendedSince(c)
	case jobcase.Number(c.Spec.Parallelism) == 0:
		text, at := NoneSince(c)
		return text, explain.Marks(at)
	}
	return "", nil
}

// suspendedSince says since when the Job is suspended, and who suspended it. Of a Job that was created suspended, it
// only says that.
func suspendedSince(c *jobcase.Case) (text string, from []explain.Mark) {
	for _, e := range slices.Backward(c.Edits) {
		if e.After.Suspend && !e.Before.Suspend {
			return "it was suspended at " + c.Clock(e.At.At) + explain.ByWhomever(e.By) + " and not resumed", explain.Marks(e.At)
		}
	}
	if c.Begun != "" || c.Added.Record == 0 {
		return "it was suspended when it was first seen, and never resumed", explain.Marks(c.Added)
	}
	return "it was created suspended and never resumed", explain.Marks(c.Added)
}

// NoneSince says since when the parallelism of the Job is 0, and who set it, and returns the record that shows it.
func NoneSince(c *jobcase.Case) (text string, from explain.Mark) {
	for _, e := range slices.Backward(c.Edits) {
		if jobcase.Number(e.Before.Parallelism) != jobcase.Number(e.After.Parallelism) {
			return "its parallelism is 0 since " + c.Clock(e.At.At) + explain.ByWhomever(e.By), e.At
		}
	}
	if c.Created {
		return "its parallelism is 0 since its creation", c.Added
	}
	return "its parallelism is 0", c.Added
}
