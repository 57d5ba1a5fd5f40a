package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// addPods adds what deleted pods that had not ended, and the field managers to ask if that is unknown.
func (c *Case) addPods(a *Answer) {
	managers := c.managers()
	a.add(headPods, c.removedPods()...)
	a.add(headManagers, managers...)
}

// ownManager is our field manager: kubeapi.FieldManager, which this package may not import.
const ownManager = "jobledger"

// managers names the field managers of the Job's spec if an unknown API client deleted the Job or a pod of it, and somebody
// edited the spec. They are only a hint whom to ask: a deletion has no field manager. Controllers are left out, because an
// answer names their deletions as theirs. The creator alone is no hint, since every Job has one.
func (c *Case) managers() []Sentence {
	if !c.byUnknownClient() {
		return nil
	}
	var names []string
	var from []Mark
	add := func(e *events.Edit, did string, m Mark) {
		if e == nil || e.Manager == "" || e.Manager == events.BuiltinManager || e.Manager == ownManager {
			return
		}
		if text := words.Clean(e.Manager) + " " + did; !slices.Contains(names, text) && len(names) < mostCited {
			names, from = append(names, text), append(from, m)
		}
	}
	add(c.maker, "made it", c.added)
	made := len(names)
	for i := range c.edits {
		add(c.edits[i].By, "edited it at "+c.clock(c.edits[i].At.At), c.edits[i].At)
	}
	if len(names) == made {
		return nil
	}
	const none = "; a deletion has no field manager, so who deleted may be another"
	return []Sentence{say(marks(from...), "seen on the Job's spec: %s%s", strings.Join(names, ", "), none)}
}

// byUnknownClient reports whether an unknown API client deleted the Job, or a pod of it that had not ended.
func (c *Case) byUnknownClient() bool {
	if m := c.deletion(); m.Record != 0 {
		if _, unknown, _ := c.removedBy(m, m.At); unknown != "" && !c.finished() {
			return true
		}
	}
	return slices.ContainsFunc(c.Tries, func(t *Try) bool { return c.ending(t).By == ByClient })
}

// removedPods says what deleted the pods that had not ended.
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
		names := g.tries[0].Pod + on(g.tries[0].Node)
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

// ranOn says which containers of a stopped pod had done their work, and which ran on. For a pod that succeeded it does
// so if the last container ended at least outlast after the first.
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

// outlast is the minimum difference between the ends of two containers of a pod that an answer reports. Containers of a
// pod rarely end at once.
const outlast = 5 * time.Second

// endedAfter says which container of a succeeded pod ended first, and which one ended last, at least outlast later.
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

// foreign reports whether the Job's pod template is known and has no such container.
func (c *Case) foreign(container string) bool {
	_, template := c.firstSpec()
	known := images(template)
	return len(known) > 0 && known[container] == ""
}

// removed is a group of tries with the same ending.
type removed struct {
	e     Ending
	tries []*Try
}

func (g *removed) marks() []Mark {
	out := slices.Clone(g.e.Marks)
	for _, t := range g.tries[1:min(len(g.tries), mostCited)] {
		switch {
		case g.e.By == ByUs || g.e.By == ByController: // one decision covers all of them
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

// sentence says what ended a try.
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
		text = e.Why + " by an API client" + whichClient
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

// askedMarks returns the records behind askedText.
func (t *Try) askedMarks() []Mark {
	if t.Asked == 0 {
		return nil
	}
	return marks(t.askedBy, t.graceBy)
}

// askedText says when the pod's deletion was requested, its grace period, and how long it took to stop.
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
