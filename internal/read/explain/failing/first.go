package failing

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/spent"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/say/words"
)

// First describes the first try (pod) of the Job that failed, and how it ended. verdict is the verdict of the answer:
// First does not quote a kubelet's message that the verdict has already.
func First(c *jobcase.Case, verdict string) []explain.Sentence {
	failed := ending.FailedTries(c)
	for _, t := range c.Tries {
		if t.Crashed != nil && (len(failed) == 0 || t.CrashedAt.Record < failed[0].End().Record) {
			return crashed(c, t)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	t := failed[0]
	cited := explain.Marks(t.End(), t.ShownBy())
	if e := ending.Of(c, t); e.By == try.ByKubelet ||
		e.By == try.ByDeadline { // its text names the node or the template: cite its records
		for _, m := range e.Marks {
			if !slices.Contains(cited, m) {
				cited = append(cited, m)
			}
		}
	}
	out := []explain.Sentence{explain.Say(cited, "%s: %s, %s%s", endText(c, t, verdict), try.TryText(t), t.Pod, try.On(t.Node))}
	for _, k := range try.Failures(t.Containers) {
		if explain.Spoke(&k) {
			out = append(out, explain.Say(explain.Marks(t.End(), t.ShownBy()), "%s", explain.Wrote(k.Name, &k)))
			break
		}
	}
	if e := ending.Of(c, t); e.By == try.BySignal {
		out = append(out, explain.Say(explain.Marks(t.End(), t.ShownBy()), "%s", killedText))
	} else if e.By == try.ByItself && terminated(t) {
		out = append(out, explain.Say(explain.Marks(t.End(), t.ShownBy()), "%s", terminatedText))
	} else if e.By == try.ByEviction && e.Then != "" {
		out = append(out, explain.Say(e.Marks, "%s", e.Then))
	}
	out = append(out, laterWords(c, failed)...)
	if e := t.DoneFirst(); e != nil && len(try.Failures(t.Containers)) > 0 {
		out = append(out, explain.Say(explain.Marks(t.End(), t.ShownBy()), "%s itself ended with 0%s", e.Name,
			c.AtClock(e.Finished)))
	}
	return append(out, spent.HeldBack(c)...)
}

// laterWords quotes the message of the newest try (pod) that failed by itself. It does so only if that pod ended in
// another way than the first one, or if the first one wrote no message. failed are the failed tries.
func laterWords(c *jobcase.Case, failed []*try.Try) []explain.Sentence {
	silent := !slices.ContainsFunc(try.Failures(failed[0].Containers),
		func(k events.ContainerEnd) bool { return explain.Spoke(&k) })
	for _, t := range slices.Backward(failed[1:]) {
		how := howEnded(c, t)
		if !silent && how == howEnded(c, failed[0]) || ending.Of(c, t).By != try.ByItself {
			continue
		}
		for _, k := range try.Failures(t.Containers) {
			if explain.Spoke(&k) {
				return []explain.Sentence{explain.Say(explain.Marks(t.End(), t.ShownBy()), "%s, %s: %s", try.TryText(t), how,
					explain.Wrote(k.Name, &k))}
			}
		}
	}
	return nil
}

// killedText is the text for exit code 137 (SIGKILL) if no cause is known.
const killedText = "137 is what SIGKILL leaves: who sent it, and why, is unknown, as its node does not say so"

// terminatedText is the text for exit code 143 (SIGTERM) of a pod whose deletion nobody requested.
const terminatedText = "143 is what SIGTERM leaves: who sent it is unknown; a failed probe is in Events alone, which are not read"

// terminated reports whether a container ended with exit code 143, which SIGTERM leaves.
func terminated(t *try.Try) bool {
	return slices.ContainsFunc(try.Failures(t.Containers), func(k events.ContainerEnd) bool {
		return k.ExitCode == 128+int32(syscall.SIGTERM)
	})
}

// crashed says how containers of try t (a pod) had ended before they were restarted.
func crashed(c *jobcase.Case, t *try.Try) []explain.Sentence {
	var parts []string
	for _, k := range t.Crashed {
		text := try.ExitOf(&k)
		if k.Started != 0 && k.Finished >= k.Started {
			text += " after " + words.Span(k.Finished.Sub(k.Started))
		}
		parts = append(parts, text)
	}
	n := "once"
	if again := t.RestartsSeen(); again > 1 {
		n = fmt.Sprintf("%d times", again)
	} else if again == 0 {
		n = "not yet"
	}
	out := []explain.Sentence{explain.Say(explain.Marks(t.CrashedAt, t.Newest), "%s, restarted %s: %s, %s%s",
		strings.Join(parts, ", "), n, try.TryText(t), t.Pod, try.On(t.Node))}
	for _, k := range t.Crashed {
		if explain.Spoke(&k) {
			out = append(out, explain.Say(explain.Marks(t.CrashedAt), "%s", explain.Wrote(k.Name, &k)))
			break
		}
	}
	return out
}

// endText says how try t (a pod) ended: "main exit 3 after 2s". It leaves out a kubelet's message that the verdict has.
func endText(c *jobcase.Case, t *try.Try, verdict string) string {
	e := ending.Of(c, t)
	text := e.Why
	switch e.By {
	case try.ByClient:
		if text = "deleted by an API client"; t.Forced {
			text += ", by force,"
		}
	case try.ByEviction:
		text = "evicted through the eviction API"
	case try.ByPreemption:
		text = "preempted by a pod of higher priority"
	case try.ByTaint:
		text = "deleted for a NoExecute taint of its node"
	case try.ByDevice:
		text = "deleted for a taint of a device"
	case try.ByOther:
		text = "disrupted: " + e.Why
	case try.ByNodeGone:
		text = "its node is gone, so pod garbage collection took it"
	case try.ByKubelet:
		text = e.ByNode()
		why := strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(e.Why), "."), try.InResponseTo)
		if first, _, _ := strings.Cut(why, ". "); !strings.Contains(verdict, first) {
			text += ": " + why
		}
	// For these, the text of the containers tells more than the kind of cause.
	case try.ByItself, try.BySignal, try.ByOwnLimit, try.ByDeadline, try.ByUnknown:
	case try.ByNobody, try.ByUs, try.ByController, try.ByJobDeleted, try.ByNamespace,
		try.ByNothing: // these are no failures of the pod itself
	}
	return text + ranText(t, e.By)
}

// ranText says how long try t (a pod) ran, and how much of this time it needed to stop.
func ranText(t *try.Try, by try.By) string {
	d, known, most := t.Ran()
	asked := t.AskedSeen
	switch stops := t.End().At.Sub(asked.At); {
	case !known:
		return ""
	case most && by == try.ByNodeGone:
		return " " + words.Span(d) + " after its start"
	case most:
		return ", after at most " + words.Span(d)
	case !by.Own() && asked.Record != 0 && t.Started.Record != 0 && asked.At > t.Started.At && stops >= time.Second:
		return fmt.Sprintf(" after %s (it took %s to stop)", words.Span(asked.At.Sub(t.Started.At)), words.Span(stops))
	}
	return " after " + words.Span(d)
}

// Alike says what the failed tries (pods) have in common, which values differ, and which causes the log cannot tell
// apart: "main exit 3, after 2s in 4 of 4. Different: nodes: node-0 2, node-1 2. Not told apart: program and its
// input".
func Alike(c *jobcase.Case) []explain.Sentence {
	failed := ending.FailedTries(c)
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
		how[howEnded(c, t)]++
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
	out := []explain.Sentence{explain.Say(append(try.Cite(failed, (*try.Try).End), try.Cite(failed,
		(*try.Try).ShownBy)...), "%s", strings.Join(parts, ". "))}
	if sameHow && ending.Of(c, failed[0]).By.Own() {
		apart := "the program or its input"
		if sameNode {
			apart = "the program, its input or " + node
		}
		out[0].Text += ". It may be " + apart
	}
	return out
}

// howEnded says how try t (a pod) ended, without the duration, so that tries can be compared.
func howEnded(c *jobcase.Case, t *try.Try) string {
	if e := ending.Of(c, t); !e.By.Own() {
		return string(e.By)
	}
	return try.ExitText(t)
}

// spans returns the shortest and the longest running time of tries (pods); known is false if one running time is
// unknown.
func spans(tries []*try.Try) (lo, hi time.Duration, known bool) {
	for _, t := range tries {
		d, ok, most := t.Ran()
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

// shares lists how often each value occurs among tries (pods), the most frequent first: "node-0 2, node-1 1". values
// has the counts. The parameter of is the number of all tries: if the counts do not add up to it, shares adds how many
// are unknown.
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
