package explain

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// failedTries returns the tries that did not succeed and that the Job's own end did not end, in the order of their
// ends.
func (c *Case) failedTries() []*Try {
	var out []*Try
	for _, t := range c.Tries {
		if t.failed() && !c.stopped(t) {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *Try) int { return cmp.Compare(a.end().Record, b.end().Record) })
	return out
}

// stopped reports whether the try ended because the Job no longer wanted it, and not by a failure.
func (c *Case) stopped(t *Try) bool {
	switch c.ending(t).By {
	case ByUs, ByController, ByJobDeleted, ByNamespace, ByNothing:
		return true
	}
	return false
}

// first names the first cause: the first try that failed, and how.
func (c *Case) first() []Sentence {
	failed := c.failedTries()
	for _, t := range c.Tries {
		if t.Crashed != nil && (len(failed) == 0 || t.CrashedAt.Record < failed[0].end().Record) {
			return c.crashed(t)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	t := failed[0]
	cited := marks(t.end(), t.shown())
	if e := c.ending(t); e.By == ByKubelet || e.By == ByDeadline { // the message names its node, or its template
		for _, m := range e.Marks {
			if !slices.Contains(cited, m) {
				cited = append(cited, m)
			}
		}
	}
	out := []Sentence{say(cited, "%s: %s, %s%s", c.endText(t), tryText(t), t.Pod, on(t.Node))}
	for _, k := range failures(t.Containers) {
		if spoke(&k) {
			out = append(out, say(marks(t.end(), t.shown()), "%s", wrote(k.Name, &k)))
			break
		}
	}
	if e := c.ending(t); e.By == BySignal {
		out = append(out, say(marks(t.end(), t.shown()), "%s", killedText))
	} else if e.By == ByEviction && e.Then != "" {
		out = append(out, say(e.Marks, "%s", e.Then))
	}
	out = append(out, c.laterWords(failed)...)
	if e := t.ended0(); e != nil && len(failures(t.Containers)) > 0 {
		out = append(out, say(marks(t.end(), t.shown()), "%s itself ended with 0%s", e.Name, c.atClock(e.Finished)))
	}
	return append(out, c.heldBack()...)
}

// laterWords quotes the newest try that failed by itself, if it ended in another way than the first one, or if the
// first wrote nothing.
func (c *Case) laterWords(failed []*Try) []Sentence {
	silent := !slices.ContainsFunc(failures(failed[0].Containers), func(k events.ContainerEnd) bool { return spoke(&k) })
	for _, t := range slices.Backward(failed[1:]) {
		how := c.howEnded(t)
		if !silent && how == c.howEnded(failed[0]) || c.ending(t).By != ByItself {
			continue
		}
		for _, k := range failures(t.Containers) {
			if spoke(&k) {
				return []Sentence{say(marks(t.end(), t.shown()), "%s, %s: %s", tryText(t), how, wrote(k.Name, &k))}
			}
		}
	}
	return nil
}

// killedText explains an exit code 137 without a known cause.
const killedText = "137 is what SIGKILL leaves: who sent it, and why, is unknown, as its node does not say so"

// crashed says how the restarted containers of a try had ended.
func (c *Case) crashed(t *Try) []Sentence {
	var parts []string
	for _, k := range t.Crashed {
		text := exitOf(&k)
		if k.Started != 0 && k.Finished >= k.Started {
			text += " after " + words.Span(k.Finished.Sub(k.Started))
		}
		parts = append(parts, text)
	}
	n := "once"
	if again := t.restarts(); again > 1 {
		n = fmt.Sprintf("%d times", again)
	} else if again == 0 {
		n = "not yet"
	}
	out := []Sentence{say(marks(t.CrashedAt, t.Newest), "%s, restarted %s: %s, %s%s", strings.Join(parts, ", "), n, tryText(t), t.Pod, on(t.Node))}
	for _, k := range t.Crashed {
		if spoke(&k) {
			out = append(out, say(marks(t.CrashedAt), "%s", wrote(k.Name, &k)))
			break
		}
	}
	return out
}

// endText says how a try ended: "main exit 3 after 2s".
func (c *Case) endText(t *Try) string {
	e := c.ending(t)
	text := e.Why
	switch e.By {
	case ByClient:
		if text = "deleted by an API client"; t.forced {
			text += ", by force,"
		}
	case ByEviction:
		text = "evicted through the eviction API"
	case ByPreemption:
		text = "preempted by a pod of higher priority"
	case ByTaint:
		text = "deleted for a NoExecute taint of its node"
	case ByDevice:
		text = "deleted for a taint of a device"
	case ByOther:
		text = "disrupted: " + e.Why
	case ByNodeGone:
		text = "its node is gone (pod garbage collection)"
	case ByKubelet:
		text = "ended by its node: " + strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(e.Why), "."), "Pod was terminated in response to ")
	case ByItself, BySignal, ByOwnLimit, ByDeadline, ByUnknown: // the records have the details
	case ByNobody, ByUs, ByController, ByJobDeleted, ByNamespace, ByNothing: // not a failure of the try
	}
	if d, known, most := t.ran(); known {
		after := " after "
		if most {
			after = ", after at most "
		}
		text += after + words.Span(d)
	}
	return text
}

// alike says what the failed tries have in common, which values differ, and which causes the log cannot tell apart:
// "main exit 3, after 2s in 4 of 4. Different: nodes: node-0 2, node-1 2. Not told apart: program and its input".
func (c *Case) alike() []Sentence {
	failed := c.failedTries()
	if len(failed) < 2 {
		return nil
	}
	var same, differ []string
	say1 := func(what string, values map[string]int) (string, bool) {
		for v, n := range values {
			if n == len(failed) {
				same = append(same, v)
				return v, true
			}
		}
		differ = append(differ, what+": "+shares(values, len(failed)))
		return "", false
	}
	how, nodes := map[string]int{}, map[string]int{}
	for _, t := range failed {
		how[c.howEnded(t)]++
		if t.Node != "" {
			nodes[t.Node]++
		}
	}
	_, sameHow := say1("ends", how)
	if lo, hi, known := spans(failed); known {
		about, alike := words.Alike(lo, hi)
		switch {
		case words.Span(lo) == words.Span(hi):
			same = append(same, "after "+words.Span(lo))
		case alike:
			same = append(same, "after about "+words.Span(about))
		case hi-lo <= max(hi/10, time.Second):
			same = append(same, fmt.Sprintf("after %s to %s", words.Span(lo), words.Span(hi)))
		default:
			differ = append(differ, fmt.Sprintf("ran %s to %s", words.Span(lo), words.Span(hi)))
		}
	}
	node, sameNode := "", false
	if len(nodes) > 0 {
		node, sameNode = say1("nodes", nodes)
	}
	var parts []string
	if len(same) > 0 {
		parts = append(parts, fmt.Sprintf("%s in %d of %d", strings.Join(same, ", "), len(failed), len(failed)))
	}
	if len(differ) > 0 {
		parts = append(parts, "Different: "+strings.Join(differ, "; "))
	}
	out := []Sentence{say(append(cite(failed, (*Try).end), cite(failed, (*Try).shown)...), "%s", strings.Join(parts, ". "))}
	if sameHow && c.ending(failed[0]).By.own() {
		apart := "program and its input"
		if sameNode {
			apart = "program, its input, " + node
		}
		out[0].Text += ". Not told apart: " + apart
	}
	return out
}

// howEnded returns how a try ended, without its time.
func (c *Case) howEnded(t *Try) string {
	if e := c.ending(t); !e.By.own() {
		return string(e.By)
	}
	return exitText(t)
}

// spans returns the shortest and the longest running time of tries; known is false if one of them is unknown.
func spans(tries []*Try) (lo, hi time.Duration, known bool) {
	for _, t := range tries {
		d, ok, most := t.ran()
		if !ok || most {
			return 0, 0, false
		}
		if !known || d < lo {
			lo = d
		}
		hi, known = max(hi, d), true
	}
	return lo, hi, known
}

// shares counts how often each value occurs, the most frequent first: "node-0 2, node-1 1".
func shares(values map[string]int, of int) string {
	var keys []string
	counted := 0
	for v, n := range values {
		keys = append(keys, v)
		counted += n
	}
	sort.Slice(keys, func(a, b int) bool {
		if values[keys[a]] != values[keys[b]] {
			return values[keys[a]] > values[keys[b]]
		}
		return keys[a] < keys[b]
	})
	var parts []string
	for i, v := range keys {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("%d others", len(keys)-3))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %d", v, values[v]))
	}
	if counted < of {
		parts = append(parts, fmt.Sprintf("unknown %d", of-counted))
	}
	return strings.Join(parts, ", ")
}
