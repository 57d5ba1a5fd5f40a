package projector

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// rivalGrace is how long after our first write to a Job acts of another controller are ignored (see rival.go).
// Example: our first write is at 12:00:00; a status write of the built-in at 12:00:20 is ignored, one at 12:00:31
// counts.
const rivalGrace = 30 * time.Second

// rivalAct is an act of another controller; late says that it counts.
type rivalAct struct {
	events.RivalAct
	late bool
}

// rivalry is a Job's state for split-brain detection. Its times are the API server's.
type rivalry struct {
	began events.Time // our first write to the Job in this run; 0 for none
	wrote events.Time // the built-in's newest status write, as the Job's object shows
	acts  []rivalAct  // found in the record being folded; the World takes them
}

// late reports whether an act at that time counts. Before our first write in this run, the state is the previous
// controller's.
func (r *rivalry) late(at events.Time) bool {
	return r.began != 0 && at > r.began.Add(rivalGrace)
}

// ourWrite folds the API server's time of a write of ours.
func (j *Job) ourWrite(at events.Time) {
	if j.rivalry.began == 0 {
		j.rivalry.began = at
	}
}

// rivalMade checks a new pod for another controller.
func (j *Job) rivalMade(f *events.PodSeen) {
	if f.Unmarked && j.rivalry.late(f.Created) {
		j.rivalry.acts = append(j.rivalry.acts, rivalAct{events.RivalAct{Job: j.Ref.UID, Pod: f.UID, At: f.Created}, true})
	}
}
