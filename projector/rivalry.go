package projector

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// rivalGrace is how long after our first write to a Job the acts of another controller on it are ignored: that
// controller may just have been turned off. Example: our first write is at 12:00:00; a status write of the built-in at
// 12:00:20 is ignored, one at 12:00:31 counts.
const rivalGrace = 30 * time.Second

// rivalAct is an act of another controller on one of our Jobs. late says that it came after rivalGrace, so it counts as
// evidence.
type rivalAct struct {
	events.RivalAct
	late bool
}

// rivalry is a Job's state for the detection of another controller (split brain). Its times are the API server's.
type rivalry struct {
	began events.Time // our first write to the Job in this run; 0 for none
	wrote events.Time // time of the built-in controller's newest status write, as the Job's object shows
	acts  []rivalAct  // acts that the record being applied shows; the World takes them
}

// late reports whether an act at that time counts: it is later than rivalGrace after our first write. Before our first
// write in this run, the acts may be those of the controller that ran the Job before.
func (r *rivalry) late(at events.Time) bool {
	return r.began != 0 && at > r.began.Add(rivalGrace)
}

// ourWrite notes the API server's time of our first write to the Job in this run.
func (j *Job) ourWrite(at events.Time) {
	if j.rivalry.began == 0 {
		j.rivalry.began = at
	}
}

// rivalMade notes an act of another controller if a new pod has no annotation of ours, so that controller made it.
func (j *Job) rivalMade(f *events.PodSeen) {
	if f.Unmarked && j.rivalry.late(f.Created) {
		j.rivalry.acts = append(j.rivalry.acts, rivalAct{events.RivalAct{Job: j.Ref.UID, Pod: f.UID, At: f.Created}, true})
	}
}
