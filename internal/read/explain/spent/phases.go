package spent

import (
	"cmp"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// Phase is what a Job spends its time on, such as running or backoff.
type Phase int

// The phases of a Job. If several apply at the same moment, the first in this list counts.
const (
	PhaseUnwatched Phase = iota
	phaseSuspended
	PhaseRunning
	PhaseStopping
	PhaseStarting
	PhaseScheduling
	phaseNoneWanted
	phaseRefused
	phaseLacking
	PhaseCreating
	phaseConcluding
	PhaseBackoff
	phaseUnseen
	phaseBefore
	phaseDeciding
	phaseAfter
	phases
)

var PhaseNames = [phases]string{
	"not watched", "suspended", "running", "stopping", "starting", "scheduling", "parallelism 0", "creates refused",
	"no pod came", "creating",
	"concluding", "backoff", "not seen yet", "before the first pod", "between two pods", "after the last pod",
}

// inOrder has the phases in the order in which a Job with one pod goes through them.
var inOrder = [phases]Phase{
	phaseUnseen, PhaseUnwatched, phaseSuspended, phaseNoneWanted, phaseBefore, phaseRefused, phaseLacking, PhaseCreating,
	PhaseScheduling, PhaseStarting, PhaseRunning, PhaseStopping, PhaseBackoff, phaseDeciding, phaseAfter, phaseConcluding,
}

// Stretch is a period in one phase.
type Stretch struct {
	Phase    Phase
	From, To events.Time
}

// Stretches returns the periods of try t (a pod), one for each phase that it went through, up to until. Times are by
// our clock if the beginnings were seen.
func Stretches(t *try.Try, until events.Time) []Stretch {
	var out []Stretch
	add := func(p Phase, from, to events.Time) events.Time {
		if from != 0 && to > from {
			out = append(out, Stretch{p, from, to})
		}
		return max(from, to)
	}
	end := until
	if t.Over() {
		end = t.End().At
	}
	add(PhaseCreating, t.Ordered.At, t.Seen.At)
	at := t.Seen.At
	started := t.Started.At
	if started == 0 && t.Ended.Record != 0 {
		if started = min(t.Ended.At, max(t.Placed.At, t.Began())); t.Began() == 0 {
			started = 0 // the pod ended without a known start: it never ran
		}
	}
	placed := t.Placed.At
	if started != 0 {
		placed = min(cmp.Or(placed, started), started)
	}
	placed = cmp.Or(placed, end)
	at = add(PhaseScheduling, at, min(placed, end))
	if started == 0 {
		started = end
	}
	at = add(PhaseStarting, at, min(started, end))
	stop := end
	if t.AskedSeen.Record != 0 && t.AskedSeen.At < end {
		stop = t.AskedSeen.At
	}
	at = add(PhaseRunning, at, stop)
	add(PhaseStopping, at, end)
	return out
}

// sweep divides the time between from and to among the phases, and returns the time of each. all has the periods. While
// several periods overlap, the time goes to the phase that is first in the list of phases.
func sweep(all []Stretch, from, to events.Time) [phases]time.Duration {
	var total [phases]time.Duration
	points := []events.Time{from, to}
	for _, s := range all {
		points = append(points, s.From, s.To)
	}
	slices.Sort(points)
	points = slices.Compact(points)
	// For each phase, open counts the periods at the current point. The points are visited in the order of time.
	begins, ends := slices.Clone(all), slices.Clone(all)
	slices.SortFunc(begins, func(a, b Stretch) int { return cmp.Compare(a.From, b.From) })
	slices.SortFunc(ends, func(a, b Stretch) int { return cmp.Compare(a.To, b.To) })
	var open [phases]int
	for i, at := range points[:max(len(points)-1, 0)] {
		for len(begins) > 0 && begins[0].From <= at {
			open[begins[0].Phase]++
			begins = begins[1:]
		}
		for len(ends) > 0 && ends[0].To <= at {
			open[ends[0].Phase]--
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
