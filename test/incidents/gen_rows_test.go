package incidents

import (
	"fmt"
	"slices"
	"strings"
)

// row is a situation that can be staged.
type row struct {
	cause, shape, phase string
	namespace           string // does not hint at the cause, because answers name it
	stage               func(*situation)
	unwatched           bool // Jobledger is killed or stopped meanwhile, so no other row may run
	kept                bool // its log is kept in testdata
}

func (r *row) name() string { return r.cause + "-" + r.shape + "-" + r.phase }

// rows returns all situations: each cause with its possible shapes and phases.
func rows() (all []row) {
	for _, c := range slices.Concat(podCauses, kubeletCauses) {
		for _, phase := range strings.Fields(c.phases) {
			for _, sh := range shapes {
				if c.fits(sh, phase) {
					all = append(all, podRow(c, sh, phase))
				}
			}
		}
	}
	all = append(all, stuckRows()...)
	for _, c := range jobCauses {
		all = append(all, jobRow(&c))
	}
	all = append(all, cronRows()...)
	for _, c := range outageCauses {
		killed, frozen := jobRow(&c), jobRow(&c)
		killed.cause, frozen.cause, killed.unwatched, frozen.unwatched = "killed"+c.name, "frozen"+c.name, true, true
		all = append(all, killed, frozen)
	}
	for i := range all {
		all[i].namespace = fmt.Sprintf("team-%03d", i)
		all[i].kept = slices.Contains(keptRows, all[i].name())
	}
	return all
}

// jobRow returns the situation of an action on a Job.
func jobRow(c *jobCause) row {
	return row{cause: c.name, shape: c.shape, phase: c.phase, stage: func(s *situation) {
		s.told.Did, s.told.True = c.did, strings.Fields(c.may)
		s.submit(append([]option{limit(3), stopsAfter("1s")}, c.options...)...)
		for _, w := range c.says {
			s.says(w)
		}
		c.stage(s)
	}}
}

// inPhase are the shapes for an action in a phase. While the pod runs, all shapes are used.
var inPhase = map[string]string{
	"pending": "limit0 limit3", "last": "limit1", "first": "limit1", "deleting": "limit0 limit3", "after": "limit0",
}

// fits leaves out rows that cannot be staged or would repeat another row. If the program ends, its container may be
// restarted in the pod. Rules about disruptions do not matter for pods without a disruption. Rules about exit codes do
// not matter for pods that end without one.
func (c *podCause) fits(sh shape, phase string) bool {
	if names, few := inPhase[phase]; few {
		return slices.Contains(strings.Fields(names), sh.name)
	}
	switch {
	case sh.name == "limit1", c.name == "delete5" && sh.name != "limit0", c.lives && sh.name != "limit0":
		return false
	case sh.restarts:
		return len(c.exits) == 0
	case sh.disrupted:
		return !c.program()
	case sh.coded:
		return c.stops || len(c.exits) > 0
	}
	return true
}

// program reports whether only the container ends, without a reason of the pod.
func (c *podCause) program() bool {
	return slices.Contains([]string{"oom", "killed", "exit", "unknown", "storage", "poddeadline"}, c.name)
}

// keptRows are the situations in testdata, in both modes.
var keptRows = []string{
	"delete-limit0-running", "force-limit0-running", "force-limit0-deleting", "evict-limit0-running", "evict-ignore-running", "evict-success-running",
	"evict-limit1-last", "taint-limit0-running", "preempt-limit0-running", "nodegone-limit0-running", "nodeback-limit0-running",
	"pressure-count-running", "shutdown-faildisrupted-running", "storage-limit1-last", "poddeadline-limit1-last", "oom-perindex-running",
	"exit-failcode-running", "outofcpu-limit0-pending",
	"quota-limit3-lifted", "podsecurity-limit3-deadline", "secret-limit3-deadline", "pull-limit3-lifted", "cpu-limit3-deadline", "gate-limit3-stuck",
	"gate-limit3-deadline", "sidecar-limit3-stuck", "sidecar-limit3-deadline",
	"noparallel-limit3-stuck", "suspend-queue-running", "scale-parallel-down", "ttl-failed-after", "namespace-parallel-running", "two-limit1-last",
	"maxfailed-indexed-running", "taint-limit0-deleting", "nodegone-limit0-deleting", "suspendmade-limit3-deleted",
	"replace-replace-running", "history-failed-after", "crondeleted-background-running",
}
