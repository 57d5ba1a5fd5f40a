package controller

import (
	"log/slog"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Drain follows how a controller that takes no new Jobs comes to its end, and tells it.
type Drain struct {
	Log     *slog.Logger
	Drained func() // called once, when nothing is left to do; may be nil

	looked time.Time // when it was last counted what is left
	told   time.Time // when that was last told
	left   int       // what was told; -1 once nothing is left
}

// It is counted as often as the loop goes round without work, and told now and then.
const (
	drainLook = time.Second
	drainTell = 10 * time.Second
)

// Look is called between turns.
func (d *Drain) Look(w *projector.World, now time.Time) {
	if w.Listing || now.Sub(d.looked) < drainLook {
		return
	}
	d.looked = now
	left, suspended := Undone(w)
	switch {
	case len(left) == 0 && d.left >= 0:
		d.left = -1
		d.Log.Info("drained: nothing is left to do", "suspended", some(suspended))
		if d.Drained != nil {
			d.Drained()
		}
	case len(left) > 0 && len(left) != d.left && now.Sub(d.told) >= drainTell:
		d.left, d.told = len(left), now
		d.Log.Info("draining: what has begun goes on", "left", len(left), "jobs", some(left))
	}
}

// Undone is what a draining controller has still to do, and the Jobs that are suspended: they may rest for ever, so
// they are not waited for once nothing of them is left but the object.
func Undone(w *projector.World) (left, suspended []events.JobRef) {
	for _, j := range w.Holders() {
		switch {
		case !rests(j):
			left = append(left, j.Ref)
		case j.Spec != nil && j.Spec.Suspend && !j.Finished() && !j.Gone:
			suspended = append(suspended, j.Ref)
		}
	}
	return left, suspended
}

// rests reports whether nothing is in flight of the Job, no pod holds its finalizer, and it does not go on by itself.
func rests(j *projector.Job) bool {
	goesOn := j.Known() && j.Managed && !j.Observed() && !j.Gone && !j.Finished() && j.Deleted == 0 && !(j.Spec != nil && j.Spec.Suspend)
	if goesOn || j.Busy() || len(j.Creates()) > 0 {
		return false
	}
	for _, p := range j.Pods() {
		if p.Held() {
			return false
		}
	}
	return true
}

// some are the first names of a list, for a line that people read.
func some(refs []events.JobRef) []string {
	const most = 5
	var names []string
	for _, r := range refs[:min(len(refs), most)] {
		names = append(names, r.Namespace+"/"+r.Name)
	}
	if len(refs) > most {
		names = append(names, "…")
	}
	return names
}
