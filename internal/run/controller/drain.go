package controller

import (
	"log/slog"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Drain reports when a controller that accepts no new Jobs (--drain) has finished those that had begun.
type Drain struct {
	Log     *slog.Logger
	Drained func() // called once, when nothing is left to do; may be nil

	looked time.Time // when the unfinished Jobs were last counted
	told   time.Time // when their number was last logged
	left   int       // number of unfinished Jobs that was last logged; -1 after 0 was reported
}

// How often the unfinished Jobs are counted while the loop is idle, and how often their number is logged.
const (
	drainLook = time.Second
	drainTell = 10 * time.Second
)

// Look counts the unfinished Jobs of w, at most once a second, and logs how many there are. When none is left, it calls
// Drained. The loop calls Look between turns.
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

// Undone returns two lists: the Jobs that a draining controller still works on, and the suspended Jobs, for which there
// is nothing to do. A drain does not wait for suspended Jobs, because nobody may ever resume them.
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

// rests reports whether the controller has nothing to do for the Job: the Job is suspended, finished, deleted or not
// ours, has no command in flight, and has no pod with the tracking finalizer.
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

// some returns the names of the first 5 Jobs, for a log message; if there are more, the last entry is "…".
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
