package spent

import (
	"cmp"
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

// suspensions returns the periods in which the Job was suspended (spec.suspend).
func suspensions(c *jobcase.Case) (out []Stretch) {
	since := events.Time(0)
	if c.FirstSuspended() {
		since = c.Start()
	}
	for i := range c.Edits {
		e := &c.Edits[i]
		switch {
		case e.After.Suspend && !e.Before.Suspend:
			since = e.At.At
		case !e.After.Suspend && e.Before.Suspend && since != 0:
			out = append(out, Stretch{phaseSuspended, since, e.At.At})
			since = 0
		}
	}
	if since != 0 {
		out = append(out, Stretch{phaseSuspended, since, c.End()})
	}
	return out
}

// jobStretches returns the periods in which the Job itself delayed its pods or nobody watched it, such as a suspension,
// or refused creates. Each has its phase.
func jobStretches(c *jobcase.Case) []Stretch {
	end := c.End()
	out := append(suspensions(c), noneWanted(c)...)
	for _, x := range c.Refusals {
		if x.Kind == events.CommandCreatePod {
			to := end
			if x.Over.Record != 0 {
				to = x.Over.At
			}
			out = append(out, Stretch{phaseRefused, x.First.At, to})
		}
	}
	for _, x := range c.Lacks() {
		out = append(out, Stretch{phaseLacking, x.From.At, c.LackUntil(x)})
	}
	for _, t := range c.Tries {
		if until := c.HeldUntil(t); until != 0 && t.CountAt.At != 0 {
			out = append(out, Stretch{PhaseBackoff, t.CountAt.At, min(until, end)})
		}
	}
	for _, g := range c.Touching() {
		to := events.Time(g.Until)
		if to == 0 {
			to = end
		}
		out = append(out, Stretch{PhaseUnwatched, events.Time(g.From), to})
	}
	if c.Added.At > c.Start() {
		out = append(out, Stretch{phaseUnseen, c.Start(), c.Added.At})
	}
	if s := c.Settled; s != nil {
		out = append(out, Stretch{phaseConcluding, cmp.Or(s.Decided.At, s.Evidence.At, s.Seen.At), end})
	}
	return out
}

// noneWanted returns the periods in which parallelism was 0.
func noneWanted(c *jobcase.Case) (out []Stretch) {
	zero := func(s *events.JobSpec) bool { return s != nil && s.Parallelism != nil && *s.Parallelism == 0 }
	first, _ := c.FirstSpec()
	since, none := c.Start(), zero(first)
	for i := range c.Edits {
		switch e := &c.Edits[i]; {
		case none && !zero(e.After):
			out = append(out, Stretch{phaseNoneWanted, since, e.At.At})
			none = false
		case !none && zero(e.After):
			since, none = e.At.At, true
		}
	}
	if none {
		out = append(out, Stretch{phaseNoneWanted, since, c.End()})
	}
	return out
}

// Section returns sentences about the Job's time: how much went into each phase, and how much running time of pods was
// without success.
func Section(c *jobcase.Case) []explain.Sentence {
	if !c.Finished() || len(c.Tries) == 0 {
		return nil
	}
	total, on, of := Phases(c)
	var parts []string
	for _, p := range inOrder {
		if total[p] < 10*time.Millisecond {
			continue
		}
		upTo, byNodes := "", ""
		if p == PhaseRunning {
			byNodes = ByNodes(of)
			if ranAtMost(of) {
				upTo = "at most "
			}
		}
		parts = append(parts, PhaseNames[p]+" "+upTo+words.Span(total[p])+byNodes)
	}
	if len(parts) == 0 {
		return nil
	}
	ended := c.LastEnd()
	if ended.Record == 0 && c.Settled != nil { // if no end of a pod is known, use the Job's end
		ended = cmp.Or(c.Settled.Over, c.Settled.Stored)
	}
	out := []explain.Sentence{explain.Say(explain.Marks(c.Added, ended), "%s%s", on, strings.Join(parts, " · "))}
	if lost, runs, most := lost(c); lost > 0 {
		n, upTo := len(runs), ""
		if most {
			upTo = "at most "
		}
		stopped := 0
		for _, t := range runs {
			if ending.Stopped(c, t) {
				stopped++
			}
		}
		how := words.Count(n, "run") + " without success"
		switch {
		case stopped == n:
			how = words.Count(n, "run") + " that the Job stopped"
		case stopped > 0:
			how += fmt.Sprintf(", %d of them stopped by the Job", stopped)
		}
		out = append(out, explain.Say(try.Cite(runs, (*try.Try).End), "work lost: %s%s of pods' time, in %s", upTo,
			words.Span(lost), how))
	}
	return out
}

// ByNodes says how long tries (pods) ran by their nodes' clocks, if the end of one was seen late. All other texts count
// until the end was seen.
func ByNodes(tries []*try.Try) string {
	ran, of, late := 0, time.Duration(0), 0
	for _, t := range tries {
		if !slices.ContainsFunc(Stretches(t, t.End().At), func(s Stretch) bool { return s.Phase == PhaseRunning }) {
			continue
		}
		ran++
		if d, stale := t.StaleRan(); stale {
			late, of = late+1, d
		}
	}
	switch {
	case late == 0:
		return ""
	case ran == 1:
		return " (" + words.Span(of) + " by its node's clock)"
	}
	return " (not the same by the nodes' clocks)"
}

// ranAtMost reports whether the running time of a try (pod) is only an upper bound, because its end is not known: it
// may have vanished with its node.
func ranAtMost(tries []*try.Try) bool {
	return slices.ContainsFunc(tries, func(t *try.Try) bool {
		_, known, most := t.Ran()
		return known && most
	})
}

// Phases returns how long the Job was in each phase, and the tries (pods) that were counted. If the Job has several
// indexes, only the index that decided when the Job ended counts; on names it.
func Phases(c *jobcase.Case) (total [phases]time.Duration, on string, of []*try.Try) {
	of = c.Tries
	if t := decisiveIndex(c); t != nil {
		what := "decided it"
		// Another index may have failed the Job before, so do not say "decided it".
		if c.Settled.Reason == "FailedIndexes" {
			what = "ended last"
		}
		on = fmt.Sprintf("on index %d, which %s: ", t.Index, what)
		of = slices.DeleteFunc(slices.Clone(of), func(x *try.Try) bool { return x.Index != t.Index })
	}
	all := jobStretches(c)
	first, last := c.End(), c.Start()
	for _, t := range of {
		for _, s := range Stretches(t, c.End()) {
			all, first, last = append(all, s), min(first, s.From), max(last, s.To)
		}
	}
	all = append(all, Stretch{phaseBefore, c.Start(), first}, Stretch{phaseAfter, last, c.End()})
	return sweep(all, c.Start(), c.End()), on, of
}

// decisiveIndex returns a try (pod) of the index that decided when the Job ended: the one that failed the Job, or the
// last one to end. It returns nil if the Job has only one index, or did not end because of a pod.
func decisiveIndex(c *jobcase.Case) *try.Try {
	if c.Settled == nil || !severalIndexes(c) {
		return nil
	}
	switch c.Settled.Reason {
	case "DeadlineExceeded":
		return nil
	case "SuccessPolicy": // pods that the policy stops end last, and decide nothing
		return lastSuccess(c)
	}
	if t := c.SettledBy(); t != nil {
		return t
	}
	return lastOf(c, func(t *try.Try) bool { return t.Over() && c.Settles(t) })
}

// lastOf returns the try (pod) that ended last among those for which is returns true; nil if there is none.
func lastOf(c *jobcase.Case, is func(*try.Try) bool) (last *try.Try) {
	for _, t := range c.Tries {
		if is(t) && (last == nil || t.End().Record > last.End().Record) {
			last = t
		}
	}
	return last
}

// lastSuccess returns the last try (pod) that succeeded before the Job's other pods were stopped; nil if there is none.
func lastSuccess(c *jobcase.Case) *try.Try {
	return lastOf(c, func(t *try.Try) bool {
		decides := c.Settled.Bound() == 0 || t.End().Record <= c.Settled.Bound()
		return t.Counted == try.CountedSucceeded && decides && !ending.Stopped(c, t)
	})
}

// severalIndexes reports whether the tries (pods) belong to several indexes. It is false if one has no index.
func severalIndexes(c *jobcase.Case) bool {
	other := func(t *try.Try) bool { return t.Index != c.Tries[0].Index }
	return slices.ContainsFunc(c.Tries, other) &&
		!slices.ContainsFunc(c.Tries, func(t *try.Try) bool { return t.Index == events.NoIndex })
}

// lost returns the tries (pods) that did not succeed, and how long they ran in total. most is set if this time is only
// an upper bound.
func lost(c *jobcase.Case) (sum time.Duration, runs []*try.Try, most bool) {
	for _, t := range c.Tries {
		if d, known, atMost := t.Ran(); known && t.Failed() {
			sum += d
			runs = append(runs, t)
			most = most || atMost
		}
	}
	return sum, runs, most
}
