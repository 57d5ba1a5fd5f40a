package deletion

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/say/words"
)

// AddPods adds sections to answer a: who deleted pods of the Job that had not ended, and if this is unknown, which
// field managers may know.
func AddPods(c *jobcase.Case, a *explain.Answer) {
	managers := managers(c)
	a.Add(explain.HeadPods, removedPods(c, a.Verdict.Unsaid)...)
	a.Add(explain.HeadManagers, managers...)
}

// ownManager is our field manager. It equals kubeapi.FieldManager, which this package may not import.
const ownManager = "jobledger"

// managers names field managers who edited the Job's spec, if an unknown API client deleted the Job or a pod of it.
// They are a hint whom to ask, because a deletion has no field manager. It leaves out controllers, whose deletions an
// answer names anyway. If only the creator is known, it says nothing, because every Job has one.
func managers(c *jobcase.Case) []explain.Sentence {
	if !byUnknownClient(c) {
		return nil
	}
	var names []string
	var from []explain.Mark
	add := func(e *events.Edit, did string, m explain.Mark) {
		if e == nil || e.Manager == "" || e.Manager == events.BuiltinManager || e.Manager == ownManager {
			return
		}
		if text := words.Clean(e.Manager) + " " + did; !slices.Contains(names, text) && len(names) < explain.MostCited {
			names, from = append(names, text), append(from, m)
		}
	}
	add(c.Maker, "made it", c.Added)
	made := len(names)
	for i := range c.Edits {
		add(c.Edits[i].By, "edited it at "+c.Clock(c.Edits[i].At.At), c.Edits[i].At)
	}
	if len(names) == made {
		return nil
	}
	const none = "; a deletion has no field manager, so who deleted may be another"
	return []explain.Sentence{explain.Say(explain.Marks(from...), "seen on the Job's spec: %s%s", strings.Join(names,
		", "), none)}
}

// byUnknownClient reports whether an unknown API client deleted the unfinished Job, or a pod of it that had not ended.
func byUnknownClient(c *jobcase.Case) bool {
	if m := c.Deletion(); m.Record != 0 {
		if _, unknown, _ := Job(c, m, m.At); unknown != "" && !c.Finished() {
			return true
		}
	}
	return slices.ContainsFunc(c.Tries, func(t *try.Try) bool { return ending.Of(c, t).By == try.ByClient })
}

// removedPods says who deleted the pods that had not ended. told has phrases about what no record tells, which the
// verdict has already: they are left out here.
func removedPods(c *jobcase.Case, told []string) []explain.Sentence {
	var groups []*removed
	for _, t := range c.Tries {
		e := ending.Of(c, t)
		if e.By == try.ByNobody || e.By.Own() {
			continue
		}
		alike := func(g *removed) bool {
			return g.e.By == e.By && g.e.Why == e.Why && g.tries[0].Forced == t.Forced
		}
		i := slices.IndexFunc(groups, alike)
		if i < 0 {
			groups = append(groups, &removed{e: e})
			i = len(groups) - 1
		}
		groups[i].tries = append(groups[i].tries, t)
	}
	var out []explain.Sentence
	for _, g := range groups {
		names := g.tries[0].Pod + try.On(g.tries[0].Node)
		switch n := len(g.tries); {
		case n == 2:
			names = g.tries[0].Pod + " and " + g.tries[1].Pod
		case n > 2:
			names = fmt.Sprintf("%s and %s", g.tries[0].Pod, words.Count(n-1, "other pod"))
		}
		said := slices.Contains(told, g.e.Unsaid) || g.e.By == try.ByNodeGone && slices.Contains(told, explain.ByWhom)
		out = append(out, explain.Say(append(g.marks(), g.tries[0].AskedMarks()...), "%s: %s", names,
			g.e.Tell(g.asked(c), !said)))
	}
	for _, t := range c.Tries {
		switch {
		case len(t.Kept) == 0:
		case t.Gone.Record != 0:
			out = append(out, explain.Say(explain.Marks(t.KeptAt, t.Gone), "%s was kept %s by finalizer %s", t.Pod,
				words.Span(t.Gone.At.Sub(t.KeptAt.At)), t.Kept[0]))
		case c.Over():
			out = append(out, explain.Say(explain.Marks(t.KeptAt), "%s is kept by finalizer %s", t.Pod, t.Kept[0]))
		}
		if s, is := ranOn(c, t); is {
			out = append(out, s)
		}
	}
	return explain.Fewer(out, 4)
}

// ranOn says which containers of a pod had done their work, and which still ran when the pod was stopped. For a pod
// that succeeded, it says so if the last container ended at least outlast (5 s) after the first. It returns false if
// there is nothing to say.
func ranOn(c *jobcase.Case, t *try.Try) (explain.Sentence, bool) {
	if t.Phase == events.PodSucceeded && t.Asked == 0 {
		return endedAfter(c, t)
	}
	if t.Asked == 0 || ending.Of(c, t).By.Own() {
		return explain.Sentence{}, false
	}
	var done, on []string
	for _, k := range t.Containers {
		switch {
		case k.Kind != events.RegularContainer || k.Finished == 0:
		case k.ExitCode == 0 && k.Finished.Add(time.Second) < t.Asked:
			done = append(done, fmt.Sprintf("%s had ended with 0 at %s", k.Name, c.Clock(k.Finished)))
		default:
			text := k.Name + " ran on"
			if foreign(c, k.Name) {
				text += " (it is not in the Job's pod template: admission added it)"
			}
			on = append(on, text)
		}
	}
	if len(done) == 0 || len(on) == 0 {
		return explain.Sentence{}, false
	}
	return explain.Say(explain.Marks(t.Newest), "%s: %s; %s", t.Pod, strings.Join(done, ", "), strings.Join(on, ", ")),
		true
}

// outlast is the smallest time between the ends of two containers of a pod that is worth a sentence. Containers of a
// pod rarely end at the same time.
const outlast = 5 * time.Second

// endedAfter says which container of a succeeded pod ended first and which last. It returns false if the two ended less
// than outlast (5 s) apart.
func endedAfter(c *jobcase.Case, t *try.Try) (explain.Sentence, bool) {
	first := t.DoneFirst()
	if first == nil || first.Finished == 0 {
		return explain.Sentence{}, false
	}
	last := first
	for i := range t.Containers {
		if k := &t.Containers[i]; k.Kind != events.InitContainer && k.Finished > last.Finished {
			last = k
		}
	}
	more := last.Finished.Sub(first.Finished)
	if more < outlast {
		return explain.Sentence{}, false
	}
	return explain.Say(explain.Marks(t.Ended, t.Shown), "%s: %s ended with 0 at %s, %s %s later", t.Pod, first.Name,
		c.Clock(first.Finished), last.Name, words.Span(more)), true
}

// foreign reports whether a container is not in the Job's pod template, so that admission has added it. It is false if
// the template is unknown.
func foreign(c *jobcase.Case, container string) bool {
	_, template := c.FirstSpec()
	known := jobcase.Images(template)
	return len(known) > 0 && known[container] == ""
}

// removed is a group of tries (pods) that were ended in the same way.
type removed struct {
	e     try.Ending
	tries []*try.Try
}

func (g *removed) marks() []explain.Mark {
	out := slices.Clone(g.e.Marks)
	for _, t := range g.tries[1:min(len(g.tries), explain.MostCited)] {
		switch {
		// One decision of a controller ended all pods of the group. g.e.Marks cites it already, so no pod adds a
		// record.
		case g.e.By == try.ByUs || g.e.By == try.ByController:
		case g.e.By.Disruption() && t.DisruptedAt.Record != 0:
			out = append(out, t.DisruptedAt)
		case t.AskedSeen.Record != 0:
			out = append(out, t.AskedSeen)
		default:
			out = append(out, t.End())
		}
	}
	return explain.Marks(out...)
}

// asked returns a text in brackets: when the deletion of the pods in the group was requested, and how long they took to
// stop. If the pods differ in this, the text is about the first pod only, and says so.
func (g *removed) asked(c *jobcase.Case) string {
	text := AskedText(c, g.tries[0])
	for _, t := range g.tries[1:] {
		if AskedText(c, t) != text {
			return strings.Replace(text, " (", " (the first: ", 1)
		}
	}
	return text
}

// AskedText returns a text in brackets: when the deletion of try t (a pod) was requested, its grace period, and how
// long the pod took to stop. It is empty if no deletion was requested.
func AskedText(c *jobcase.Case, t *try.Try) string {
	if t.Asked == 0 {
		return ""
	}
	text := " (asked for at " + c.Clock(t.Asked)
	switch {
	case t.Forced:
		text += ", by force: no time to stop"
	case t.Grace != nil:
		text += fmt.Sprintf(", given %s to stop", words.Span(explain.Seconds(*t.Grace)))
	case !t.AskedExact:
		text += " at the latest"
	}
	if t.Ended.Record != 0 && !t.Stale() && t.AskedSeen.Record < t.Ended.Record && (t.Forced || t.Grace != nil) {
		text += ", took " + words.Span(t.Ended.At.Sub(t.AskedSeen.At))
	}
	return text + ")"
}
