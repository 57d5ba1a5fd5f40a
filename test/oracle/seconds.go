package oracle

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// GenerateSeconds is the scenario of a seed in which pods that are deleted stop at once, or just before or after upstream looks, and in
// which users act within the second for which upstream waits.
func GenerateSeconds(seed uint64) (Scenario, string) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x5ec))}
	f := families[seed%uint64(len(families))]
	f.make(g)
	g.quickStops()
	g.withinASecond()
	return g.Scenario, f.name + ", within a second"
}

// quickStops has pods stop within upstream's second, or after it, with 143 or with 0.
func (g *generator) quickStops() {
	stop := g.pick("0s", "100ms", "300ms", "900ms", "1100ms", "3s", "25s")
	clean := ""
	if !g.has("deny patch") && !g.has("deny status") && !g.has("die") && g.chance(0.7) { // J-255, as in denials and restarts
		clean = " clean"
	}
	g.Nodes = "start=1s stop=" + stop + clean
}

// withinASecond has users do another thing less than a second after some steps in which pods are deleted.
func (g *generator) withinASecond() {
	var steps []Step
	for i, step := range g.Steps {
		steps = append(steps, step)
		deletes := slices.ContainsFunc(step.Deeds, func(deed string) bool {
			return strings.HasPrefix(deed, "kill ") || strings.HasPrefix(deed, "force ")
		})
		last := i+1 == len(g.Steps)
		if !deletes || g.chance(0.5) || !last && g.Steps[i+1].Wait < slot {
			continue
		}
		after := time.Duration(1+g.IntN(9)) * 100 * time.Millisecond
		deed := g.pick(g.succeed(), g.fail(), g.edit(), g.kill(), g.kill())
		steps = append(steps, Step{Wait: after, Deeds: []string{deed}})
	}
	g.Steps = steps
}
