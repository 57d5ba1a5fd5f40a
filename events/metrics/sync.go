package metrics

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// sync is a decision with commands that have not all been answered.
type sync struct {
	began  events.Time
	counts bool // it is one by J-197
	open   int
	action string
	failed bool
}

// flight is a command that has not ended. It is kept here, not by package follow, because it leads to its decision,
// whose duration is counted when the last of its commands is answered, and because metrics begin with a projection:
// commands that were decided before it must be known without reading the log. One that was refused may stand, and be
// asked again: its decision was over with the first answer.
type flight struct {
	command events.Command
	of      *sync // nil once there was an answer, and when it was decided before this process started
	givenUp bool  // a create that is no longer wanted: how its newest try ended is awaited
}

// decided takes a decision with commands.
func (c *Consumer) decided(j *job, rec *events.Record, d *events.Decision) {
	j.decided = true
	s := &sync{began: rec.Time, counts: j.counts(), action: j.action(d)}
	for place, command := range d.Commands() {
		if w, ok := command.(*events.Withdraw); ok {
			c.withdrawn(j, w.Command, rec.Time)
			continue
		}
		s.open++
		j.launch(events.CommandID{Decided: rec.Sequence, Place: uint32(place)}, &flight{command: command, of: s})
	}
	if s.open == 0 {
		c.synced(j, s, rec.Time)
	}
}

// launch notes a command in flight.
func (j *job) launch(name events.CommandID, f *flight) {
	if j.flights == nil {
		j.flights = map[events.CommandID]*flight{}
	}
	j.flights[name] = f
	if row := kindOf(f.command); row.launched != nil {
		row.launched(j, f.command, name)
	}
}

// land ends a command.
func (c *Consumer) land(j *job, name events.CommandID) {
	f := j.flights[name]
	if f == nil {
		return
	}
	delete(j.flights, name)
	if j.retrying == name {
		j.retrying = events.CommandID{}
		c.metrics.retrying.remove(name)
	}
	if drop, ok := f.command.(*events.DropFinalizer); ok && j.drops[drop.Pod] == name {
		delete(j.drops, drop.Pod)
	}
}

// withdrawn takes the recorded decision to give a command up.
func (c *Consumer) withdrawn(j *job, name events.CommandID, now events.Time) {
	f := j.flights[name]
	if f == nil {
		return
	}
	c.answered(j, f, false, now)
	if _, create := f.command.(*events.CreatePod); create {
		f.givenUp = true
		return
	}
	c.land(j, name)
}

// commandEnded takes how a command ended, or a try of it.
func (c *Consumer) commandEnded(j *job, rec *events.Record, f *events.CommandEnded) {
	known := j.flights[f.Command]
	if known == nil {
		return // it was overtaken by what was seen
	}
	c.answered(j, known, isError(f), rec.Time)
	if row := kindOf(known.command); row.ended == nil || row.ended(c, j, known, types.UID(rec.Stream.ID), f) {
		c.land(j, f.Command)
	}
}

// answered takes that a command was answered, and counts its decision when that was the last of its commands.
func (c *Consumer) answered(j *job, f *flight, failed bool, now events.Time) {
	s := f.of
	if s == nil {
		return
	}
	f.of = nil
	s.failed = s.failed || failed
	if s.open--; s.open == 0 {
		c.synced(j, s, now)
	}
}

// synced counts a decision that is over (J-196).
func (c *Consumer) synced(j *job, s *sync, now events.Time) {
	if !s.counts {
		return
	}
	result := resultSuccess
	if s.failed {
		result = resultError
	}
	took := time.Duration(now - s.began)
	c.metrics.syncs.WithLabelValues(j.mode(), result, s.action).Inc()
	c.metrics.syncSeconds.WithLabelValues(j.mode(), result, s.action).Observe(took.Seconds())
}

// isError reports whether an ending makes a sync one of result error: not that what is to be removed is gone already,
// nor that the namespace is, nor that we changed our mind because the template did.
func isError(f *events.CommandEnded) bool {
	switch f.Ending {
	case events.OutcomeUnknown:
		return true
	case events.Refused:
		return f.Class != events.RefusedNotFound && f.Class != events.RefusedNamespaceTerminating && f.Class != events.RefusedTemplate
	default:
		return false
	}
}

// action is what a decision did about pods (J-196); nil stands for one that asked for nothing.
func (j *job) action(d *events.Decision) string {
	ends := j.published.ending || j.deleted
	if d != nil {
		for _, command := range d.Commands() {
			row := kindOf(command)
			if row.action == nil {
				continue
			}
			var action string
			if action, ends = row.action(command, ends); action != "" {
				return action
			}
		}
	}
	switch {
	case ends:
		return actionReconciling
	case j.seen() && j.spec.suspend:
		return actionDeleted
	}
	return actionTracking
}
