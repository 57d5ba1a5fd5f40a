package ending

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// reasonWords says why we deleted a pod.
func reasonWords(r events.Reason) string {
	switch r {
	case "JobFailing":
		return "the Job fails, so its pods are deleted"
	case "JobSuspended":
		return "the Job was suspended"
	case "FewerPodsWanted":
		return "fewer pods were wanted"
	case "DuplicateIndex":
		return "another pod had its index"
	case "JobSucceeded":
		return "the Job had succeeded without it"
	case "FinalizerGone":
		return "it was one too many"
	}
	return string(r)
}

// indexWhy says why a pod was one too many for its index: the Job does not need the index, or another pod has it.
func indexWhy(c *jobcase.Case, t *try.Try) string {
	if s := c.SpecAt(t.Deleted); s != nil && s.Completions != nil && t.Index >= *s.Completions {
		return fmt.Sprintf("completions is %d by then, so its index is none of the Job's", *s.Completions)
	}
	for _, x := range c.Tries {
		if x != t && x.Index == t.Index && x.Seen.Record != 0 && x.Seen.Record < t.Deleted.Record {
			over := x.Over() && x.End().Record < t.Deleted.Record
			if !over || x.Phase == events.PodSucceeded {
				return reasonWords("DuplicateIndex")
			}
		}
	}
	return "its index needed no pod"
}
