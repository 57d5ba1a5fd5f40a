package verdicts

import (
	"fmt"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/say/verdict"
	"github.com/jobledger/jobledger/internal/say/words"
)

// NumbersMarks returns the records of the values in Numbers, apart from the end of the last pod. For a deadline, this
// is the record of the Job's start.
func NumbersMarks(c *jobcase.Case, s *jobcase.Settling) []explain.Mark {
	if s == nil || s.Reason != "DeadlineExceeded" {
		return nil
	}
	return explain.Marks(c.StartSeen)
}

// Numbers says which numbers decided the Job's end: "7 failures > backoffLimit 6". s says when and why it was decided.
func Numbers(c *jobcase.Case, s *jobcase.Settling) string {
	spec := c.Spec
	switch {
	case s == nil:
		return words.Because(c.Job.Reason, c.Job.Message)
	case !c.Judged():
		return words.Because(s.Reason, s.Message)
	}
	if doubt := Doubt(c, s); doubt != "" {
		return fmt.Sprintf("its status says %s, but %s", words.Because(s.Reason, s.Message), doubt)
	}
	switch s.Reason {
	case "BackoffLimitExceeded":
		failed, limit := failedBy(c, s), jobcase.BackoffLimit(spec)
		if int64(failed) > int64(limit) {
			return fmt.Sprintf("%s > backoffLimit %d", words.Count(failed, "failure"), limit)
		}
		if n := restarted(c); spec.RestartPolicy == "OnFailure" && n >= int(limit) {
			return fmt.Sprintf("%s of containers ≥ backoffLimit %d (restartPolicy OnFailure)", words.Count(n, "restart"), limit)
		}
	case "DeadlineExceeded":
		if limit := spec.ActiveDeadlineSeconds; limit != nil && c.Folded.StartTime() != 0 {
			start := c.Folded.StartTime()
			return fmt.Sprintf("activeDeadlineSeconds %d passed at %s (started %s)", *limit,
				c.Clock(start.Add(explain.Seconds(*limit))), c.Clock(start))
		}
	case "MaxFailedIndexesExceeded":
		if spec.MaxFailedIndexes != nil {
			return fmt.Sprintf("%d failed indexes (%s) > maxFailedIndexes %d", c.Folded.FailedIndexes().Len(),
				c.Folded.FailedIndexes().Text(),
				*spec.MaxFailedIndexes)
		}
	case "FailedIndexes":
		return fmt.Sprintf("every index has ended; failed indexes: %s", c.Folded.FailedIndexes().Text())
	case "CompletionsReached":
		if c.Terms().WorkQueue {
			return fmt.Sprintf("a pod of the work queue succeeded, and no pod is active: %d succeeded",
				c.Folded.SucceededCount())
		}
		return fmt.Sprintf("%d of %d completions succeeded", c.Job.Counts.Succeeded, c.Terms().Completions)
	}
	return words.Because(s.Reason, s.Message)
}

// Doubt says how the Job's counts contradict the reason of its end. It is empty if they do not, or if our decision or
// our rules confirm the reason.
func Doubt(c *jobcase.Case, s *jobcase.Settling) string {
	if s.Decided.Record != 0 || s.Same {
		return ""
	}
	return verdict.Doubt(c.Folded)
}

// failedBy returns how many failures counted for the Job when its end was decided.
func failedBy(c *jobcase.Case, s *jobcase.Settling) int {
	most := int32(0)
	for _, t := range c.Tries {
		if t.Counted == try.CountedFailed && (s.Bound() == 0 || t.CountAt.Record <= s.Bound()) {
			most = max(most, t.Failure)
		}
	}
	return int(most)
}

// restarted returns how often containers of the Job's pods were restarted.
func restarted(c *jobcase.Case) (n int) {
	for _, t := range c.Tries {
		n += int(t.Restarts)
	}
	return n
}
