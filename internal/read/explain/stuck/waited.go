package stuck

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/scheduler"
	"github.com/jobledger/jobledger/internal/read/explain/spent"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Waited says what the pods of an ended Job had waited for before they started. Pods with the same wait share one
// sentence, about the longest one. The true waits were a little longer, because a reason is recorded only after it has
// lasted for a while.
func Waited(c *jobcase.Case) []explain.Sentence {
	if !c.Over() {
		return nil
	}
	if c.Begun != "" && len(c.Tries) == 0 { // the Job had begun before its first record, and so had its waits
		return nil
	}
	if text, from := unwanted(c); text != "" {
		return []explain.Sentence{explain.Say(from, "no pod was wanted: %s", text)}
	}
	if out := spent.Unwanted(c); len(out) > 0 {
		return out
	}
	var out []explain.Sentence
	for i, g := range pastWaits(c) {
		longest := slices.MaxFunc(g, longer)
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
		if i == 0 {
			told = append(told, before(c, longest)...)
		}
		if i >= mostWaited {
			told = explain.Fewer(told, 0)
		}
		out = append(out, told...)
	}
	return out
}

// beforeTold is how long a pod must have existed before its wait was seen, so that an answer mentions this time.
const beforeTold = 2 * time.Second

// before says how long a pod had not run before its wait w was seen: a reason for waiting is recorded with a delay. Of
// a pod that ran, it also says that no record tells what ended the wait.
func before(c *jobcase.Case, w pastWait) []explain.Sentence {
	t, since := w.try, w.try.Seen
	if w.Reason != "Unschedulable" && w.Reason != "SchedulingGated" && t.Placed.Record != 0 {
		since = t.Placed
	}
	d := w.From.At.Sub(since.At)
	ran := w.Until.Record != 0 && t.Started.Record != 0
	text, from := "", explain.Marks(since, w.From)
	if d >= beforeTold && w.Waiting == &t.Waits[0] {
		text = fmt.Sprintf("it was seen from %s on; %s before that the pod did not run either", c.Clock(w.From.At), words.Span(d))
	}
	if ran {
		text, from = strings.TrimPrefix(text+"; what ended the wait is unknown", "; "), explain.Marks(since, w.From, w.Until)
	}
	if text == "" {
		return nil
	}
	return []explain.Sentence{explain.Say(from, "%s", text)}
}

// pastWaits returns the waits of the Job's pods that have ended, grouped by reason and message.
func pastWaits(c *jobcase.Case) (groups [][]pastWait) {
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
	return groups
}

// Delayed says, as a clause, what delayed a complete Job most: a wait of a pod before it ran, a refusal of its pods, or
// a time in which no pod came. It is empty if nothing delayed it.
func Delayed(c *jobcase.Case) (text explain.Passage, from []explain.Mark) {
	took := time.Duration(0)
	for _, g := range pastWaits(c) {
		w := slices.MaxFunc(g, longer)
		if d := w.took(); d > took {
			took, from = d, explain.Marks(w.From, w.until)
			text = explain.Phrase("%s waited for at least %s (%s)%s", ofJob(c), words.Span(d), w.Word(), theirWords(w.Message))
			from = append(from, explain.Marks(w.SaidBy())...)
		}
	}
	for _, x := range c.Refusals {
		d := x.Over.At.Sub(x.First.At)
		if x.Kind == events.CommandCreatePod && x.Over.Record != 0 && d >= time.Second && d > took {
			took, from = d, explain.Marks(x.First, x.Over)
			text = explain.Phrase("the API server refused its pods for %s (%s)%s", words.Span(d), x.Class, serverWords(x))
		}
	}
	for _, x := range c.Lacks() {
		if d := c.LackUntil(x).Sub(x.From.At); x.Until.Record != 0 && d >= time.Second && d > took {
			took, from = d, explain.Marks(x.From, x.Until)
			text = explain.Phrase("no pod came for %s, why is unknown", words.Span(d))
		}
	}
	return text, from
}

// ofJob returns "its pod" for a Job with one pod, otherwise "a pod".
func ofJob(c *jobcase.Case) string {
	if len(c.Tries) == 1 {
		return "its pod"
	}
	return "a pod"
}

func longer(a, b pastWait) int { return cmp.Compare(a.took(), b.took()) }

// mostWaited is how many waits an answer shows on a terminal.
const mostWaited = 3

// pastWait is a wait of a pod that has ended.
type pastWait struct {
	*try.Waiting
	try   *try.Try
	until explain.Mark
}

func (w *pastWait) took() time.Duration { return w.certainly().Sub(w.From.At) }

// certainly returns the time until which the pod certainly waited: when the end of the wait was seen, or earlier, if by
// its node's clock the pod ran before that.
func (w *pastWait) certainly() events.Time {
	if ran := w.try.Began(); ran != 0 {
		return min(w.until.At, ran)
	}
	return w.until.At
}

// asPast returns wait w of pod t with its end, and whether to report it. It does not report the backoff of a crashing
// container, which belongs to a failed pod.
func asPast(c *jobcase.Case, t *try.Try, w *try.Waiting) (pastWait, bool) {
	out := pastWait{Waiting: w, try: t, until: w.Until}
	if w.Until.Record == 0 { // the wait has no end in the records: it lasted until the Job ended or was deleted
		out.until = explain.Mark{At: c.End(), Record: c.Deletion().Record}
		if c.Finished() && c.Settled != nil {
			out.until.Record = c.Settled.StoredBy().Record
		}
	}
	// If the Job's deadline passed, the verdict has the wait up to the deadline: count only to there.
	if m := c.PassedAt(); m.Record > w.From.Record && out.until.Record > m.Record {
		out.until = m
	}
	// If the Job was deleted before its end, the verdict has the wait up to the deletion: count only to there.
	if m := c.Deletion(); !c.Finished() && m.Record > w.From.Record && out.until.Record >= m.Record {
		out.until = m
	}
	switch stuck := try.StuckWords[w.Reason]; {
	// What the kubelet reports after the pod's deletion was requested is not a wait.
	case out.took() <= 0, t.AskedSeen.Record != 0 && w.From.Record >= t.AskedSeen.Record:
		return out, false
	case t.Started.Record == 0:
		return out, stuck || out.certainly().Sub(t.Seen.At) >= try.WaitTold
	default:
		return out, stuck && out.until.Record <= t.Started.Record
	}
}
