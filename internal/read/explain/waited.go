package explain

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/internal/say/words"
)

// waitTold is the minimum length of a wait that is reported for a reason that usually passes by itself, such as
// ContainerCreating.
const waitTold = 5 * time.Second

// waited says what the pods of a finished Job had waited for before they started. Pods with the same wait share one
// sentence, about the longest of them. Each real wait was longer than reported: a pod's reason is recorded only after
// it has lasted for a while.
func (c *Case) waited() []Sentence {
	if !c.over() {
		return nil
	}
	if c.begun != "" && len(c.Tries) == 0 { // what it had waited for was not seen
		return nil
	}
	if len(c.Tries) == 0 && c.Spec != nil && c.Spec.Suspend {
		from, made := c.suspendedFrom(), ""
		if from == c.added && c.begun == "" {
			made = "created "
		}
		return []Sentence{say(marks(from), "no pod was wanted: the Job was %ssuspended", made)}
	}
	if c.noPodWanted() {
		return []Sentence{say(marks(c.parallelismSet()), "no pod was wanted: parallelism is 0")}
	}
	if out := c.unwanted(); len(out) > 0 {
		return out
	}
	var groups [][]pastWait
	for _, t := range c.Tries {
		for i := range t.Waits {
			w, told := c.pastWait(t, &t.Waits[i])
			if !told {
				continue
			}
			g := slices.IndexFunc(groups, func(g []pastWait) bool { return g[0].Reason == w.Reason && g[0].Message == w.Message })
			if g < 0 {
				g, groups = len(groups), append(groups, nil)
			}
			groups[g] = append(groups[g], w)
		}
	}
	var out []Sentence
	for i, g := range groups {
		longest := slices.MaxFunc(g, func(a, b pastWait) int { return cmp.Compare(a.took(), b.took()) })
		who := longest.try.Pod
		if len(g) > 1 {
			who += fmt.Sprintf(" and %s", words.Count(len(g)-1, "other pod"))
		}
		from := marks(longest.From, longest.said(), longest.until)
		text := fmt.Sprintf("%s waited for at least %s: %s", who, words.Span(longest.took()), longest.word())
		told := []Sentence{say(from, "%s%s", text, colon(longest.Message))}
		if u, is := parseUnschedulable(longest.Message); is {
			told = c.reasons(longest.try, &u, longest.said(), from, text+": ")
		}
		if i >= mostWaited {
			told = fewer(told, 0)
		}
		out = append(out, told...)
	}
	return out
}

// mostWaited is the number of waits that an answer shows on a terminal.
const mostWaited = 3

// pastWait is a wait that is over.
type pastWait struct {
	*Waiting
	try   *Try
	until Mark
}

func (w *pastWait) took() time.Duration { return w.until.At.Sub(w.From.At) }

// pastWait returns the wait w as over, and whether it is worth reporting. The backoff of a crashing container is not:
// it is reported as a failed try.
func (c *Case) pastWait(t *Try, w *Waiting) (pastWait, bool) {
	out := pastWait{Waiting: w, try: t, until: w.Until}
	if w.Until.Record == 0 { // it waited to the end
		out.until = Mark{At: c.end(), Record: c.deletion().Record}
		if c.finished() && c.settled != nil {
			out.until.Record = c.settled.stored().Record
		}
	}
	// The verdict covers the wait up to the deadline.
	if m := c.passedAt(); m.Record > w.From.Record && out.until.Record > m.Record {
		out.until = m
	}
	switch stuck := slices.Contains(stuckWords, w.Reason); {
	// After a deletion a kubelet cleans up.
	case out.took() <= 0, t.AskedSeen.Record != 0 && w.From.Record >= t.AskedSeen.Record:
		return out, false
	case t.Started.Record == 0:
		return out, stuck || out.until.At.Sub(t.Seen.At) >= waitTold
	default:
		return out, stuck && out.until.Record <= t.Started.Record
	}
}

// noPodWanted reports whether the Job had no pod because its parallelism is 0.
func (c *Case) noPodWanted() bool {
	return c.Spec != nil && number(c.Spec.Parallelism) == 0 && len(c.Tries) == 0 && !c.Spec.Suspend
}

// suspendedFrom returns the record that suspended the Job.
func (c *Case) suspendedFrom() Mark {
	for _, e := range slices.Backward(c.edits) {
		if e.After.Suspend && !e.Before.Suspend {
			return e.At
		}
	}
	return c.added
}

// parallelismSet returns the record that set the current parallelism.
func (c *Case) parallelismSet() Mark {
	for _, e := range slices.Backward(c.edits) {
		if number(e.Before.Parallelism) != number(e.After.Parallelism) {
			return e.At
		}
	}
	return c.added
}
