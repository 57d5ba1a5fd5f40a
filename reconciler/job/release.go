package job

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler"
)

// releasePods removes the finalizers of pods that need none any more: the status stored by the server counts them, or
// they are never counted.
func (p *plan) releasePods() {
	j := p.job
	if j.ReleasedLen() == 0 {
		return
	}
	var commands []events.Command
	for pod := range j.Released() {
		if len(commands) == int(j.Settings.MaxPodsPerDecision) {
			break
		}
		drop := &events.DropFinalizer{Pod: pod.UID}
		if pod.Owner == "" {
			drop.Version = pod.Version // with this version the removal fails if a Job adopts the pod meanwhile
		}
		commands = append(commands, drop)
	}
	p.Step(reconciler.Accounted, fmt.Sprintf("nothing left to count of %s", pods(len(commands))), commands...)
}

// findOwner reads a Job that has not been seen, although pods with our finalizer name it as their owner.
func (p *plan) findOwner() {
	j := p.job
	if j.Reading() != nil || j.PodCount() == 0 || p.WakeAt(j.Writing().Until) {
		return
	}
	p.Step(reconciler.OwnerUnknown, "pods name a Job that has not been seen: look for it", &events.ReadJob{})
}
