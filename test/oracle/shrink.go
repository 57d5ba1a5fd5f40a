package oracle

import (
	"slices"
	"strings"
)

// mostPlays bounds how often upstream is played to make one scenario smaller: about three minutes. A scenario in which
// users act within a second is played some 250 times before it counts as unexplained, and so is each smaller one.
// Without the bound it took hours.
const mostPlays = 3000

// shrink leaves out parts of a scenario that it does not need to fail: steps, actions, waits, words of Jobs. It returns
// the smallest scenario, or the smallest so far once spent says that it is enough.
func shrink(s Scenario, fails func(Scenario) bool, spent func() bool) Scenario {
	for again := true; again; {
		again = false
		for _, smaller := range smaller(s) {
			if spent() {
				return s
			}
			if fails(smaller) {
				s, again = smaller, true
				break
			}
		}
	}
	return s
}

// smaller returns the scenarios with one thing left out, the biggest things first.
func smaller(s Scenario) []Scenario {
	var out []Scenario
	add := func(change func(*Scenario)) {
		less := Scenario{Nodes: s.Nodes, Jobs: slices.Clone(s.Jobs), CronJobs: slices.Clone(s.CronJobs)}
		for _, step := range s.Steps {
			less.Steps = append(less.Steps, Step{Wait: step.Wait, Deeds: slices.Clone(step.Deeds)})
		}
		change(&less)
		out = append(out, less)
	}
	for i, step := range s.Steps {
		add(func(s *Scenario) { s.Steps = slices.Delete(s.Steps, i, i+1) })
		if len(step.Deeds) > 1 {
			for n := range step.Deeds {
				add(func(s *Scenario) { s.Steps[i].Deeds = slices.Delete(s.Steps[i].Deeds, n, n+1) })
			}
		}
		for n, deed := range step.Deeds {
			for w, word := range strings.Fields(deed) {
				if strings.Contains(word, "=") && len(strings.Fields(deed)) > 2 {
					add(func(s *Scenario) {
						words := strings.Fields(deed)
						s.Steps[i].Deeds[n] = strings.Join(slices.Delete(words, w, w+1), " ")
					})
				}
			}
		}
		if step.Wait > slot {
			add(func(s *Scenario) { s.Steps[i].Wait = slot })
		}
	}
	for i, line := range s.Jobs {
		for _, shorter := range shorter(line) {
			add(func(s *Scenario) { s.Jobs[i] = shorter })
		}
	}
	for i, line := range s.CronJobs {
		for _, shorter := range shorter(line) {
			add(func(s *Scenario) { s.CronJobs[i] = shorter })
		}
	}
	if s.Nodes != "" {
		add(func(s *Scenario) { s.Nodes = "" })
	}
	return out
}

// shorter returns the lines with one word left out, but never the first.
func shorter(line string) (out []string) {
	words := strings.Fields(line)
	for n := 1; n < len(words); n++ {
		out = append(out, strings.Join(slices.Delete(slices.Clone(words), n, n+1), " "))
	}
	return out
}
