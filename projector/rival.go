package projector

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// A controller that takes the built-in's place (--manage=all) may find that the built-in runs as well. Each then makes
// pods that the other did not ask for, and counts pods that the other has counted. What the built-in does to a Job that
// we run gives it away: it writes the Job's status, and makes pods that carry no annotation of ours. It may have acted
// just before it was turned off, so only what it does later than rivalGrace after our first write to the Job in this
// run counts; both times are the API server's. Two such acts are proof, be they on one Job or on two.
//
// A tenant must not be able to stop every Job of the cluster, so what a tenant can do proves nothing. A pod alone does
// not: whoever may create pods can name a Job as its controller. Nor does what metadata.managedFields says: whoever may
// change a Job can write any manager and any time there. So one of the acts has to be a write that changed the status,
// other than by a write of ours: tenants have no right to that.

// RivalQuiet is for how long a run that follows one that found a rival watches before it decides anything.
const RivalQuiet = time.Minute

// Rival is what is known of another controller at work on our Jobs.
type Rival struct {
	Found bool        // nothing is decided while this holds
	Quiet events.Time // in a later run: since when no other controller has worked on them; 0 in the run that found it
	acts  []events.RivalAct
}

// Decides reports whether decisions are made: not while the view of the cluster is being built again, nor while another
// controller works on our Jobs.
func (w *World) Decides() bool { return !w.Listing && !w.Rival.Found && w.Lost == (events.Loss{}) }

// RivalProven returns what another controller did, once that proves that there is one; nil before.
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

// RivalSoFar is what is known of another controller, for the record that says that a file stands alone.
func (w *World) RivalSoFar() (acts []events.RivalAct, quiet events.Time) {
	return slices.Clone(w.Rival.acts), w.Rival.Quiet
}

// RivalOver is when a run that follows one that found a rival may decide again, if no other controller works on the
// Jobs until then; 0 when there is no such time.
func (w *World) RivalOver() events.Time {
	if !w.Rival.Found || w.Rival.Quiet == 0 || w.Listing {
		return 0
	}
	return w.Rival.Quiet.Add(RivalQuiet)
}

// rivalActed folds what a record of the Job said of another controller.
func (w *World) rivalActed(a rivalAct) {
	r := &w.Rival
	switch {
	case r.Found && r.Quiet != 0:
		if a.Pod == "" && !w.Listing { // what a list shows may be from before
			r.Quiet = w.Now
		}
	case !r.Found && a.late && len(r.acts) < maxRivalActs:
		r.acts = append(r.acts, a.RivalAct)
	}
}

// maxRivalActs bounds what is remembered: pods alone prove nothing, however many.
const maxRivalActs = 8

// apply folds a record of the controller's stream. passed says that records of streams were passed over which may have
// told of another controller.
func (r *Rival) apply(rec *events.Record, passed bool) {
	switch f := rec.Facts.(type) {
	case *events.EpochChanged: // the acts are of a past that the cluster does not have
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

// restarted folds a process's start. What was seen of a rival is for the run that saw it; that it was found holds on.
func (r *Rival) restarted(now events.Time) {
	r.acts = nil
	if r.Found {
		r.Quiet = now
	}
}

// shift follows a step of the clock.
func (r *Rival) shift(step time.Duration) {
	if r.Quiet != 0 {
		r.Quiet = r.Quiet.Add(step)
	}
}

func (r *Rival) toWire(s *pb.WorldState) {
	s.RivalFound, s.RivalQuiet, s.RivalActs = r.Found, int64(r.Quiet), events.RivalActsToWire(r.acts)
}

func (r *Rival) fromWire(s *pb.WorldState) {
	*r = Rival{Found: s.GetRivalFound(), Quiet: events.Time(s.GetRivalQuiet()), acts: events.RivalActsFromWire(s.GetRivalActs())}
}
