package explain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/internal/say/words"
)

// waiting groups the tries that do not run by what they wait for. Groups, and tries within a group, are sorted by the
// length of the wait, the longest first.
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

// waitsOf says what the pods of a group wait for, and since when. With only set, no other group exists: a stuck Job's
// verdict then names the pods already, so the sentence does not.
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

// sameWait reports whether two tries wait for the same reason, with messages that differ only in counts and the pods'
// names. A pod that lacks cpu and a pod that lacks a node of its zone differ, and so do pods with different images.
func sameWait(a, b *Try) bool {
	x, y := a.wait0(), b.wait0()
	return x.Reason == y.Reason && slices.Equal(x.By, y.By) && (x.Message == y.Message || a.uncounted(x.Message) == b.uncounted(y.Message))
}

// aCount matches a word that is a number, a fraction "0/186", or a duration "40s" or "1m20s".
var aCount = regexp.MustCompile(`^\d+(/\d+|(\.\d+)?([smh]|ms)(\d+[smh])*)?$`)

// uncounted returns a message about a try without the try's name and without counts.
func (t *Try) uncounted(message string) string {
	all := strings.Fields(message)
	for i, word := range all {
		if strings.HasPrefix(word, "pod="+t.Pod+"_") { // a kubelet writes the pod's name, namespace and UID here
			word = "pod="
		}
		if aCount.MatchString(strings.TrimRight(word, ".,;:")) {
			word = "#"
		}
		all[i] = strings.ReplaceAll(word, t.Pod, "*")
	}
	return strings.Join(all, " ")
}

// whose names the pod that the message belongs to, if the messages of the group are not identical.
func whose(g []*Try) string {
	for _, t := range g[1:] {
		if t.wait0().Message != g[0].wait0().Message {
			return "; of " + g[0].Pod
		}
	}
	return ""
}

// onOneNode returns the tries that are on the node of the first one.
func onOneNode(tries []*Try) (out []*Try) {
	for _, t := range tries {
		if t.Node == tries[0].Node {
			out = append(out, t)
		}
	}
	return out
}
