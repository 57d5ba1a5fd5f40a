package oracle

import (
	"fmt"
	mathbits "math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// GenerateSeconds returns the scenario that a seed determines, with short times. Deleted pods stop at once, or shortly
// before or after upstream syncs. Users act within the second for which upstream waits.
func GenerateSeconds(seed uint64) (Scenario, string) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x5ec))}
	f := families[seed%uint64(len(families))]
	f.make(g)
	g.quickStops()
	g.withinASecond()
	return g.Scenario, f.name + ", within a second"
}

// quickStops sets how long deleted pods take to stop: less than the second for which upstream waits, or more. They exit
// with 143 or 0.
func (g *generator) quickStops() {
	stop := g.pick("0s", "100ms", "300ms", "900ms", "1100ms", "3s", "25s")
	clean := ""
	if g.has("deny patch") || g.has("deny status") || g.has("die") || g.has("hold") && (stop == "3s" || stop == "25s") {
		// No clean exits here (exit code 0 after a deletion): upstream may sync before it has counted the failure
		// (J-255; see denials and restarts). Float64 keeps the sequence of random numbers as in the other case.
		g.Float64()
	} else if g.chance(0.7) {
		clean = " clean"
	}
	g.Nodes = "start=1s stop=" + stop + clean
}

// withinASecond adds actions of a user: each comes less than a second after a step that deletes pods. Not every such
// step gets one.
func (g *generator) withinASecond() {
	var steps []Step
	for i, step := range g.Steps {
		steps = append(steps, step)
		last := i+1 == len(g.Steps)
		if !slices.ContainsFunc(step.Deeds, deletes) || g.chance(0.5) || !last && g.Steps[i+1].Wait < slot {
			continue
		}
		after := time.Duration(1+g.IntN(9)) * 100 * time.Millisecond
		deed := g.pick(g.succeed(), g.fail(), g.edit(), g.kill(), g.kill())
		if strings.Contains(deed, " parallelism=") && g.atOnce() > alike && g.has("indexed") {
			deed = "edit a parallelism=0"
		}
		steps = append(steps, Step{Wait: after, Deeds: []string{deed}})
	}
	g.Steps = steps
}

// alike is the largest number of pods that look the same and whose order, by index, upstream's sort keeps. Of more
// pods it may pick any (see caps).
const alike = 12

// Differences that come from an action of a user within a second of another action. Upstream syncs one second after a
// pod changed, and at once when a user edits the Job. Jobledger decides at once, and gives each deleted pod a second of
// its own.
var (
	actsAtOnce = &Difference{
		Rule:     "J-015",
		Sentence: "A user acts within the second for which upstream waits. Ours has acted by then: it comes to the end to which upstream comes when the user acts a second later.",
	}
	oneAfterTheOther = &Difference{
		Rule: "J-022",
		Sentence: "Something else happens within the second for which a deleted pod may still end by itself. Upstream, which looks " +
			"then, has the second end; ours gives each pod its whole second. Were ours to wait no longer it would come to the same end, " +
			"or both come to one end where each has its second.",
	}
)

// stretches are two longer waits before an action of a user. In the first, upstream has time for a sync after pods
// changed; in the second, also for a sync after it has created pods then.
var stretches = []time.Duration{2100 * time.Millisecond, 5300 * time.Millisecond}

// deletes reports whether an action deletes pods.
func deletes(deed string) bool {
	return strings.HasPrefix(deed, "kill ") || strings.HasPrefix(deed, "force ")
}

// apart returns the scenario, changed so that each step that deletes a pod becomes several steps of one action each,
// without a wait between them.
func (s Scenario) apart() Scenario {
	apart := s
	apart.Steps = nil
	for _, step := range s.Steps {
		if len(step.Deeds) < 2 || !slices.ContainsFunc(step.Deeds, deletes) {
			apart.Steps = append(apart.Steps, step)
			continue
		}
		for i, deed := range step.Deeds {
			one := Step{Deeds: []string{deed}}
			if i == 0 {
				one.Wait = step.Wait
			}
			apart.Steps = append(apart.Steps, one)
		}
	}
	return apart
}

// hasty returns the numbers (indexes) of the steps that come less than a second after the step before.
func (s Scenario) hasty() (steps []int) {
	for n, step := range s.Steps {
		if n > 0 && step.Wait < time.Second {
			steps = append(steps, n)
		}
	}
	return steps
}

// stretched returns the scenario, changed so that wait comes before each of the given steps.
func (s Scenario) stretched(steps []int, wait time.Duration) Scenario {
	later := s
	later.Steps = slices.Clone(s.Steps)
	for _, n := range steps {
		later.Steps[n].Wait = wait
	}
	return later
}

// choices returns the possible selections of one or more of the steps. For at most manyHasty steps it returns all of
// them. For more steps it returns those that have one or two steps, and those that lack at most two. So the number of
// runs grows with the square of the number of steps, and not exponentially.
func choices(steps []int) (all [][]int) {
	for bits := 1; bits < 1<<len(steps); bits++ {
		n := mathbits.OnesCount(uint(bits))
		if len(steps) > manyHasty && n > 2 && n < len(steps)-2 {
			continue
		}
		var some []int
		for i, step := range steps {
			if bits&(1<<i) != 0 {
				some = append(some, step)
			}
		}
		all = append(all, some)
	}
	return all
}

// hurried returns the difference that explains actions within a second; nil if none does. The two controllers must
// reach the same final state if the user acts later, or if both decide at the same time.
func hurried(t *player, s Scenario, l lens, seed uint64) (*Difference, error) {
	apart := s.apart()
	steps := apart.hasty()
	if len(steps) == 0 {
		return nil, nil
	}
	mine, err := playOurs(s, l, seed)
	if err != nil {
		return nil, fmt.Errorf("ours: %w", err)
	}
	for _, wait := range stretches {
		for _, some := range choices(steps) {
			theirs, err := playUpstream(t, apart.stretched(some, wait), l, seed, wholly)
			if err != nil {
				return nil, fmt.Errorf("upstream: %w", err)
			}
			if left := diff(theirs, mine); left == "" || explained(s, left) != nil {
				return actsAtOnce, nil
			}
		}
	}
	if together, err := lookedTogether(t, s, l, seed); err != nil || together != nil {
		return together, err
	}
	if different, err := lookedApart(t, s, seed); err != nil || !different {
		return nil, err
	}
	for _, wait := range stretches {
		v, err := compare(t, apart.stretched(steps, wait), l, seed)
		if err != nil {
			return nil, err
		}
		if v.diff == "" || v.known != nil {
			return oneAfterTheOther, nil
		}
	}
	return nil, nil
}

// lookedApart reports whether the two controllers decided at different moments around an action that came within a
// second of another one: one controller wrote at a moment at which the other did not.
func lookedApart(t *player, s Scenario, seed uint64) (bool, error) {
	o, err := newOurs(s, seed)
	if err == nil {
		err = s.play(o)
	}
	if err != nil {
		return false, fmt.Errorf("ours: %w", err)
	}
	t.plays++
	mine, theirs := o.wrote(), []time.Duration(nil)
	synctest.Test(t.T, func(*testing.T) {
		err = inBubble(s, seed, wholly, nil, func(c *cluster) error {
			theirs = c.wrote()
			return nil
		})
	})
	if err != nil {
		return false, fmt.Errorf("upstream: %w", err)
	}
	at := time.Duration(0)
	for n, step := range s.apart().Steps {
		if at += step.Wait; n == 0 || step.Wait >= time.Second {
			continue
		}
		from, to := at-step.Wait, at+time.Second+hundredth
		if wroteAlone(mine, theirs, from, to) || wroteAlone(theirs, mine, from, to) {
			return true, nil
		}
	}
	return false, nil
}

// hundredth is the time within which two writes count as made at the same moment. A controller's work at one moment
// takes less, and two actions of a scenario are further apart.
const hundredth = 10 * time.Millisecond

// wrote returns the times of the controller's writes, counted from the start.
func (c *cluster) wrote() (at []time.Duration) {
	for _, w := range c.world.Server.Writes(0) {
		if w.Actor == c.actor {
			at = append(at, w.Time.Sub(world.Start))
		}
	}
	return at
}

// wroteAlone reports whether one controller wrote, between two times, at a moment at which the other did not.
func wroteAlone(one, other []time.Duration, from, to time.Duration) bool {
	return slices.ContainsFunc(one, func(at time.Duration) bool {
		near := func(o time.Duration) bool { return (o - at).Abs() <= hundredth }
		return at >= from && at <= to && !slices.ContainsFunc(other, near)
	})
}

// lookedTogether returns oneAfterTheOther if Jobledger reaches upstream's final state when it waits less for deleted
// pods, as long as upstream may wait here; nil if no such wait helps. Then the two controllers differ only in the
// moments at which they decide.
func lookedTogether(t *player, s Scenario, l lens, seed uint64) (*Difference, error) {
	var all []Picture
	for n := range uint64(2) {
		theirs, err := playUpstream(t, s, l, seed+n, s.manner(int(n)))
		if err != nil {
			return nil, fmt.Errorf("upstream: %w", err)
		}
		all = append(all, theirs)
	}
	for _, wait := range s.apart().shortWaits() {
		mine, err := playOursWaiting(s, l, seed, wait)
		if err != nil {
			return nil, fmt.Errorf("ours: %w", err)
		}
		for _, theirs := range all {
			if left := diff(theirs, mine); left == "" || explained(s, left) != nil {
				return oneAfterTheOther, nil
			}
		}
	}
	return nil, nil
}

// shortWaits returns how long upstream may wait after a deletion before the next action makes it sync. These are the
// times between actions that are less than a second apart. Each also comes with a millisecond added, so that the wait
// ends before or after the action.
func (s Scenario) shortWaits() (waits []time.Duration) {
	for n := range s.Steps {
		sum := time.Duration(0)
		for k := n; k > 0 && sum+s.Steps[k].Wait < time.Second; k-- {
			if sum += s.Steps[k].Wait; !slices.Contains(waits, sum) {
				waits = append(waits, sum, sum+time.Millisecond)
			}
		}
	}
	return waits
}

// manyHasty limits the runs of one scenario. For up to 6 hasty steps (less than a second after the step before), all
// combinations are tried; for more, only some (see choices): 6 steps have 63 choices, 7 have 57, and 16 have 273.
const manyHasty = 6
