package metrics

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// pod is the state of a pod that has ended, is being deleted, or matches a podFailurePolicy rule. For all other pods
// nothing is kept.
type pod struct {
	held    bool          // it has ended and has the tracking finalizer
	failed  bool          // it has failed
	leaving bool          // it is being deleted and has not ended
	dropped bool          // the API server removed the finalizer; an older observation may still show it
	action  policy.Action // action of the matching rule of the podFailurePolicy
}

// podSeen updates the state by an observation of a pod.
func (c *Consumer) podSeen(j *job, f *events.PodSeen) {
	c.settled(j, f.Ordinal)
	if !f.Tracked {
		c.finalizerRemoved(j, f.UID)
	}
	p := pod{
		held: f.Phase.Terminal() && f.Tracked && !j.observed, failed: f.Phase == events.PodFailed,
		leaving: f.Deleted != 0 && !f.Phase.Terminal(),
	}
	if j.pods[f.UID].dropped {
		p.held, p.dropped = false, true
	}
	if !f.Tracked {
		p.failed = false // without the finalizer it is not counted any more
	} else if j.seen() && f.Selected {
		if j.spec.policies != nil && f.Phase != events.PodSucceeded {
			p.action = j.spec.policies.Match(f, j.spec.perIndex).Action
		}
		if (p.failed && p.action != policy.Ignore) || (p.leaving && !j.spec.terminalOnly && !j.deleted) {
			j.failures = true
		}
	}
	c.podChanged(j, f.UID, p)
}

// podChanged stores the new state p of a pod, or drops it if it is zero, and updates the Job's counts.
func (c *Consumer) podChanged(j *job, uid types.UID, p pod) {
	was := j.pods[uid]
	if p == was {
		return
	}
	j.holding += toInt(p.held) - toInt(was.held)
	if p.held != was.held {
		c.held[uid] += toInt(p.held) - toInt(was.held)
	}
	j.leaving += toInt(p.leaving) - toInt(was.leaving)
	if p == (pod{}) {
		delete(j.pods, uid)
		return
	}
	if j.pods == nil {
		j.pods = map[types.UID]pod{}
	}
	j.pods[uid] = p
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// finalizerRemoved handles a pod that is seen without the finalizer, or whose object is gone. If we asked for the
// removal, it is counted now; the answer may come later. But if the removal was being retried after a refusal, no
// answer comes any more.
func (c *Consumer) finalizerRemoved(j *job, uid types.UID) {
	name, ours := j.drops[uid]
	if !ours {
		return
	}
	f := j.flights[name]
	c.released(j, f.command.(*events.DropFinalizer))
	if f.of == nil {
		c.land(j, name)
	}
}

// released counts a pod whose finalizer is gone, at our request (J-200, J-201), once.
func (c *Consumer) released(j *job, drop *events.DropFinalizer) {
	p := j.pods[drop.Pod]
	if p.dropped {
		return
	}
	if p.action != policy.NoMatch && !drop.ThenDelete && (p.failed || j.published.ending) && !j.gone {
		c.metrics.policyFailures.WithLabelValues(p.action.String()).Inc()
	}
	p.held, p.failed, p.dropped, p.action = false, false, true, policy.NoMatch
	c.podChanged(j, drop.Pod, p)
}
