package projector

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// rivalGrace is how long after our first write to a Job what another controller does is not held against it; rival.go
// says why.
const rivalGrace = 30 * time.Second

// rivalAct is an act of another controller; late when it is to be held against it.
type rivalAct struct {
	events.RivalAct
	late bool
}

// rivalry is what a Job keeps to tell an act of another controller. Its times are the API server's.
type rivalry struct {
	began events.Time // our first write to the Job in this run; 0 before it
	wrote events.Time // the built-in's newest write of its status, as the Job's object says
	acts  []rivalAct  // that the record which is being folded told of; the World takes them
}

// late reports whether what another controller did at that time is to be held against it. Before our first write of the
// run everything is as the one before us left it.
func (r *rivalry) late(at events.Time) bool {
	return r.began != 0 && at > r.began.Add(rivalGrace)
}

// ourWrite folds when the API server stored a write of ours.
func (j *Job) ourWrite(at events.Time) {
	if j.rivalry.began == 0 {
		j.rivalry.began = at
	}
}

// rivalMade folds a pod that is seen for the first time: it may tell of another controller.
func (j *Job) rivalMade(f *events.PodSeen) {
	if f.Unmarked && j.rivalry.late(f.Created) {
		j.rivalry.acts = append(j.rivalry.acts, rivalAct{events.RivalAct{Job: j.Ref.UID, Pod: f.UID, At: f.Created}, true})
	}
}
