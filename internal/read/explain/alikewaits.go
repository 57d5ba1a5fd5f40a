package explain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/internal/say/words"
)

// waiting are the tries that do not run, in groups of those that wait for the same. The longest wait comes first, in a
// group and among them.
func (c *Case) waiting() (groups [][]*Try) {
	for _, t := range c.Tries {
		if t.over() || len(t.Waits) == 0 || t.Waits[len(t.Waits)-1].Until.Record != 0 {
			continue
		}
		i := slices.IndexFunc(groups, func(g []*Try) bool { return sameWait(g[0], t) })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], t)
	}
	longest := func(a, b *Try) int { return cmp.Compare(a.wait0().From.Record, b.wait0().From.Record) }
	for _, g := range groups {
		slices.SortStableFunc(g, longest)
	}
	slices.SortStableFunc(groups, func(a, b []*Try) int { return longest(a[0], b[0]) })
	return groups
}

// waitsOf says what pods that wait for the same wait for, and since when. Only: no others wait, so where the Job is
// stuck its verdict names them.
func (c *Case) waitsOf(g []*Try, only bool) []Sentence {
	w, last := g[0].wait0(), g[len(g)-1].wait0()
	from := append(cite(g, func(t *Try) Mark { return t.wait0().From }), marks(w.said())...)
	since := c.clock(w.From.At) + " (" + words.Span(c.end().Sub(w.From.At)) + ")"
	if last.From.At.Sub(w.From.At) >= waitTold {
		since, from = since+", the last since "+c.clock(last.From.At), append(from, last.From)
	}
	if u, is := parseUnschedulable(w.Message); is {
		before := fmt.Sprintf("%s: %s since %s%s: ", podsText(g), w.word(), since, whose(g))
		if only && len(u.parts) > 1 && whose(g) == "" && c.stuck(c.runningNow()) != nil {
			before = fmt.Sprintf("%s since %s: ", w.word(), c.clock(w.From.At))
		}
		return c.reasons(g[0], &u, w.said(), from, before)
	}
	return []Sentence{say(from, "%s: %s since %s%s%s%s", podsText(g), w.word(), since, c.unsaid(w), whose(g), colon(w.Message))}
}

// sameWait reports whether two tries wait for the same: for one reason, and with words that differ in counts and names
// of pods alone. One pod that lacks cpu and one that lacks a node of its zone do not, nor do two images.
func sameWait(a, b *Try) bool {
	x, y := a.wait0(), b.wait0()
	return x.Reason == y.Reason && slices.Equal(x.By, y.By) && (x.Message == y.Message || a.uncounted(x.Message) == b.uncounted(y.Message))
}

// aCount is a word that is a number, "0/186", or a duration: "40s", "1m20s".
var aCount = regexp.MustCompile(`^\d+(/\d+|(\.\d+)?([smh]|ms)(\d+[smh])*)?$`)

// uncounted is a message about a try without the try's own name, and without counts.
func (t *Try) uncounted(message string) string {
	all := strings.Fields(message)
	for i, word := range all {
		if strings.HasPrefix(word, "pod="+t.Pod+"_") { // a kubelet names the pod, its namespace and its UID
			word = "pod="
		}
		if aCount.MatchString(strings.TrimRight(word, ".,;:")) {
			word = "#"
		}
		all[i] = strings.ReplaceAll(word, t.Pod, "*")
	}
	return strings.Join(all, " ")
}

// whose names the pod of which a message about pods that wait for the same is, where those about the others are not the
// same to the letter.
func whose(g []*Try) string {
	for _, t := range g[1:] {
		if t.wait0().Message != g[0].wait0().Message {
			return "; of " + g[0].Pod
		}
	}
	return ""
}

// onOneNode are those of some tries that are on the node of the first.
func onOneNode(tries []*Try) (out []*Try) {
	for _, t := range tries {
		if t.Node == tries[0].Node {
			out = append(out, t)
		}
	}
	return out
}
