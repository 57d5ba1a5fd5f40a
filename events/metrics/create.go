package metrics

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// create is the creation of a pod whose outcome is not known yet.
type create struct {
	reason  string           // value of the label reason
	doubted bool             // a try ended unknown, so a refusal does not end it
	newest  events.CommandID // the newest command for it
}

// creating adds the creation with this ordinal (its number within the Job), or its next try.
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

// inDoubt adds a creation by an earlier process whose outcome is unknown.
func (j *job) inDoubt(ordinal uint64) {
	known, ok := j.creates[ordinal]
	if !ok {
		j.creating(ordinal, events.CommandID{})
		known = j.creates[ordinal]
	}
	known.doubted = true
	j.creates[ordinal] = known
}

// creation returns the value of the label reason for a pod that is created now (J-203).
func (j *job) creation() string {
	switch {
	case j.seen() && j.spec.failedOnly && j.failures:
		return createFailed
	case j.failures || j.leaving > 0:
		return createTerminatingOrFails
	}
	return createNew
}

// createEnded counts a created pod or a refused create (J-203), and reports whether the command is over. A create that
// was never sent counts as neither. Of the refused creates of a Job only the first is retried; any other one is over.
func createEnded(c *Consumer, j *job, known *flight, _ types.UID, f *events.CommandEnded) bool {
	ordinal, _ := events.OrdinalOf(known.command)
	made, uncertain := j.creates[ordinal]
	stands := j.retrying == f.Command
	switch f.Ending {
	case events.Done:
		c.settled(j, ordinal)
	case events.Refused:
		if !uncertain {
			break // the pod was seen already, so the create has ended
		}
		// Count the refusal, unless this create is already being retried (Metrics.Refused counts its further refusals),
		// or was never sent because the template had changed
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

// settled counts the pod that the create with this ordinal has made. An answer and an observation both report that; the
// later one is ignored. If the create was being retried after a refusal, no answer follows, so its command is over.
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
