package loop_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/rules"
)

// checkClock sets the clock after every record of a script, once an hour forward and once a day back. At any later time
// the decision about a Job must be the same as without the change: the part of a wait that has passed stays passed
// (design §4).
func (m *machine) checkClock() {
	m.t.Helper()
	w := projector.NewWorld()
	for rec, err := range m.log.Read(m.t.Context(), 1) {
		m.must(err)
		w.Apply(&rec)
		for _, s := range w.Streams() {
			if s != rec.Stream && rec.Stream != events.Controller {
				continue // the record did not change it
			}
			for _, step := range []time.Duration{time.Hour, -24 * time.Hour} {
				m.checkStep(w, s, step, rec.Sequence)
			}
		}
	}
}

// checkStep sets the clock for one stream.
func (m *machine) checkStep(w *projector.World, s events.Stream, step time.Duration, at events.Sequence) {
	m.t.Helper()
	kept, set := m.copyOf(w, s), m.copyOf(w, s)
	if _, retired := kept.(*projector.Retired); retired {
		return // its wait ends at a time that the API server has published
	}
	if c, ok := kept.(*projector.CronJob); ok {
		m.checkCronStep(c, set.(*projector.CronJob), w.Now, step, at)
		return
	}
	for _, j := range []*projector.Job{heldBy(kept), heldBy(set)} {
		j.Settings.DeleteExpired = false // an end by TTL has such a time, too
	}
	heldBy(kept).Confirmed = 0 // a live read counts only at its own time (J-176)
	set.Apply(&events.Record{
		Header: events.Header{Sequence: at + 1, Time: w.Now.Add(step), Stream: events.Controller, Kind: events.KindClockStepped},
		Facts:  &events.ClockStepped{Step: step},
	})
	times := []events.Time{w.Now, w.Now.Add(time.Minute), w.Now.Add(20 * time.Minute)}
	for t := w.Now; len(times) < 9; { // also each time of a next look, and the moment before it
		t = rules.DecideAt(kept, t).Wake
		if t == 0 {
			break
		}
		times = append(times, t-1, t)
	}
	for _, t := range times {
		want, got := decidedAt(kept, t, 0), decidedAt(set, t, step)
		if got != want {
			m.t.Errorf("after record %d, the clock set by %s: %s is decided in %s as\n%s, not\n%s", at, step, s, t.Sub(w.Now), got, want)
		}
	}
}

// checkCronStep sets the clock for a CronJob. Its due times are times of the clock. So at each later time of the clock
// the decision must be as if the clock had come to that time by itself. A backoff does go on: its part that has passed
// stays passed.
func (m *machine) checkCronStep(kept, set *projector.CronJob, now events.Time, step time.Duration, at events.Sequence) {
	m.t.Helper()
	until := kept.Retry().Until
	set.Apply(&events.Record{
		Header: events.Header{Sequence: at + 1, Time: now.Add(step), Stream: events.Controller, Kind: events.KindClockStepped},
		Facts:  &events.ClockStepped{Step: step},
	})
	if want := until.Add(step); until != 0 && set.Retry().Until != want {
		m.t.Errorf("after record %d, the clock set by %s: %s backs off until %s, not %s", at, step, set.Stream, set.Retry().Until.Go(), want.Go())
	}
	if kept.Pass.Over || kept.Edited != 0 || kept.Sight.Taken != 0 || len(kept.Pass.Kept) > 0 {
		return // it waits
	}
	if kept.Observed() { // it waits for events, and not for a time of the clock
		for i, want := range waitsOf(kept) {
			if got := waitsOf(set)[i]; got != want.Add(step) {
				m.t.Errorf("after record %d, the clock set by %s: %s waits from %s, not %s", at, step, set.Stream, got.Go(), want.Add(step).Go())
			}
		}
		return
	}
	for _, after := range []time.Duration{0, time.Minute, time.Hour, 25 * time.Hour} {
		t := now.Add(max(0, step) + after)
		if want, got := decidedAt(kept, t, 0), decidedAt(set, t, 0); got != want {
			m.t.Errorf("after record %d, the clock set by %s: %s is decided at %s as\n%s, not\n%s", at, step, set.Stream, t.Go(), got, want)
		}
	}
}

// waitsOf returns the times from which a CronJob waits for another controller, or for a watch.
func waitsOf(c *projector.CronJob) []events.Time {
	all := []events.Time{c.Sight.Scheduled, c.Sight.Ended}
	for i := range c.Sight.Past {
		all = append(all, c.Sight.Past[i].Until)
	}
	return all
}

// copyOf returns a subject of its own with the world's state of a stream.
func (m *machine) copyOf(w *projector.World, s events.Stream) projector.Subject {
	m.t.Helper()
	facts, names, ok := w.StreamState(s)
	if !ok {
		m.t.Fatalf("no state of %s", s)
	}
	other, _, err := projector.Restore([]projector.StreamAt{
		{Stream: events.Controller, AsOf: w.Head, Facts: w.ControllerState()}, {Stream: s, AsOf: w.Head, Facts: facts, Names: names},
	})
	m.must(err)
	return other.Subject(s)
}

// decidedAt writes the decision at the time t, on a clock that was moved by step, and the wait until the next look at
// the Job. It leaves out the times in commands: an older command carries its time as published, a new one carries the
// time of the moved clock.
func decidedAt(j projector.Subject, t events.Time, step time.Duration) string {
	d := rules.DecideAt(j, t.Add(step))
	var b strings.Builder
	for _, s := range d.Steps {
		fmt.Fprintf(&b, "%s/%s %s:", s.Stage, s.Rule, s.Sentence)
		for _, c := range s.Commands {
			fmt.Fprintf(&b, " %s;", events.Describe(c))
		}
	}
	if d.Wake != 0 {
		fmt.Fprintf(&b, " again in %s", d.Wake.Sub(t.Add(step)))
	}
	return b.String()
}
