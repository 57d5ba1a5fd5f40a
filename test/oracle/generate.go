package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Generate returns the scenario that a seed determines, and the name of its family (kind of scenario).
func Generate(seed uint64) (Scenario, string) {
	r := rand.New(rand.NewPCG(seed, 0x0facade))
	f := families[seed%uint64(len(families))]
	g := &generator{Rand: r}
	f.make(g)
	return g.Scenario, f.name
}

// GenerateTTL returns the scenario, with Jobs that have TTLs, that a seed determines.
func GenerateTTL(seed uint64) (Scenario, string) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x771))}
	ttls(g)
	return g.Scenario, "ttls"
}

// generator builds a random scenario.
type generator struct {
	*rand.Rand
	Scenario
	shapes []shape // what is known of the Jobs
}

// shape is what the generator knows of a Job, to choose actions that fit it.
type shape struct {
	name                     string
	indexed, queue           bool
	parallelism, completions int
}

func (g *generator) chance(p float64) bool { return g.Float64() < p }

func (g *generator) pick(words ...string) string { return words[g.IntN(len(words))] }

// job adds to the scenario a Job that the words describe, with a random number of pods.
func (g *generator) job(name string, mode string, words ...string) {
	s := shape{name: name, indexed: mode == "indexed", queue: mode == "queue", parallelism: 1 + g.IntN(4), completions: 1 + g.IntN(5)}
	line := []string{name}
	if s.indexed {
		line = append(line, "indexed")
	}
	if !s.queue {
		line = append(line, fmt.Sprintf("completions=%d", s.completions))
	}
	line = append(line, fmt.Sprintf("parallelism=%d", s.parallelism))
	for _, word := range words {
		if word != "" {
			line = append(line, word)
		}
	}
	g.Jobs, g.shapes = append(g.Jobs, strings.Join(line, " ")), append(g.shapes, s)
}

// mode returns one of three kinds of Jobs at random: Indexed, with completions, or a work queue.
func (g *generator) mode() string { return g.pick("indexed", "indexed", "plain", "plain", "queue") }

// limits returns random words that say how often pods may fail.
func (g *generator) limits(mode string) string {
	switch {
	case mode == "indexed" && g.chance(0.4):
		word := fmt.Sprintf("perIndex=%d", g.IntN(3))
		if g.chance(0.4) {
			word += fmt.Sprintf(" maxFailed=%d", g.IntN(2))
		}
		if g.chance(0.3) {
			word += fmt.Sprintf(" backoffLimit=%d", g.IntN(4))
		}
		return word
	case g.chance(0.5):
		return fmt.Sprintf("backoffLimit=%d", g.IntN(4))
	}
	return ""
}

// replace returns a random podReplacementPolicy, as a word of a scenario.
func (g *generator) replace() string {
	return g.pick("", "", "replace=Failed", "replace=TerminatingOrFailed")
}

// kubelet sets at random how long pods take to start and to stop.
func (g *generator) kubelet() {
	g.Nodes = g.pick("", "start=1s stop=3s confirm=300ms", "start=1s stop=25s", "start=5s stop=3s clean", "start=1s stop=90s")
}

// then adds a step with these actions (deeds). It comes wait slots (of 70 s each) after the step before.
func (g *generator) then(wait int, deeds ...string) {
	g.Steps = append(g.Steps, Step{Wait: time.Duration(wait) * slot, Deeds: deeds})
}

// gap returns a random number of slots to wait: mostly one, sometimes more than any backoff takes.
func (g *generator) gap() int {
	if g.chance(0.15) {
		return 2 + g.IntN(10)
	}
	return 1
}

// create adds a step that creates all Jobs.
func (g *generator) create() {
	var deeds []string
	for _, s := range g.shapes {
		deeds = append(deeds, "create "+s.name)
	}
	g.then(0, deeds...)
}

// deeds adds n steps. Each has one or two actions, from random ones of the functions.
func (g *generator) deeds(n int, each ...func() string) {
	for range n {
		step := []string{each[g.IntN(len(each))]()}
		if second := each[g.IntN(len(each))](); g.chance(0.3) && !alone(step[0], second) {
			step = append(step, second)
		}
		g.then(g.gap(), step...)
	}
}

// alone reports whether two actions must be in different steps. If two edits come at once, a controller may see both
// or only the last. A pod that is adopted after it, or its index, has ended shows a known difference (J-177, J-071).
func alone(one, other string) bool {
	edits := strings.HasPrefix(one, "edit") && strings.HasPrefix(other, "edit")
	claims := func(deed string) bool { return strings.HasPrefix(deed, "restore") || strings.HasPrefix(deed, "stray") }
	return edits || claims(one) || claims(other)
}

// one picks one of the Jobs.
func (g *generator) one() shape { return g.shapes[g.IntN(len(g.shapes))] }

// pod returns a random reference to a pod: by index, by age, or only by its Job.
func (g *generator) pod() string {
	s := g.one()
	switch {
	case s.indexed && g.chance(0.8):
		return fmt.Sprintf("%s:%d", s.name, g.IntN(s.completions))
	case g.chance(0.6):
		return s.name
	}
	return fmt.Sprintf("%s.%d", s.name, g.IntN(max(1, s.parallelism)))
}

func (g *generator) succeed() string { return "succeed " + g.pod() }

func (g *generator) fail() string {
	text := "fail " + g.pod()
	if g.chance(0.5) {
		text += " exit=" + g.pick("1", "2", "3", "143")
	}
	if g.chance(0.15) {
		text += " cond=DisruptionTarget"
	}
	return text
}

func (g *generator) kill() string { return g.pick("kill ", "kill ", "force ") + g.pod() }

// scale returns a random edit of a Job that does not change backoffLimit.
func (g *generator) scale() string {
	for {
		if text := g.edit(); !strings.Contains(text, "backoffLimit=") {
			return text
		}
	}
}

// edit returns a random change of a Job's spec.
func (g *generator) edit() string {
	s := g.one()
	text := "edit " + s.name + " "
	switch g.IntN(6) {
	case 0:
		return text + "suspend=true"
	case 1:
		return text + "suspend=false"
	case 2:
		return text + fmt.Sprintf("parallelism=%d", g.IntN(6))
	case 3:
		if s.indexed {
			n := 1 + g.IntN(s.completions+2)
			return text + fmt.Sprintf("completions=%d parallelism=%d", n, n)
		}
	case 4:
		return text + fmt.Sprintf("backoffLimit=%d", g.IntN(4))
	}
	return text + g.pick("suspend=true", "suspend=false")
}

// work returns the actions that end pods as if their containers had ended.
func (g *generator) work() []func() string { return []func() string{g.succeed, g.fail, g.succeed} }
