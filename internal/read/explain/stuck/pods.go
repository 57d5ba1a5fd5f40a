package stuck

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/scheduler"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Waiting groups the tries (pods) that do not run by what they wait for. The longest wait comes first, among the groups
// and within a group.
func Waiting(c *jobcase.Case) (groups [][]*try.Try) {
	for _, t := range c.Tries {
		if t.Over() || len(t.Waits) == 0 || t.Waits[len(t.Waits)-1].Until.Record != 0 {
			continue
		}
		i := slices.IndexFunc(groups, func(g []*try.Try) bool { return sameWait(g[0], t) })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], t)
	}
	longest := func(a, b *try.Try) int { return cmp.Compare(a.LastWait().From.Record, b.LastWait().From.Record) }
	for _, g := range groups {
		slices.SortStableFunc(g, longest)
	}
	slices.SortStableFunc(groups, func(a, b []*try.Try) int { return longest(a[0], b[0]) })
	return groups
}

// waitsOf says what the pods of group g wait for, and since when. only is set if there is no other group: the verdict
// then names the pods, so the sentence does not.
func waitsOf(c *jobcase.Case, g []*try.Try, only bool) []explain.Sentence {
	w, last := g[0].LastWait(), g[len(g)-1].LastWait()
	from := append(try.Cite(g, func(t *try.Try) explain.Mark { return t.LastWait().From }), explain.Marks(w.SaidBy())...)
	since := c.Clock(w.From.At) + " (" + words.Span(c.End().Sub(w.From.At)) + ")"
	if last.From.At.Sub(w.From.At) >= try.WaitTold {
		since, from = since+", the last since "+c.Clock(last.From.At), append(from, last.From)
	}
	if u, is := scheduler.Parse(w.Message); is {
		before := fmt.Sprintf("%s: %s since %s%s: ", try.PodsText(g), w.Word(), since, whose(g))
		if only && len(u.Parts) > 1 && whose(g) == "" && Find(c, RunningNow(c)) != nil {
			before = fmt.Sprintf("%s since %s: ", w.Word(), c.Clock(w.From.At))
		}
		return scheduler.Reasons(c, g[0], &u, w.SaidBy(), from, before)
	}
	return []explain.Sentence{explain.Say(from, "%s: %s since %s%s%s%s", try.PodsText(g), w.Word(), since, unsaid(c, w),
		whose(g), explain.Colon(w.Message))}
}

// sameWait reports whether two pods wait for the same reason, with messages that differ only in numbers and pod names.
// Different resources, zones or images are different waits.
func sameWait(a, b *try.Try) bool {
	x, y := a.LastWait(), b.LastWait()
	return x.Reason == y.Reason && slices.Equal(x.By, y.By) && (x.Message == y.Message || uncounted(a,
		x.Message) == uncounted(b, y.Message))
}

// aCount matches a word that is a number, a fraction such as "0/186", or a duration such as "40s" or "1m20s".
var aCount = regexp.MustCompile(`^\d+(/\d+|(\.\d+)?([smh]|ms)(\d+[smh])*)?$`)

// uncounted returns a message about pod t without the pod's name and without numbers, for comparison.
func uncounted(t *try.Try, message string) string {
	all := strings.Fields(message)
	for i, word := range all {
		if strings.HasPrefix(word, "pod="+t.Pod+"_") { // a kubelet writes the pod's name, namespace and UID in this way
			word = "pod="
		}
		if aCount.MatchString(strings.TrimRight(word, ".,;:")) {
			word = "#"
		}
		all[i] = strings.ReplaceAll(word, t.Pod, "*")
	}
	return strings.Join(all, " ")
}

// whose names the pod that a quoted message is about, if the pods of group g have different messages; empty otherwise.
func whose(g []*try.Try) string {
	for _, t := range g[1:] {
		if t.LastWait().Message != g[0].LastWait().Message {
			return "; of " + g[0].Pod
		}
	}
	return ""
}

// onOneNode returns those of the tries (pods) that are on the same node as the first.
func onOneNode(tries []*try.Try) (out []*try.Try) {
	for _, t := range tries {
		if t.Node == tries[0].Node {
			out = append(out, t)
		}
	}
	return out
}
