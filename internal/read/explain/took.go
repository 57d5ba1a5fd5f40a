package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// phase is what a Job's time is spent on.
type phase int

// The phases. If pods are in several phases at a moment, the first in this list counts.
const (
	phaseUnwatched phase = iota
	phaseSuspended
	phaseRunning
	phaseStopping
	phaseStarting
	phaseScheduling
	phaseNoneWanted
	phaseRefused
	phaseLacking
	phaseCreating
	phaseConcluding
	phaseBackoff
	phaseUnseen
	phaseBefore
	phaseDeciding
	phaseAfter
	phases
)

var phaseNames = [phases]string{
	"not watched", "suspended", "running", "stopping", "starting", "scheduling", "parallelism 0", "creates refused", "no pod came", "creating",
	"concluding", "backoff", "not seen yet", "before the first pod", "between two pods", "after the last pod",
}

// stretch is a period in one phase.
type stretch struct {
	phase    phase
	from, to events.Time
}

// stretches returns the phases of a try, by our clock if they were seen.
func (t *Try) stretches(until events.Time) []stretch {
	var out []stretch
	add := func(p phase, from, to events.Time) events.Time {
		if from != 0 && to > from {
			out = append(out, stretch{p, from, to})
		}
		return max(from, to)
	}
	end := until
	if t.over() {
		end = t.end().At
	}
	add(phaseCreating, t.Ordered.At, t.Seen.At)
	at := t.Seen.At
	started := t.Started.At
	if started == 0 && t.Ended.Record != 0 {
		if started = min(t.Ended.At, max(t.Placed.At, t.began())); t.began() == 0 {
			started = 0 // it never ran
		}
	}
	placed := t.Placed.At
	if started != 0 && (placed == 0 || placed > started) {
		placed = started
	}
	if placed == 0 {
		placed = end
	}
	at = add(phaseScheduling, at, min(placed, end))
	if started == 0 {
		started = end
	}
	at = add(phaseStarting, at, min(started, end))
	stop := end
	if t.AskedSeen.Record != 0 && t.AskedSeen.At < end {
		stop = max(t.AskedSeen.At, at)
	}
	at = add(phaseRunning, at, stop)
	add(phaseStopping, at, end)
	return out
}

// sweep divides the time from from to to among the phases: each moment counts for the first phase that holds then.
func sweep(all []stretch, from, to events.Time) [phases]time.Duration {
	var total [phases]time.Duration
	points := []events.Time{from, to}
	for _, s := range all {
		points = append(points, s.from, s.to)
	}
	slices.Sort(points)
	points = slices.Compact(points)
	// open is the number of stretches of each phase at a point; points are visited in the order of time.
	begins, ends := slices.Clone(all), slices.Clone(all)
	slices.SortFunc(begins, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	slices.SortFunc(ends, func(a, b stretch) int { return cmp.Compare(a.to, b.to) })
	var open [phases]int
	for i, at := range points[:max(len(points)-1, 0)] {
		for len(begins) > 0 && begins[0].from <= at {
			open[begins[0].phase]++
			begins = begins[1:]
		}
		for len(ends) > 0 && ends[0].to <= at {
			open[ends[0].phase]--
			ends = ends[1:]
		}
		lo, hi := max(at, from), min(points[i+1], to)
		if hi <= lo {
			continue
		}
		now := phaseDeciding
		for p := range phases {
			if open[p] > 0 {
				now = p
				break
			}
		}
		total[now] += hi.Sub(lo)
	}
	return total
}

// suspensions returns the periods in which the Job was suspended.
func (c *Case) suspensions() (out []stretch) {
	since := events.Time(0)
	if c.firstSuspended() {
		since = c.start()
	}
	for i := range c.edits {
		e := &c.edits[i]
		switch {
		case e.After.Suspend && !e.Before.Suspend:
			since = e.At.At
		case !e.After.Suspend && e.Before.Suspend && since != 0:
			out = append(out, stretch{phaseSuspended, since, e.At.At})
			since = 0
		}
	}
	if since != 0 {
		out = append(out, stretch{phaseSuspended, since, c.end()})
	}
	return out
}

// jobStretches returns the periods in which the Job itself waited.
func (c *Case) jobStretches() []stretch {
	end := c.end()
	out := append(c.suspensions(), c.noneWanted()...)
	for _, x := range c.refusals {
		if x.Kind == events.CommandCreatePod {
			to := end
			if x.Over.Record != 0 {
				to = x.Over.At
			}
			out = append(out, stretch{phaseRefused, x.First.At, to})
		}
	}
	for _, x := range c.lacks() {
		out = append(out, stretch{phaseLacking, x.From.At, c.lackUntil(x)})
	}
	for _, t := range c.Tries {
		if until := c.heldUntil(t); until != 0 && t.CountAt.At != 0 {
			out = append(out, stretch{phaseBackoff, t.CountAt.At, min(until, end)})
		}
	}
	for _, g := range c.touching() {
		to := events.Time(g.Until)
		if to == 0 {
			to = end
		}
		out = append(out, stretch{phaseUnwatched, events.Time(g.From), to})
	}
	if c.added.At > c.start() {
		out = append(out, stretch{phaseUnseen, c.start(), c.added.At})
	}
	if s := c.settled; s != nil {
		out = append(out, stretch{phaseConcluding, cmp.Or(s.Decided.At, s.Evidence.At, s.Seen.At), end})
	}
	return out
}

// noneWanted returns the periods in which parallelism was 0.
func (c *Case) noneWanted() (out []stretch) {
	zero := func(s *events.JobSpec) bool { return s != nil && s.Parallelism != nil && *s.Parallelism == 0 }
	first, _ := c.firstSpec()
	since, none := c.start(), zero(first)
	for i := range c.edits {
		switch e := &c.edits[i]; {
		case none && !zero(e.After):
			out = append(out, stretch{phaseNoneWanted, since, e.At.At})
			none = false
		case !none && zero(e.After):
			since, none = e.At.At, true
		}
	}
	if none {
		out = append(out, stretch{phaseNoneWanted, since, c.end()})
	}
	return out
}

// took says where the Job's time went, and how much pod time was lost.
func (c *Case) took() []Sentence {
	if !c.finished() || len(c.Tries) == 0 {
		return nil
	}
	total, on, of := c.spent()
	var order []phase
	for p := range phases {
		if total[p] >= 10*time.Millisecond {
			order = append(order, p)
		}
	}
	slices.SortStableFunc(order, func(a, b phase) int { return cmp.Compare(total[b], total[a]) })
	var parts []string
	for _, p := range order {
		upTo := ""
		if p == phaseRunning && ranAtMost(of) {
			upTo = "at most "
		}
		parts = append(parts, phaseNames[p]+" "+upTo+words.Span(total[p]))
	}
	if len(parts) == 0 {
		return nil
	}
	ended := c.lastEnd()
	if ended.Record == 0 && c.settled != nil { // no end of a pod is known: count up to the Job's end
		ended = cmp.Or(c.settled.Over, c.settled.Stored)
	}
	out := []Sentence{say(marks(c.added, ended), "%s%s", on, strings.Join(parts, " · "))}
	if lost, runs, most := c.lost(); lost > 0 {
		n, upTo := len(runs), ""
		if most {
			upTo = "at most "
		}
		out = append(out, say(cite(runs, (*Try).end), "work lost: %s%s of pods' time, in %s without success", upTo, words.Span(lost), words.Count(n, "run")))
	}
	return out
}

// ranAtMost reports whether the end of a running time is unknown for one of the tries, for example of a pod that
// vanished with its node. The time is then an upper bound.
func ranAtMost(tries []*Try) bool {
	return slices.ContainsFunc(tries, func(t *Try) bool {
		_, known, most := t.ran()
		return known && most
	})
}

// spent returns the time of each phase of the Job, and the tries that it covers. For a Job with several indexes these
// are the tries of the index that decided when the Job ended; on names that index.
func (c *Case) spent() (total [phases]time.Duration, on string, of []*Try) {
	of = c.Tries
	if t := c.decisiveIndex(); t != nil {
		on = fmt.Sprintf("on index %d, which decided it: ", t.Index)
		of = slices.DeleteFunc(slices.Clone(of), func(x *Try) bool { return x.Index != t.Index })
	}
	all := c.jobStretches()
	first, last := c.end(), c.start()
	for _, t := range of {
		for _, s := range t.stretches(c.end()) {
			all, first, last = append(all, s), min(first, s.from), max(last, s.to)
		}
	}
	all = append(all, stretch{phaseBefore, c.start(), first}, stretch{phaseAfter, last, c.end()})
	return sweep(all, c.start(), c.end()), on, of
}

// decisiveIndex returns a try of the index that made the Job end when it did: the one that failed the Job, or the last
// to end. It is nil for a Job without several indexes, and for a Job that did not end with a try.
func (c *Case) decisiveIndex() *Try {
	last := c.lastIndex()
	if last == nil || c.settled == nil {
		return nil
	}
	switch c.settled.Reason {
	case "DeadlineExceeded":
		return nil
	case "SuccessPolicy": // pods that were stopped for it end last, and decide nothing
		return c.lastSuccess()
	}
	if t := c.settledBy(); t != nil {
		return t
	}
	return last
}

// lastSuccess returns the last try that succeeded before the Job's pods were stopped; nil for none.
func (c *Case) lastSuccess() (last *Try) {
	for _, t := range c.Tries {
		if t.Phase == events.PodSucceeded && !c.stopped(t) && (last == nil || t.end().Record > last.end().Record) {
			last = t
		}
	}
	return last
}

// lastIndex returns the try that ended last, for a Job with several indexes; nil for other Jobs.
func (c *Case) lastIndex() *Try {
	var last *Try
	many := false
	for _, t := range c.Tries {
		if t.Index == events.NoIndex {
			return nil
		}
		many = many || t.Index != c.Tries[0].Index
		if t.over() && (last == nil || t.end().Record > last.end().Record) {
			last = t
		}
	}
	if !many {
		return nil
	}
	return last
}

func (c *Case) lastEnd() Mark {
	var last Mark
	for _, t := range c.Tries {
		if e := t.end(); e.Record > last.Record {
			last = e
		}
	}
	return last
}

// lost returns the running time of the tries that did not succeed, and those tries. most means that the time is an
// upper bound.
func (c *Case) lost() (sum time.Duration, runs []*Try, most bool) {
	for _, t := range c.Tries {
		if d, known, atMost := t.ran(); known && t.failed() {
			sum += d
			runs = append(runs, t)
			most = most || atMost
		}
	}
	return sum, runs, most
}
