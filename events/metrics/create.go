package metrics

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// create is a create of a pod with an outcome that is not known yet.
type create struct {
	reason  string           // value of the label reason
	doubted bool             // a try ended unknown, so a refusal does not end it
	newest  events.CommandID // the newest command for it
}

// creating records that a pod is to be created, and why.
func (j *job) creating(ordinal uint64, name events.CommandID) {
	if j.creates == nil {
		j.creates = map[uint64]create{}
	}
	known, again := j.creates[ordinal]
	if !again {
		known.reason = j.creation()
	}
	known.newest = name
	j.creates[ordinal] = known
}

// inDoubt records a create of the previous process, whose outcome is unknown.
func (j *job) inDoubt(ordinal uint64) {
	known, ok := j.creates[ordinal]
	if !ok {
		j.creating(ordinal, events.CommandID{})
		known = j.creates[ordinal]
	}
	known.doubted = true
	j.creates[ordinal] = known
}

// creation returns why a pod is created now (J-203).
func (j *job) creation() string {
	switch {
	case j.seen() && j.spec.failedOnly && j.failures:
		return createFailed
	case j.failures || j.leaving > 0:
		return createTerminatingOrFails
	}
	return createNew
}

// createEnded counts created pods and refused creates (J-203). A create that was never sent counts as neither. Of the
// refused creates of a Job only the first stays in flight and is retried; any other refused create ends.
func createEnded(c *Consumer, j *job, known *flight, _ types.UID, f *events.CommandEnded) bool {
	ordinal, _ := events.OrdinalOf(known.command)
	made, uncertain := j.creates[ordinal]
	stands := j.retrying == f.Command
	switch f.Ending {
	case events.Done:
		c.settled(j, ordinal)
	case events.Refused:
		if !uncertain {
			break // the pod was seen, so nothing is in flight
		}
		// Further refusals of the create in backoff are counted by Metrics.Refused
		if !stands && (f.Sent || f.Class != events.RefusedTemplate) {
			c.metrics.podsCreated.WithLabelValues(made.reason, failed).Inc()
		}
		if f.Class.Passing() && !known.givenUp && (stands || (!made.doubted && j.retrying == events.CommandID{})) {
			j.retrying = f.Command
			c.metrics.retrying.add(f.Command, made.reason)
			return false
		}
		if !made.doubted {
			delete(j.creates, ordinal)
		}
	case events.OutcomeUnknown:
		if uncertain {
			made.doubted = true
			j.creates[ordinal] = made
		}
	case events.Withdrawn:
		if !made.doubted {
			delete(j.creates, ordinal)
		}
	}
	return true
}

// settled records that the pod of an ordinal exists. An answer and an observation both report that; the later one is
// ignored. If the create was refused and in backoff, it is not retried, so no answer follows.
func (c *Consumer) settled(j *job, ordinal uint64) {
	known, ok := j.creates[ordinal]
	if !ok {
		return
	}
	delete(j.creates, ordinal)
	c.metrics.podsCreated.WithLabelValues(known.reason, succeeded).Inc()
	if f := j.flights[known.newest]; f != nil && f.of == nil {
		c.land(j, known.newest)
	}
}
