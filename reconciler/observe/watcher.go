package observe

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// DefaultPatience is twice as long as the built-in controller waits at most after the API server refused it something
// (J-017).
const DefaultPatience = 2 * time.Minute

// Watcher is shown decisions and finds differences.
type Watcher struct {
	patience time.Duration
	jobs     map[events.Stream]*watched
}

// watched is what is remembered of a Job.
type watched struct {
	wants   map[want]*wish
	ours    map[verdict]bool // verdicts that decisions asked for
	judged  verdict          // the one that was seen and is explained, or was told, or was there before
	puzzled events.Time      // since when a verdict is seen that nothing explains; 0 for none
}

// wish is a want that is not done.
type wish struct {
	since events.Time // the first decision in a row that asked for it
	told  bool
}

// New returns a watcher that has seen nothing. The patience must be positive.
func New(patience time.Duration) *Watcher {
	return &Watcher{patience: patience, jobs: map[events.Stream]*watched{}}
}

// Look is shown a decision about a Job that was made at time now. It returns the differences that are found, as the
// part of the decision that no controller has carried out, or nil; and when it is to be shown one again, though nothing
// happens before, 0 for never.
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

// overdue carries the wants of one command over to those of this decision, and reports whether one of them has waited
// for longer than the patience, and is told now.
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

// Puzzled reports whether the Job's verdict is not explained yet, so that the Job is still to be kept.
func (w *Watcher) Puzzled(s events.Stream) bool {
	x := w.jobs[s]
	return x != nil && x.puzzled != 0
}

// Forget drops what is remembered of a Job.
func (w *Watcher) Forget(s events.Stream) { delete(w.jobs, s) }

// Reset forgets everything.
func (w *Watcher) Reset() { clear(w.jobs) }

// Shift moves what is remembered with the clock.
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
