package oracle

import (
	"slices"
	"strings"
)

// mostPlays limits how often upstream runs while one scenario is made smaller, to about three minutes. A scenario in
// which users act within a second runs some 250 times before it counts as unexplained, and so does each smaller one;
// without the limit it took hours.
const mostPlays = 3000

// shrink removes parts of a failing scenario (steps, actions, waits, words of Jobs) as long as it still fails. It
// returns the smallest scenario that fails; or, as soon as spent returns true, the smallest one so far.
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

// smaller returns copies of a scenario with one part removed, those with the largest parts removed first.
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

// shorter returns copies of the line, each without one of its words. The first word always stays.
func shorter(line string) (out []string) {
	words := strings.Fields(line)
	for n := 1; n < len(words); n++ {
		out = append(out, strings.Join(slices.Delete(slices.Clone(words), n, n+1), " "))
	}
	return out
}
