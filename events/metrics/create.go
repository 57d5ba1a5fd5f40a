package metrics

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// create is a create that may or may not have made its pod.
type create struct {
	reason  string           // the label of that name
	doubted bool             // a try ended unknown: a refusal does not end it
	newest  events.CommandID // that asked for it
}

// creating notes that a pod is asked for, and why.
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

// inDoubt notes that a pod was asked for by the process before, which does not know what came of it.
func (j *job) inDoubt(ordinal uint64) {
	known, ok := j.creates[ordinal]
	if !ok {
		j.creating(ordinal, events.CommandID{})
		known = j.creates[ordinal]
	}
	known.doubted = true
	j.creates[ordinal] = known
}

// creation is why a pod is created now (J-203).
func (j *job) creation() string {
	switch {
	case j.seen() && j.spec.failedOnly && j.failures:
		return createFailed
	case j.failures || j.leaving > 0:
		return createTerminatingOrFails
	}
	return createNew
}

// createEnded counts pods that were created, and creations that were refused (J-203). What was never sent is neither.
// The first of a Job's creates that is refused stands for all, and is not over; any other frees its slot.
func createEnded(c *Consumer, j *job, known *flight, _ types.UID, f *events.CommandEnded) bool {
	ordinal, _ := events.OrdinalOf(known.command)
	made, uncertain := j.creates[ordinal]
	stands := j.retrying == f.Command
	switch f.Ending {
	case events.Done:
		c.settled(j, ordinal)
	case events.Refused:
		if !uncertain {
			break // its pod was seen, so nothing stands
		}
		if !stands && (f.Sent || f.Class != events.RefusedTemplate) { // of one that stands each try was counted: Refused
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

// settled takes that the pod of an ordinal is certain: created by an answer, or seen. The second to come is no news. A
// create that stood refused is not asked for again, so no answer is to come.
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
