package invariants

import (
	"errors"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// Settled returns an error for work that the controller left undone. Call it only when nothing more happens by itself:
// every event has been delivered, nothing is due, and the controller has nothing to do. Call [Checker.Check] before it.
func (c *Checker) Settled() error {
	c.found = nil
	version := c.cfg.Server.Version()
	for _, j := range c.sortedJobs() {
		if j.gone || !c.cfg.Manages(j.now) {
			continue
		}
		c.settledJob(version, j)
	}
	for _, p := range c.sortedPods() {
		c.settledPod(version, p)
	}
	return errors.Join(c.joined(), c.settledCrons())
}

// settledJob checks that a Job that can finish has finished, and that the status of an unfinished Job is correct.
func (c *Checker) settledJob(version uint64, j *job) {
	live, terminating := int32(0), int32(0)
	for _, p := range j.sortedPods() {
		switch {
		case !p.owned(j):
		case p.live():
			live++
		case !apiserver.PodTerminal(p.now):
			terminating++
		}
	}
	s, spec := &j.now.Status, &j.now.Spec
	if j.finisher != "" {
		c.settledExpired(version, j)
		return // the status of a finished Job was checked when it was written
	}
	paused := spec.Suspend != nil && *spec.Suspend || spec.Parallelism != nil && *spec.Parallelism == 0
	if live+terminating == 0 && !paused && j.now.DeletionTimestamp == nil {
		c.report("design §2, invariant 6, nothing is forgotten", version, j, nil, "unfinished, without pods, and nothing is going to happen")
	}
	if s.Active != live || s.Terminating != nil && *s.Terminating != terminating {
		c.report("J-026, J-028", version, j, nil, "status says %d active, %v terminating; there are %d and %d", s.Active, deref(s.Terminating), live, terminating)
	}
	if u := lists(j.now); len(u.Succeeded)+len(u.Failed) > 0 && j.now.DeletionTimestamp == nil {
		c.report("J-085", version, j, nil, "%d pods stay in the uncounted lists", len(u.Succeeded)+len(u.Failed))
	}
	if suspended := spec.Suspend != nil && *spec.Suspend; suspended && !isTrue(j.now, batchv1.JobSuspended) && j.now.DeletionTimestamp == nil {
		c.report("J-148", version, j, nil, "suspended without the condition")
	}
}

// settledPod checks that no pod keeps a finalizer that is no longer needed (J-102), and that every pod that was to be
// deleted is gone.
func (c *Checker) settledPod(version uint64, p *pod) {
	if p.gone {
		return
	}
	// If the pod lost its owner, for example with its Job, it belongs to the user, and need not be deleted.
	orphaned := p.job != nil && apiserver.ControllerOf(p.now) != p.job.uid
	if p.surplus && !p.deleteSent && !orphaned && !apiserver.PodTerminal(p.now) {
		c.report("J-073", version, p.job, p, "the finalizer was dropped uncounted, and the pod never deleted")
	}
	if apiserver.ControllerOf(p.now) == "" && p.now.DeletionTimestamp == nil {
		for _, j := range c.sortedJobs() {
			if c.cfg.Manages(j.now) && j.goesOn() && j.key.Namespace == p.key.Namespace && apiserver.Selects(j.now, p.now.Labels) {
				c.report("J-175", version, j, p, "nobody owns it, and the Job that selects it has not adopted it")
			}
		}
	}
	j := c.jobs[apiserver.ControllerOf(p.now)]
	if j != nil && c.cfg.Manages(j.now) && j.goesOn() && !apiserver.Selects(j.now, p.now.Labels) {
		c.report("J-174", version, j, p, "it is not released, though the selector does not match its labels")
	}
	if !p.tracked {
		return
	}
	switch {
	case j == nil || j.gone:
		c.report("J-100, J-102", version, j, p, "it keeps the finalizer, and its Job is gone")
	case !c.cfg.Manages(j.now):
	case j.now.DeletionTimestamp != nil && p.now.DeletionTimestamp != nil:
		c.report("J-011, J-102", version, j, p, "it keeps the finalizer, and holds up the deletion of its Job")
	case apiserver.JobFinished(j.now):
		c.report("J-100", version, j, p, "it keeps the finalizer, and its Job is finished")
	case apiserver.PodTerminal(p.now) && p.owned(j) && j.now.Spec.BackoffLimitPerIndex == nil:
		c.report("J-090", version, j, p, "it ended, and keeps the finalizer")
	}
}

// goesOn reports whether the Job is unfinished and not being deleted, so that it still adopts and releases pods.
func (j *job) goesOn() bool {
	return !j.gone && j.now.DeletionTimestamp == nil && !apiserver.JobFinished(j.now)
}

func (c *Checker) sortedJobs() []*job {
	return slices.SortedFunc(maps.Values(c.jobs), func(a, b *job) int { return compareUIDs(a.uid, b.uid) })
}

func (c *Checker) sortedPods() []*pod {
	return slices.SortedFunc(maps.Values(c.pods), func(a, b *pod) int { return compareUIDs(a.uid, b.uid) })
}

func compareUIDs(a, b types.UID) int {
	if a < b {
		return -1
	}
	return 1
}

func deref(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}
