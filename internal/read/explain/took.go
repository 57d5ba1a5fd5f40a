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

// The phases. Where pods are in several at once, the first counts.
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

// stretch is a phase from one time to another.
type stretch struct {
	phase    phase
	from, to events.Time
}

// stretches are those of a try, by our own clock as far as it was seen.
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

// sweep divides the time from start to end among the phases: at each moment the first one that holds counts.
func sweep(all []stretch, from, to events.Time) [phases]time.Duration {
	var total [phases]time.Duration
	points := []events.Time{from, to}
	for _, s := range all {
		points = append(points, s.from, s.to)
	}
	slices.Sort(points)
	points = slices.Compact(points)
	// open are how many stretches of each phase hold: they begin and end in the order of time.
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

// suspensions are the times in which the Job was suspended.
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

// jobStretches are the stretches in which the Job itself waited.
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

// noneWanted are the times in which parallelism was 0.
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

// took says where the Job's time went, and how much work of pods was lost, apart.
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
	if ended.Record == 0 && c.settled != nil { // no end of a pod is known: then it is counted up to the Job's
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

// ranAtMost reports whether it is not known of one of these tries when it stopped: its time is then the most that it
// can have run, as of a pod that went with its node.
func ranAtMost(tries []*Try) bool {
	return slices.ContainsFunc(tries, func(t *Try) bool {
		_, known, most := t.ran()
		return known && most
	})
}

// spent is how long each phase of the Job took, and the tries that this is of: of a Job with several indexes those of
// the index that decided when it ended, which is named.
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

// decisiveIndex is a try of the index that made the Job end when it did: the one that failed it, or the last to end.
// Nil for a Job without several indexes, and for one whose end is not that of a try.
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

// lastSuccess is the try that succeeded last, before the Job had its pods stopped; nil for none.
func (c *Case) lastSuccess() (last *Try) {
	for _, t := range c.Tries {
		if t.Phase == events.PodSucceeded && !c.stopped(t) && (last == nil || t.end().Record > last.end().Record) {
			last = t
		}
	}
	return last
}

// lastIndex is a try of the index that ended last, of a Job with several; nil for none.
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

// lost is for how long tries ran that did not succeed, and which these are. Most says that it may be less.
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
