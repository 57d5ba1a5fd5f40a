package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/verdict"
	"github.com/jobledger/jobledger/internal/say/words"
)

// why says what settled the Job's end, with the numbers that were compared.
func (c *JobCase) why() []Sentence {
	s := c.settled
	if s == nil {
		return nil
	}
	var out []Sentence
	text := c.numbers(s)
	if t := c.settledBy(); t != nil && !t.maySucceed {
		text += " (the last: " + t.Pod
		if limit := t.ownLimit(); limit != "" && len(c.Tries) > 1 {
			text += ": " + limit
		}
		text += ")"
	}
	switch {
	case s.Decided.Record != 0:
		text += fmt.Sprintf("; rule %s", s.Rule)
		if s.Stored.At > s.Decided.At {
			text += fmt.Sprintf(", stored %s later", words.Span(s.Stored.At.Sub(s.Decided.At)))
		}
	default:
		text += "; " + c.statusSays(s)
	}
	from := slices.Concat(c.trigger(s), c.numbersMarks(s))
	out = append(out, say(marks(append(from, s.Decided, s.Stored)...), "%s", text))
	if s.Decided.Record == 0 && !s.Same && c.unexplained.Record != 0 {
		out = append(out, say(marks(c.unexplained), "nothing that was seen of it says so"))
	}
	if s.Message != "" {
		out = append(out, detail(say(marks(s.stored()), "its condition says: %s: %s", s.Reason, s.Message)))
	}
	return out
}

// stored returns the record that shows the verdict as stored.
func (s *settling) stored() Mark {
	return cmp.Or(s.Stored, s.Seen, s.Decided)
}

// controller names the controller of a Job that is not ours.
func (c *Case) controller() string {
	switch by := c.Job.ManagedBy; by {
	case "", events.BuiltinManagedBy:
		return "the built-in controller"
	default:
		return by
	}
}

// trigger returns the observation that led to the decision, most often the end of a try.
func (c *Case) trigger(s *settling) []Mark {
	if s.Same {
		return marks(s.Evidence)
	}
	var last *Try
	for _, t := range c.Tries {
		at := t.end()
		if s.Decided.Record != 0 && !slices.Contains(s.Causes, at.Record) {
			continue
		}
		if at.Record != 0 && (s.bound() == 0 || at.Record <= s.bound()) && (last == nil || at.Record > last.end().Record) {
			last = t
		}
	}
	if last == nil || (s.Decided.Record == 0 && s.Reason == "DeadlineExceeded") {
		return nil
	}
	return marks(last.end())
}

// bound returns the record by which the end was settled.
func (s *settling) bound() events.Sequence {
	if s.Decided.Record != 0 {
		return s.Decided.Record
	}
	return s.Seen.Record
}

// numbersMarks returns the records of the values in numbers, except the end of the last try: for a deadline, the Job's
// start.
func (c *Case) numbersMarks(s *settling) []Mark {
	if s == nil || s.Reason != "DeadlineExceeded" {
		return nil
	}
	return marks(c.startSeen)
}

// numbers says what was compared: "7 failures > backoffLimit 6".
func (c *Case) numbers(s *settling) string {
	spec := c.Spec
	switch {
	case s == nil:
		return words.Because(c.Job.Reason, c.Job.Message)
	case spec == nil:
		return words.Because(s.Reason, s.Message)
	}
	if doubt := c.doubt(s); doubt != "" {
		return fmt.Sprintf("its status says %s, but %s", words.Because(s.Reason, s.Message), doubt)
	}
	switch s.Reason {
	case "BackoffLimitExceeded":
		failed, limit := c.failedBy(s), backoffLimit(spec)
		if int64(failed) > int64(limit) {
			return fmt.Sprintf("%s > backoffLimit %d", words.Count(failed, "failure"), limit)
		}
		if n := c.restarted(); spec.RestartPolicy == "OnFailure" && n >= int(limit) {
			return fmt.Sprintf("%s of containers ≥ backoffLimit %d (restartPolicy OnFailure)", words.Count(n, "restart"), limit)
		}
	case "DeadlineExceeded":
		if limit := spec.ActiveDeadlineSeconds; limit != nil && c.folded.StartTime() != 0 {
			start := c.folded.StartTime()
			return fmt.Sprintf("activeDeadlineSeconds %d passed at %s (started %s)", *limit,
				c.clock(start.Add(seconds(*limit))), c.clock(start))
		}
	case "MaxFailedIndexesExceeded":
		if spec.MaxFailedIndexes != nil {
			return fmt.Sprintf("%d failed indexes (%s) > maxFailedIndexes %d", c.folded.FailedIndexes().Len(), c.folded.FailedIndexes().Text(),
				*spec.MaxFailedIndexes)
		}
	case "FailedIndexes":
		return fmt.Sprintf("every index has ended; failed indexes: %s", c.folded.FailedIndexes().Text())
	case "CompletionsReached":
		if c.folded.WorkQueue {
			return fmt.Sprintf("a pod of the work queue succeeded, and no pod is active: %d succeeded", c.folded.SucceededCount())
		}
		return fmt.Sprintf("%d of %d completions succeeded", c.folded.SucceededCount(), c.folded.Completions)
	}
	return words.Because(s.Reason, s.Message)
}

// doubt says how the Job's counts contradict a reason that only the status gives; empty for no contradiction.
func (c *Case) doubt(s *settling) string {
	if s.Decided.Record != 0 || s.Same {
		return ""
	}
	return verdict.Doubt(c.folded)
}

func backoffLimit(spec *events.JobSpec) int32 {
	if spec.BackoffLimit == nil {
		return 6 // the API's default
	}
	return *spec.BackoffLimit
}

// failedBy returns the number of counted failures when the end was settled.
func (c *Case) failedBy(s *settling) int {
	most := int32(0)
	for _, t := range c.Tries {
		if t.Counted == CountedFailed && (s.bound() == 0 || t.CountAt.Record <= s.bound()) {
			most = max(most, t.Failure)
		}
	}
	return int(most)
}

// restarted returns how often containers of its pods were restarted.
func (c *Case) restarted() (n int) {
	for _, t := range c.Tries {
		n += int(t.Restarts)
	}
	return n
}

// tryText names a try for people: "try 2 of index 7".
func tryText(t *Try) string {
	text := "try " + strconv.Itoa(t.Number)
	if t.Index != events.NoIndex {
		text += fmt.Sprintf(" of index %d", t.Index)
	}
	return text
}
