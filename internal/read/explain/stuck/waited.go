package stuck

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/scheduler"
	"github.com/jobledger/jobledger/internal/read/explain/spent"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Waited says what the pods of a finished Job had waited for before they started. Pods with the same wait share one
// sentence, about the longest of them. Each real wait was longer than reported: a pod's reason is recorded only after
// it has lasted for a while.
func Waited(c *jobcase.Case) []explain.Sentence {
	if !c.Over() {
		return nil
	}
	if c.Begun != "" && len(c.Tries) == 0 { // what it had waited for was not seen
		return nil
	}
	if len(c.Tries) == 0 && c.Spec != nil && c.Spec.Suspend {
		from, made := suspendedFrom(c), ""
		if from == c.Added && c.Begun == "" {
			made = "created "
		}
		return []explain.Sentence{explain.Say(explain.Marks(from), "no pod was wanted: the Job was %ssuspended", made)}
	}
	if noPodWanted(c) {
		return []explain.Sentence{explain.Say(explain.Marks(c.ParallelismSet()), "no pod was wanted: parallelism is 0")}
	}
	if out := spent.Unwanted(c); len(out) > 0 {
		return out
	}
	var groups [][]pastWait
	for _, t := range c.Tries {
		for i := range t.Waits {
			w, told := asPast(c, t, &t.Waits[i])
			if !told {
				continue
			}
			g := slices.IndexFunc(groups, func(g []pastWait) bool {
				return g[0].Reason == w.Reason &&
					g[0].Message == w.Message
			})
			if g < 0 {
				g, groups = len(groups), append(groups, nil)
			}
			groups[g] = append(groups[g], w)
		}
	}
	var out []explain.Sentence
	for i, g := range groups {
		longest := slices.MaxFunc(g, func(a, b pastWait) int { return cmp.Compare(a.took(), b.took()) })
		who := longest.try.Pod
		if len(g) > 1 {
			who += fmt.Sprintf(" and %s", words.Count(len(g)-1, "other pod"))
		}
		from := explain.Marks(longest.From, longest.SaidBy(), longest.until)
		text := fmt.Sprintf("%s waited for at least %s: %s", who, words.Span(longest.took()), longest.Word())
		told := []explain.Sentence{explain.Say(from, "%s%s", text, explain.Colon(longest.Message))}
		if u, is := scheduler.Parse(longest.Message); is {
			told = scheduler.Reasons(c, longest.try, &u, longest.SaidBy(), from, text+": ")
		}
		if i >= mostWaited {
			told = explain.Fewer(told, 0)
		}
		out = append(out, told...)
	}
	return out
}

// mostWaited is the number of waits that an answer shows on a terminal.
const mostWaited = 3

// pastWait is a wait that is over.
type pastWait struct {
	*try.Waiting
	try   *try.Try
	until explain.Mark
}

func (w *pastWait) took() time.Duration { return w.until.At.Sub(w.From.At) }

// asPast returns the wait w as over, and whether it is worth reporting. The backoff of a crashing container is not:
// it is reported as a failed try.
func asPast(c *jobcase.Case, t *try.Try, w *try.Waiting) (pastWait, bool) {
	out := pastWait{Waiting: w, try: t, until: w.Until}
	if w.Until.Record == 0 { // it waited to the end
		out.until = explain.Mark{At: c.End(), Record: c.Deletion().Record}
		if c.Finished() && c.Settled != nil {
			out.until.Record = c.Settled.StoredBy().Record
		}
	}
	// The verdict covers the wait up to the deadline.
	if m := c.PassedAt(); m.Record > w.From.Record && out.until.Record > m.Record {
		out.until = m
	}
	switch stuck := slices.Contains(try.StuckWords, w.Reason); {
	// After a deletion a kubelet cleans up.
	case out.took() <= 0, t.AskedSeen.Record != 0 && w.From.Record >= t.AskedSeen.Record:
		return out, false
	case t.Started.Record == 0:
		return out, stuck || out.until.At.Sub(t.Seen.At) >= try.WaitTold
	default:
		return out, stuck && out.until.Record <= t.Started.Record
	}
}

// noPodWanted reports whether the Job had no pod because its parallelism is 0.
func noPodWanted(c *jobcase.Case) bool {
	return c.Spec != nil && jobcase.Number(c.Spec.Parallelism) == 0 && len(c.Tries) == 0 && !c.Spec.Suspend
}

// suspendedFrom returns the record that suspended the Job.
func suspendedFrom(c *jobcase.Case) explain.Mark {
	for _, e := range slices.Backward(c.Edits) {
		if e.After.Suspend && !e.Before.Suspend {
			return e.At
		}
	}
	return c.Added
}
