package projector

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Split-brain detection. With --manage=all this controller replaces the built-in one. If the built-in runs as well,
// each creates pods that the other did not ask for, and counts pods that the other has counted. The built-in shows
// itself on a Job that we run by a write of the Job's status, or by a pod without our annotation. It may have acted
// just before it was turned off, so an act counts only if it is later than rivalGrace after our first write to the Job
// in this run; both times are the API server's. Two such acts, on one Job or on two, are proof.
//
// A tenant must not be able to stop every Job of the cluster, so an act that a tenant can perform proves nothing alone.
// Any tenant who may create pods can name a Job as their controller, and any tenant who may change a Job can write any
// manager and time into metadata.managedFields. So one of the acts must be a change of the status that is not ours:
// tenants have no right to write it.

// RivalQuiet is how long a run waits before its first decision if the previous run found another controller. Example:
// a start at 12:00:00 decides from 12:01:00 on, unless the other controller writes a status at 12:00:40; then it
// decides from 12:01:40 on.
const RivalQuiet = time.Minute

// Rival is what is known of another controller at work on our Jobs (split brain).
type Rival struct {
	Found bool        // no decisions are made while true
	Quiet events.Time // in a later run: last sign of the other controller, or the start; 0 in the run that found it
	acts  []events.RivalAct
}

// Decides reports whether decisions are made. They are not during a listing, after a loss of records, or while another
// controller works on our Jobs.
func (w *World) Decides() bool { return !w.Listing && !w.Rival.Found && w.Lost == (events.Loss{}) }

// RivalProven returns the acts that together prove that another controller works on our Jobs; nil if there is no proof.
func (w *World) RivalProven() []events.RivalAct {
	if w.Rival.Found || len(w.Rival.acts) < 2 {
		return nil
	}
	for _, a := range w.Rival.acts {
		if a.Pod == "" {
			return w.Rival.acts
		}
	}
	return nil
}

// RivalSoFar returns the recorded acts of another controller, and Rival.Quiet. They are stored in the record
// FileRestated, which says that a file has the state of every Job and CronJob.
func (w *World) RivalSoFar() (acts []events.RivalAct, quiet events.Time) {
	return slices.Clone(w.Rival.acts), w.Rival.Quiet
}

// RivalOver returns the time at which decisions start again if the other controller stays quiet. It returns 0 in the
// run that found the other controller: only a restart can start decisions again.
func (w *World) RivalOver() events.Time {
	if !w.Rival.Found || w.Rival.Quiet == 0 || w.Listing {
		return 0
	}
	return w.Rival.Quiet.Add(RivalQuiet)
}

// rivalActed takes note of an act of another controller that a Job's record showed.
func (w *World) rivalActed(a rivalAct) {
	r := &w.Rival
	switch {
	case r.Found && r.Quiet != 0:
		if a.Pod == "" && !w.Listing { // what a listing shows may be from before this run
			r.Quiet = w.Now
		}
	case !r.Found && a.late:
		r.note(a.RivalAct)
	}
}

// maxRivalActs limits the recorded acts of another controller: users can create any number of such pods, and pods alone
// prove nothing.
const maxRivalActs = 8

// note records an act. If maxRivalActs pods are recorded, a status write takes the place of the last one: the pods,
// which a tenant may have created, must not keep out the act without which there is no proof.
func (r *Rival) note(a events.RivalAct) {
	if len(r.acts) == maxRivalActs {
		if a.Pod != "" {
			return
		}
		r.acts = r.acts[: maxRivalActs-1 : maxRivalActs-1] // append copies: a record may share the array
	}
	r.acts = append(r.acts, a)
}

// apply updates r by a record of the controller's own stream. passed says that some records were skipped; these may
// have shown another controller, so the acts in the record FileRestated replace ours.
func (r *Rival) apply(rec *events.Record, passed bool) {
	switch f := rec.Facts.(type) {
	case *events.EpochChanged: // the recorded acts belong to a past that the cluster does not have any more
		r.acts = nil
	case *events.ControllerStarted:
		r.restarted(rec.Time)
	case *events.ClockStepped:
		r.shift(f.Step)
	case *events.RivalFound:
		*r = Rival{Found: true}
	case *events.RivalGone:
		*r = Rival{}
	case *events.FileRestated:
		if passed {
			r.acts, r.Quiet = f.RivalActs, f.RivalQuiet
		}
	}
}

// restarted updates r when this controller starts, at time now. Acts count only in the run that saw them. Found stays
// true until the other controller was quiet for RivalQuiet.
func (r *Rival) restarted(now events.Time) {
	r.acts = nil
	if r.Found {
		r.Quiet = now
	}
}

// shift adds a clock step to Quiet.
func (r *Rival) shift(step time.Duration) {
	if r.Quiet != 0 {
		r.Quiet = r.Quiet.Add(step)
	}
}

// ToWire adds the fields of r to the encoded state of the controller.
func (r *Rival) ToWire(s *pb.WorldState) {
	s.RivalFound, s.RivalQuiet, s.RivalActs = r.Found, int64(r.Quiet), events.RivalActsToWire(r.acts)
}

// FromWire takes the fields of r from the encoded state of the controller.
func (r *Rival) FromWire(s *pb.WorldState) {
	*r = Rival{Found: s.GetRivalFound(), Quiet: events.Time(s.GetRivalQuiet()), acts: events.RivalActsFromWire(s.GetRivalActs())}
}
