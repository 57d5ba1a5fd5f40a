package oracle

import (
	"fmt"
	"strings"
)

// families lists the kinds of scenarios. A seed has the family at index seed modulo the number of families: of nine
// families, seed 10 has the one at index 1.
var families = []struct {
	name string
	make func(*generator)
}{
	{"users", users},
	{"policies", policies},
	{"denials", denials},
	{"held watches", heldWatches},
	{"restarts", restarts},
	{"caps", caps},
	{"deadlines", deadlines},
	{"deletions", deletions},
	{"claims", claims},
}

// users builds scenarios in which users suspend, resume and scale a Job, and change its limits.
func users(g *generator) {
	mode := g.mode()
	g.kubelet()
	g.job("a", mode, g.limits(mode), g.replace(), g.pick("", "", "", "suspend=true"))
	g.create()
	g.deeds(3+g.IntN(6), append(g.work(), g.edit, g.edit, g.edit, g.kill)...)
}

// policies builds scenarios in which a Job has a policy for failures (by exit code, condition or index), or for
// successes by index.
func policies(g *generator) {
	mode := g.pick("indexed", "indexed", "plain")
	g.kubelet()
	limits, success := g.limits(mode), ""
	action := g.pick("FailJob", "Ignore", "Count")
	if mode == "indexed" && limits != "" && limits[0] == 'p' {
		action = g.pick("FailIndex", "FailIndex", action)
	}
	rule := g.pick(":In:3", ":NotIn:1", ":In:143", ":cond:DisruptionTarget", ":In@main:2")
	policy := "policy=" + action + rule
	if g.chance(0.3) {
		policy += "/" + g.pick("Ignore", "Count", "FailJob") + g.pick(":In:2", ":cond:DisruptionTarget")
	}
	if g.chance(0.25) {
		policy = ""
	}
	if mode == "indexed" && g.chance(0.5) {
		success = g.pick("success=count:1", "success=count:2", "success=indexes:0", "success=indexes:0-4+count:1")
	}
	g.job("a", mode, limits, policy, success)
	g.create()
	g.deeds(3+g.IntN(6), append(g.work(), g.fail, g.edit, g.kill)...)
}

// denials builds scenarios in which an admission policy refuses some requests of the controller, for a while or
// forever.
func denials(g *generator) {
	mode, verb, limits, edit := g.mode(), g.pick("create", "delete", "patch", "status"), "", g.scale
	g.kubelet()
	switch verb {
	case "patch":
	case "delete":
		// No limits, so that the Job does not fail: a failing Job is stored as failed before its pods are deleted
		// (J-079, J-080).
	default:
		limits, edit = g.limits(mode), g.edit
	}
	// No clean exits (with 0 after a deletion): Jobledger keeps counting such a pod as failed, even if it would
	// complete the Job (J-255).
	if verb == "patch" || verb == "status" {
		g.Nodes = strings.TrimSuffix(g.Nodes, " clean")
	}
	g.job("a", mode, limits, g.replace())
	deny := "deny " + verb
	switch {
	case verb == "status" || g.chance(0.5):
	case verb != "create":
		deny += " " + g.pod()
	case mode == "indexed":
		// Deny creates of index 0 only: pods of other indexes may be in creation then, as in
		// testdata/differ/one_create_refused.
		deny += " a:0"
	}
	deny += g.pick("", "", " error", " unavailable")
	if verb != "status" && g.chance(0.2) {
		g.then(0, deny)
	}
	g.create()
	g.deeds(1+g.IntN(3), append(g.work(), edit, g.kill)...)
	g.then(1, deny)
	// After a refused status write, only one step of actions may follow: Jobledger repeats the write later than
	// upstream (J-079), and no action may depend on when.
	if verb == "status" {
		g.deeds(1, append(g.work(), edit, edit, g.kill)...)
	} else {
		g.deeds(1+g.IntN(4), append(g.work(), edit, edit, g.kill)...)
	}
	if verb == "status" || g.chance(0.7) {
		g.then(g.gap(), "allow")
		g.deeds(g.IntN(4), append(g.work(), edit)...)
	}
}

// heldWatches builds scenarios in which the controller sees an old state for a while. Upstream does nothing for a Job
// until it sees its own writes, and Jobledger goes on; so in that time only the first action is about pods.
func heldWatches(g *generator) {
	mode := g.mode()
	g.kubelet()
	g.job("a", mode, g.limits(mode), g.replace())
	g.create()
	g.deeds(g.IntN(3), append(g.work(), g.edit)...)
	if g.chance(0.6) {
		g.then(g.gap(), "hold "+g.pick("pods", "jobs"))
		g.deeds(1, append(g.work(), g.kill)...)
		// No action on pods here: whether a pod that ended unseen is removed like a running one depends on details.
	} else {
		g.then(g.gap(), "hold "+g.pick("pods", "jobs"))
		g.deeds(1, g.edit)
	}
	g.then(1, "release")
	g.Steps = append(g.Steps, Step{Wait: 2 * slot, Deeds: []string{g.succeed()}})
	g.deeds(g.IntN(4), append(g.work(), g.edit)...)
}

// restarts builds scenarios in which the controller is killed at any of its requests, and started again. The two
// controllers may have made different requests by then, so no action on a pod may depend on them.
func restarts(g *generator) {
	mode := g.mode()
	g.kubelet()
	// No clean exits (with 0 after a deletion), because of J-255; see denials.
	g.Nodes = strings.TrimSuffix(g.Nodes, " clean")
	g.job("a", mode, g.limits(mode), g.replace())
	start := func() string { return g.pick("start", "start", "start lost") }
	if g.chance(0.3) {
		g.then(0, fmt.Sprintf("die %d", g.IntN(8)), "create a")
		g.then(1, start())
	} else {
		g.create()
	}
	for range 1 + g.IntN(3) {
		g.deeds(g.IntN(3), append(g.work(), g.edit, g.kill)...)
		if g.chance(0.5) {
			g.then(g.gap(), "die 0")
			g.deeds(1+g.IntN(3), append(g.work(), g.edit, g.edit, g.kill)...)
		} else {
			g.deeds(1, append(g.work(), g.edit, g.edit, g.kill)...)
			last := &g.Steps[len(g.Steps)-1]
			removes := strings.Contains(strings.Join(last.Deeds, ";"), "edit")
			last.Deeds = append([]string{fmt.Sprintf("die %d", 1+g.IntN(8))}, last.Deeds...)
			// If the step of the kill has an edit, pods may be half removed. What becomes of them depends on how far
			// the controller came, so do not edit the Job again.
			if !removes {
				g.deeds(g.IntN(2), g.edit)
			}
		}
		g.then(g.gap(), start())
		g.then(2, g.succeed())
	}
	g.deeds(g.IntN(4), append(g.work(), g.edit)...)
}

// caps builds scenarios with many pods. Some have more than fit into one status write or one sync.
func caps(g *generator) {
	g.kubelet()
	n := 12 + g.IntN(30)
	if g.chance(0.03) {
		n = 505 + g.IntN(30)
	}
	mode := g.pick("indexed", "plain")
	line := fmt.Sprintf("a completions=%d parallelism=%d", n+g.IntN(10), n)
	if mode == "indexed" {
		line += " indexed" + g.pick("", " perIndex=1")
	} else {
		line += fmt.Sprintf(" backoffLimit=%d", g.pickInt(0, 3, n/2, 6))
	}
	g.Jobs, g.shapes = []string{line}, []shape{{name: "a", indexed: mode == "indexed", parallelism: n, completions: n}}
	g.create()
	for range 1 + g.IntN(4) {
		fewer := "edit a parallelism=3"
		// Keep no pod: of more than twelve that look the same, upstream's sort may keep any three.
		if mode == "indexed" {
			fewer = "edit a parallelism=0"
		}
		g.then(g.gap(), g.pick("succeed a.*", "succeed a.*%2", "fail a.*%3", "fail a.*%7", "kill a.*", "kill a.*%5",
			"edit a suspend=true", "edit a suspend=false", fewer, g.succeed(), g.fail()))
	}
}

func (g *generator) pickInt(numbers ...int) int { return numbers[g.IntN(len(numbers))] }

// deadlines builds scenarios in which a deadline passes while pods run, wait or end.
func deadlines(g *generator) {
	mode := g.mode()
	g.kubelet()
	deadline := func() string { return fmt.Sprintf("deadline=%d", 70*g.IntN(8)+55) }
	g.job("a", mode, g.limits(mode), g.replace(), deadline())
	g.create()
	hurry := func() string { return "edit a " + g.pick(deadline(), deadline(), "deadline=none") }
	g.deeds(2+g.IntN(5), append(g.work(), g.edit, g.fail, hurry)...)
}

// deletions builds scenarios in which Jobs and pods are deleted in all ways, and their names are used again.
func deletions(g *generator) {
	mode := g.mode()
	g.kubelet()
	g.job("a", mode, g.limits(mode), g.replace())
	g.create()
	keep := func() string { return g.pick("keep ", "unkeep ", "strip ") + g.pod() }
	drop := func() string { return "delete a " + g.pick("background", "foreground", "orphan") }
	again := func() string { return "create a" }
	g.deeds(g.IntN(4), append(g.work(), keep, g.kill)...)
	g.then(g.gap(), drop())
	g.deeds(2+g.IntN(5), append(g.work(), again, again, g.kill, keep, g.edit, drop)...)
}

// ttls builds scenarios in which finished Jobs are deleted after their TTL. Users change TTLs and finish times, delete
// Jobs themselves and use their names again. The controller is killed, and for a while it may not delete Jobs. Each TTL
// ends in the middle of a slot (the unit of time, 70 s).
func ttls(g *generator) {
	g.Nodes = "start=1s stop=3s confirm=300ms"
	ttl := func() string {
		return g.pick("ttl=0", "ttl=35", "ttl=35", "ttl=105", "ttl=105", "ttl=315", "ttl=735", "ttl=none")
	}
	for _, name := range []string{"a", "b"}[:1+g.IntN(2)] {
		mode := g.pick("indexed", "plain", "plain")
		g.job(name, mode, g.pick("", "backoffLimit=0"), ttl())
	}
	g.create()
	any := func() string { return g.one().name }
	edit := func() string { return "edit " + any() + " " + ttl() }
	stamped := func() string { return "stamp " + any() + " " + g.pick("-300", "-20", "90", "390", "none") }
	all := func() string { return g.pick("succeed ", "succeed ", "fail ") + any() + ".*" }
	touch := func() string { return "touch " + any() }
	drop := func() string { return "delete " + any() + g.pick(" background", " foreground", " orphan") }
	again := func() string { return "create " + any() }
	g.deeds(3+g.IntN(4), all, all, edit, again)
	switch g.IntN(4) {
	case 0:
		g.then(g.gap(), "die 0")
		g.deeds(1+g.IntN(2), edit, stamped, touch, drop, again)
		g.then(g.gap(), "start")
	case 1:
		g.then(g.gap(), "deny remove"+g.pick("", " error", " unavailable"))
		g.deeds(1+g.IntN(3), edit, stamped, touch, all)
		g.then(g.gap(), "allow")
		// By now upstream (the built-in controller) has tried again, because it waits at most 1000 s.
		g.then(16, "touch a")
	}
	g.deeds(3+g.IntN(5), all, edit, stamped, touch, touch, drop, again, again)
}

// claims builds scenarios in which pods are orphaned, adopted, released and copied.
func claims(g *generator) {
	mode := g.mode()
	g.kubelet()
	g.job("a", mode, g.limits(mode), g.replace())
	g.create()
	claim := func() string {
		if g.chance(0.2) {
			text := "stray a"
			if s := g.one(); s.indexed && g.chance(0.7) {
				text += fmt.Sprintf(" %d", g.IntN(s.completions+1))
			}
			return text
		}
		return g.pick("orphan ", "relabel ", "restore ") + g.pod()
	}
	g.deeds(3+g.IntN(5), append(g.work(), claim, claim, claim, g.edit, g.kill)...)
}
