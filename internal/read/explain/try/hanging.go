package try

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
)

// StopsAt returns when the grace period of a deleted pod ends, by the API server's clock.
func (t *Try) StopsAt() events.Time {
	if t.Grace == nil {
		return t.Asked
	}
	return t.Asked.Add(time.Duration(min(*t.Grace, 1<<32)) * time.Second)
}

// kubeletSays are pod conditions that the kubelet is the first to set: if a pod has one, its kubelet knows the pod.
var kubeletSays = map[string]bool{
	"PodReadyToStartContainers": true, "Initialized": true, "Ready": true, "ContainersReady": true,
}

// hear sets t.Heard if record r shows that the kubelet has reported anything about the pod.
func (t *Try) hear(r *events.Record, f *events.PodSeen) {
	ofKubelet := func(c events.PodCondition) bool { return kubeletSays[c.Type] }
	t.Heard = t.Heard || f.Phase != events.PodPending && f.Phase != events.PodPhaseNone ||
		len(r.Evidence.Containers) > 0 ||
		t.Placed.Record != 0 && f.Waiting != "" && f.Waiting != "Unschedulable" && f.Waiting != "SchedulingGated" ||
		slices.ContainsFunc(f.Conditions, ofKubelet)
}
