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

// failedTries are the tries that did not succeed and were not ended by the Job's own end, in the order of their ends.
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

// stopped reports whether the try was ended because of what the Job wanted, and not by a failure.
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
	if e := c.ending(t); e.By == ByKubelet { // its words tell how its node was
		for _, m := range e.Marks {
			if !slices.Contains(cited, m) {
				cited = append(cited, m)
			}
		}
	}
	out := []Sentence{say(cited, "%s: %s, %s%s", c.endText(t), c.tryText(t), t.Pod, onNode(t))}
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

// laterWords are what the newest try wrote that ended by itself and otherwise than the first, or where the first wrote
// nothing.
func (c *Case) laterWords(failed []*Try) []Sentence {
	silent := !slices.ContainsFunc(failures(failed[0].Containers), func(k events.ContainerEnd) bool { return spoke(&k) })
	for _, t := range slices.Backward(failed[1:]) {
		if !c.ending(t).By.own() || !silent && c.howEnded(t) == c.howEnded(failed[0]) {
			continue
		}
		for _, k := range failures(t.Containers) {
			if spoke(&k) {
				return []Sentence{say(marks(t.end(), t.shown()), "%s, %s: %s", c.tryText(t), c.howEnded(t), wrote(k.Name, &k))}
			}
		}
	}
	return nil
}

// killedText is of an exit code 137 that nobody explains.
const killedText = "137 is what SIGKILL leaves: who sent it, and why, is unknown, as its node does not say so"

// crashed says how the containers of a try ended that were started again.
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
	out := []Sentence{say(marks(t.CrashedAt, t.Newest), "%s, restarted %s: %s, %s%s", strings.Join(parts, ", "), n, c.tryText(t), t.Pod, onNode(t))}
	for _, k := range t.Crashed {
		if spoke(&k) {
			out = append(out, say(marks(t.CrashedAt), "%s", wrote(k.Name, &k)))
			break
		}
	}
	return out
}

func onNode(t *Try) string {
	if t.Node == "" {
		return ""
	}
	return " on " + t.Node
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
	case ByItself, BySignal, ByOwnLimit, ByDeadline, ByUnknown: // the records say it all
	case ByNobody, ByUs, ByController, ByJobDeleted, ByNamespace, ByNothing: // no failure of the try
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

// alike tells what the failed tries had in common, and what that cannot tell apart.
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

// howEnded is how a try ended without its time.
func (c *Case) howEnded(t *Try) string {
	if e := c.ending(t); !e.By.own() {
		return string(e.By)
	}
	return exitText(t)
}

// spans are the shortest and the longest time that some tries ran.
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

// shares says how often each of some values occurs, the most frequent first: "node-0 2, node-1 1".
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

// removedPods says who deleted pods that had not ended.
func (c *Case) removedPods() []Sentence {
	var groups []*removed
	for _, t := range c.Tries {
		e := c.ending(t)
		if e.By == ByNobody || e.By.own() {
			continue
		}
		key := func(x Ending) string { return string(x.By) + x.Why }
		i := slices.IndexFunc(groups, func(g *removed) bool { return key(g.e) == key(e) })
		if i < 0 {
			groups = append(groups, &removed{e: e})
			i = len(groups) - 1
		}
		groups[i].tries = append(groups[i].tries, t)
	}
	var out []Sentence
	for _, g := range groups {
		names := g.tries[0].Pod + onNode(g.tries[0])
		if n := len(g.tries); n > 1 {
			names = fmt.Sprintf("%s and %s", g.tries[0].Pod, words.Count(n-1, "other pod"))
		}
		out = append(out, say(append(g.marks(), g.tries[0].askedMarks()...), "%s: %s%s", names, g.e.sentence(), c.askedText(g.tries[0])))
	}
	for _, t := range c.Tries {
		switch {
		case len(t.Kept) == 0 || t.KeptAt.Record == 0:
		case t.Gone.Record != 0:
			out = append(out, say(marks(t.KeptAt, t.Gone), "%s was kept %s by finalizer %s", t.Pod, words.Span(t.Gone.At.Sub(t.KeptAt.At)), t.Kept[0]))
		case c.over():
			out = append(out, say(marks(t.KeptAt), "%s is kept by finalizer %s", t.Pod, t.Kept[0]))
		}
		if s, is := c.ranOn(t); is {
			out = append(out, s)
		}
	}
	return fewer(out, 4)
}

// ranOn says of a pod that was stopped which of its containers had done their work, and which ran on. Of one that ended
// by itself it does so where the others took long.
func (c *Case) ranOn(t *Try) (Sentence, bool) {
	if t.Phase == events.PodSucceeded && t.Asked == 0 {
		return c.endedAfter(t)
	}
	if t.Asked == 0 || c.ending(t).By.own() {
		return Sentence{}, false
	}
	var done, on []string
	for _, k := range t.Containers {
		switch {
		case k.Kind != events.RegularContainer || k.Finished == 0:
		case k.ExitCode == 0 && k.Finished.Add(time.Second) < t.Asked:
			done = append(done, fmt.Sprintf("%s had ended with 0 at %s", k.Name, c.clock(k.Finished)))
		default:
			text := k.Name + " ran on"
			if c.foreign(k.Name) {
				text += " (it is not in the Job's pod template: admission added it)"
			}
			on = append(on, text)
		}
	}
	if len(done) == 0 || len(on) == 0 {
		return Sentence{}, false
	}
	return say(marks(t.Newest), "%s: %s; %s", t.Pod, strings.Join(done, ", "), strings.Join(on, ", ")), true
}

// outlast is for how much longer a container runs than another of its pod before it is told: those of a pod do not end
// at once.
const outlast = 5 * time.Second

// endedAfter says of a pod that succeeded which of its containers ended first, and which ended last and long after it.
func (c *Case) endedAfter(t *Try) (Sentence, bool) {
	first := t.ended0()
	if first == nil || first.Finished == 0 {
		return Sentence{}, false
	}
	last := first
	for i := range t.Containers {
		if k := &t.Containers[i]; k.Kind != events.InitContainer && k.Finished > last.Finished {
			last = k
		}
	}
	more := last.Finished.Sub(first.Finished)
	if more < outlast {
		return Sentence{}, false
	}
	return say(marks(t.Ended, t.Shown), "%s: %s ended with 0 at %s, %s %s later", t.Pod, first.Name, c.clock(first.Finished), last.Name, words.Span(more)), true
}

// foreign reports whether the Job's pod template, as far as it is known, has no container of that name.
func (c *Case) foreign(container string) bool {
	_, template := c.firstSpec()
	known := images(template)
	return len(known) > 0 && known[container] == ""
}

// removed are tries that the same thing ended.
type removed struct {
	e     Ending
	tries []*Try
}

func (g *removed) marks() []Mark {
	out := slices.Clone(g.e.Marks)
	for _, t := range g.tries[1:min(len(g.tries), mostCited)] {
		switch {
		case g.e.By == ByUs || g.e.By == ByController: // the decision is that about all of them
		case g.e.By.Disruption() && t.disrupted.Record != 0:
			out = append(out, t.disrupted)
		case t.AskedSeen.Record != 0:
			out = append(out, t.AskedSeen)
		default:
			out = append(out, t.end())
		}
	}
	return marks(out...)
}

// sentence says who ended a try.
func (e *Ending) sentence() string {
	text := ""
	switch e.By {
	case ByEviction:
		text = "evicted through the eviction API"
	case ByPreemption:
		text = "preempted: " + e.Why
	case ByTaint:
		text = "deleted by the taint manager: " + e.Why
	case ByDevice:
		text = withMessage("deleted for a taint of a device", e.Why)
	case ByOther:
		text = "disrupted: " + e.Why
	case ByNodeGone:
		text = "deleted by pod garbage collection: " + e.Why
	case ByKubelet:
		text = "ended by its node: " + e.Why
	case ByUs:
		text = "deleted by Jobledger: " + e.Why
	case ByController:
		text = "deleted by the Job's controller, to judge by its rules: " + e.Why
	case ByJobDeleted, ByNamespace, ByNothing:
		text = e.Why
	case ByClient:
		text = e.Why + " by an API client"
	case ByUnknown:
		switch text = e.Why; {
		case strings.HasPrefix(text, "deleted") && strings.Contains(text, ", or "):
			text += "; which is unknown"
		case strings.HasPrefix(text, "deleted"):
			text += "; by whom is unknown"
		}
	case ByItself, BySignal, ByOwnLimit, ByDeadline, ByNobody:
	}
	if e.Then != "" {
		text += "; " + e.Then
	}
	if len(e.Not) > 0 {
		text += "; not by " + strings.Join(e.Not, ", ")
	}
	if e.Missing != "" {
		text += "; missing: " + e.Missing
	}
	return text
}

// askedMarks are the records that show what askedText says.
func (t *Try) askedMarks() []Mark {
	if t.Asked == 0 {
		return nil
	}
	return marks(t.askedBy, t.graceBy)
}

// askedText says when the deletion was asked for, and how long the pod was given and took.
func (c *Case) askedText(t *Try) string {
	if t.Asked == 0 {
		return ""
	}
	text := " (asked for at " + c.clock(t.Asked)
	switch {
	case t.forced:
		text += ", by force: no time to stop"
	case t.Grace != nil:
		text += fmt.Sprintf(", given %s to stop", words.Span(seconds(*t.Grace)))
	case !t.AskedExact:
		text += " at the latest"
	}
	if t.Ended.Record != 0 && !t.stale() && t.AskedSeen.Record < t.Ended.Record && (t.forced || t.Grace != nil) {
		text += ", took " + words.Span(t.Ended.At.Sub(t.AskedSeen.At))
	}
	return text + ")"
}
