package observe

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// DefaultPatience is how long the other controller may take to do what our decisions ask for: twice the longest backoff
// of the built-in controller after a refusal by the API server (J-017).
const DefaultPatience = 2 * time.Minute

// Watcher compares our decisions about observed Jobs with what the other controller does, and finds differences.
type Watcher struct {
	patience time.Duration
	jobs     map[events.Stream]*watched
}

// watched is what the Watcher knows about one Job. wants holds what our decisions ask for and the other controller has
// not done.
type watched struct {
	wants   map[want]*wish
	ours    map[verdict]bool // how the Job ends by our decisions so far
	judged  verdict          // how the Job ended, if that is explained, reported, or older than the first look
	puzzled events.Time      // since when the end of the Job has been unexplained; 0 if it is not
}

// wish is something that our decisions ask for, and that the other controller has not done yet.
type wish struct {
	since events.Time // all decisions from this time on have asked for it
	told  bool
}

// New returns a Watcher without Jobs. patience is how long the other controller may take; it must be positive.
func New(patience time.Duration) *Watcher {
	return &Watcher{patience: patience, jobs: map[events.Stream]*watched{}}
}

// Look compares decision d about Job j, made at time now, with the earlier ones. would is the part of d that the other
// controller should have carried out by now; nil for none. again is when to call Look if nothing happens before; 0 for
// never.
func (w *Watcher) Look(j *projector.Job, d *reconciler.Decision, now events.Time) (would *events.Decision, again events.Time) {
	x := w.jobs[j.Stream]
	if x == nil {
		x = &watched{judged: stored(j)}
		w.jobs[j.Stream] = x
	}
	would = &events.Decision{RulesVersion: d.RulesVersion}
	soonest := func(t events.Time) {
		if again == 0 || t < again {
			again = t
		}
	}
	x.expect(d)
	wants := map[want]*wish{}
	for i := range d.Steps {
		step := &d.Steps[i]
		var overdue []events.Command
		for _, c := range step.Commands {
			if w.overdue(x, wants, wantsOf(j, c), now, soonest) {
				overdue = append(overdue, c)
			}
		}
		if len(overdue) > 0 {
			late := *step
			late.Commands = overdue
			late.Sentence += fmt.Sprintf(": not done within %s", w.patience)
			would.Steps = append(would.Steps, late)
		}
	}
	x.wants = wants
	if step, at := w.judge(x, j, now); step != nil {
		would.Steps = append(would.Steps, *step)
	} else if at != 0 {
		soonest(at)
	}
	if len(would.Steps) == 0 {
		would = nil
	}
	return would, again
}

// overdue finds out since when the wants of one command (what it asks for) have existed, and adds them to into, the
// wants of this decision. It reports whether the patience for one of them is just over. For the others it passes the
// end of the patience to soonest.
func (w *Watcher) overdue(x *watched, into map[want]*wish, wants []want, now events.Time, soonest func(events.Time)) bool {
	overdue := false
	for _, k := range wants {
		wish := x.wish(k, now)
		into[k] = wish
		switch due := wish.since.Add(w.patience); {
		case wish.told:
		case due <= now:
			wish.told, overdue = true, true
		default:
			soonest(due)
		}
	}
	return overdue
}

func (x *watched) wish(k want, now events.Time) *wish {
	if known := x.wants[k]; known != nil {
		return known
	}
	return &wish{since: now}
}

// Puzzled reports whether the end of the Job is unexplained so far. Then the Job must not retire yet.
func (w *Watcher) Puzzled(s events.Stream) bool {
	x := w.jobs[s]
	return x != nil && x.puzzled != 0
}

// Forget drops the state of a Job.
func (w *Watcher) Forget(s events.Stream) { delete(w.jobs, s) }

// Reset drops all state.
func (w *Watcher) Reset() { clear(w.jobs) }

// Shift moves all times by a step of the wall clock, so that waits last as long as before.
func (w *Watcher) Shift(step time.Duration) {
	for _, x := range w.jobs {
		if x.puzzled != 0 {
			x.puzzled = x.puzzled.Add(step)
		}
		for _, wish := range x.wants {
			wish.since = wish.since.Add(step)
		}
	}
}
