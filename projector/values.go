package projector

import (
	"time"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// value is a part of a Job's state with its own invariants. It follows the clock and is stored by itself, so a new
// field concerns the value that has it, and no other code.
type value interface {
	// shift moves the times that were taken from our clock by as much as it was set. The API server's times stay.
	shift(step time.Duration)
	// toWire adds the value's fields to the Job's state, and fromWire takes them out again. The texts are read in the
	// order of the values.
	toWire(s *pb.JobState, names *pb.StateNames)
	fromWire(s *pb.JobState, r *stateReader)
}

// values are the parts of the Job, in the order in which they are stored.
func (j *Job) values() [3]value { return [...]value{&j.published, &j.waits, &j.Tries} }

// shift moves every wait with the clock, so that the part of it that is over stays so.
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
	for _, p := range j.Pods() { // in an order: each goes back into the line of those that are to be told
		j.changed(p)
		p.ended, p.DropDoubt, p.LateCreate = p.ended.Add(step), p.DropDoubt.Add(step), p.LateCreate.Add(step)
		p.StoppingSince = p.StoppingSince.Add(step)
	}
}
