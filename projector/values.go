package projector

import (
	"time"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// value is a part of a Job's state with invariants of its own. It handles changes of our clock and its own encoding, so
// that a new field of the state changes only the value that has it.
type value interface {
	// shift adds a clock step to the times that our clock gave. It leaves times that the API server's clock gave.
	shift(step time.Duration)
	// toWire adds the value's fields to the Job's encoded state, and its texts to names. fromWire restores them; r
	// gives the texts back in the order in which toWire added them.
	toWire(s *pb.JobState, names *pb.StateNames)
	fromWire(s *pb.JobState, r *stateReader)
}

// values returns the parts of the Job in the order in which they are encoded: their texts are in one list.
func (j *Job) values() [3]value { return [...]value{&j.published, &j.waits, &j.Tries} }

// shift adds a clock step to all waits of the Job, so that what has passed of each wait stays the same.
func (j *Job) shift(step time.Duration) {
	for _, v := range j.values() {
		v.shift(step)
	}
	j.book.Shift(step)
	for _, r := range j.claims {
		r.Shift(step)
	}
	j.Confirmed = 0
	for _, c := range j.creates {
		c.Sent = c.Sent.Add(step)
	}
	for _, p := range j.Pods() { // in a fixed order: each pod goes into the queue of pods to store
		j.changed(p)
		p.ended, p.DropDoubt, p.LateCreate = p.ended.Add(step), p.DropDoubt.Add(step), p.LateCreate.Add(step)
		p.StoppingSince = p.StoppingSince.Add(step)
	}
}
