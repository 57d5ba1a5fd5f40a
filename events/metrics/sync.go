package metrics

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// sync is a decision with unanswered commands; open is their number. It counts as one sync of the built-in controller.
type sync struct {
	began  events.Time
	counts bool // false for a decision that does not count (J-197)
	open   int
	action string
	failed bool
}

// flight is a command in flight: decided, and not ended. It is kept here and not in package follow for two reasons: it
// leads to its decision, whose duration is counted at the last answer; and the commands in flight at the start come
// from the known state, without reading the log. A refused command may stay in flight and be retried; its decision was
// over with the first answer.
type flight struct {
	command events.Command
	of      *sync // the decision with the command; nil after the first answer, and for a decision of an earlier process
	givenUp bool  // a create that is no longer wanted; only the end of its current try is awaited
}

// decided adds the commands of a decision, and counts the decision at once if none of them needs an answer.
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

// launch adds a command that was decided and has not ended.
func (j *job) launch(name events.CommandID, f *flight) {
	if j.flights == nil {
		j.flights = map[events.CommandID]*flight{}
	}
	j.flights[name] = f
	if row := kindOf(f.command); row.launched != nil {
		row.launched(j, f.command, name)
	}
}

// land removes a command that has ended.
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

// withdrawn handles the decision to cancel the command with the ID name.
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

// commandEnded handles the recorded outcome of a command or of one try.
func (c *Consumer) commandEnded(j *job, rec *events.Record, f *events.CommandEnded) {
	known := j.flights[f.Command]
	if known == nil {
		return // an observation showed the result before the answer
	}
	c.answered(j, known, isError(f), rec.Time)
	if row := kindOf(known.command); row.ended == nil || row.ended(c, j, known, types.UID(rec.Stream.ID), f) {
		c.land(j, f.Command)
	}
}

// answered handles the first answer to a command. At the answer to the last command of a decision it counts the
// decision.
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

// synced counts a decision whose commands are all answered (J-196).
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

// isError reports whether an outcome makes the result of a sync an error. These refusals do not: the object to remove
// is already gone, the namespace is being deleted, the template has changed.
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

// action returns the value of the label action for a decision (J-196), which says what it did with pods; nil stands for
// a decision without commands.
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
