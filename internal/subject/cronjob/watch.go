package cronjob

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/ticks"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Watch records the times ("gaps") in which CronJobs and their Jobs were not watched. It begins with the first run of
// the controller that records CronJobs.
type Watch struct {
	gaps   []ticks.Gap // in order, at most mostGaps
	blind  bool        // not watched now
	since  events.Time // end of the last watch, while blind; 0 for never
	narrow events.Time // since when only one namespace is watched; 0 while all are
}

// mostGaps limits the recorded gaps. If there would be more, the two oldest are merged into one: then less is known,
// but nothing is wrong.
const mostGaps = 32

// Apply updates the gaps by a record of the controller's own stream. namespace is the namespace watched before the
// record; empty for all. records says that CronJobs are recorded after it; listing says that a listing goes on after
// it.
func (k *Watch) Apply(rec *events.Record, namespace string, records, listing bool) {
	switch f := rec.Facts.(type) {
	case *events.ControllerStarted:
		if f.Settings.CronJobs {
			k.scoped(namespace, f.Settings.Namespace, rec.Time)
		}
	case *events.ListingStarted:
		if slices.Contains(f.Resources, events.Jobs) || slices.Contains(f.Resources, events.CronJobs) {
			k.lose(f.LastSeen, records)
		}
	case *events.EpochChanged: // the cluster or the log went back in time: earlier observations do not count
		*k = Watch{blind: k.blind || len(k.gaps) > 0, narrow: k.narrow}
	case *events.Synced:
		if !listing && records && k.blind {
			k.found(rec.Time)
		}
	case *events.ClockStepped:
		k.shift(f.Step)
	}
}

// scoped notes that the watched namespace changes from before to now at time at; "" is all. If a different namespace
// was watched alone, other objects were not watched since that setting began: a gap begins at that time.
func (k *Watch) scoped(before, now string, at events.Time) {
	if k.narrow != 0 && now != before {
		k.blind, k.since = true, k.narrow
	}
	switch {
	case now == "":
		k.narrow = 0
	case k.narrow == 0 || now != before:
		k.narrow = at
	}
}

// lose begins a gap at the time since. It does nothing if no run has recorded CronJobs yet.
func (k *Watch) lose(since events.Time, records bool) {
	if k.blind || !records && len(k.gaps) == 0 {
		return
	}
	k.blind, k.since = true, since
	if len(k.gaps) == 0 {
		k.since = 0
	}
}

// found ends the gap at time now: objects are watched again.
func (k *Watch) found(now events.Time) {
	gap := ticks.Gap{From: k.since.Go(), Until: now.Go()}
	gaps := slices.DeleteFunc(slices.Clone(k.gaps), func(g ticks.Gap) bool { return g.From.After(gap.From) })
	if gaps = append(gaps, gap); len(gaps) > mostGaps {
		gaps[1].From = gaps[0].From
		gaps = gaps[1:]
	}
	k.gaps, k.blind, k.since = gaps, false, 0
}

// shift adjusts the gaps to a clock step. As it is unknown which clock was right, a gap covers its times by both.
// Example: after a step of +10 s a gap of 12:00:00 to 12:00:30 lasts until 12:00:40.
func (k *Watch) shift(step time.Duration) {
	k.gaps = slices.Clone(k.gaps)
	for i := range k.gaps {
		g := &k.gaps[i]
		g.From, g.Until = events.At(g.From).Add(min(0, step)).Go(), g.Until.Add(max(0, step))
	}
	k.since, k.narrow = k.since.Add(min(0, step)), k.narrow.Add(min(0, step))
}

// ToWire adds the fields of k to the encoded state of the controller.
func (k *Watch) ToWire(s *pb.WorldState) {
	for _, g := range k.gaps {
		s.Gaps = append(s.Gaps, &pb.WatchGap{From: int64(events.At(g.From)), Until: int64(events.At(g.Until))})
	}
	s.Blind, s.BlindSince, s.Narrow = k.blind, int64(k.since), int64(k.narrow)
}

// FromWire takes the fields of k from the encoded state of the controller.
func (k *Watch) FromWire(s *pb.WorldState) {
	for _, w := range s.GetGaps() {
		k.gaps = append(k.gaps, ticks.Gap{From: events.Time(w.GetFrom()).Go(), Until: events.Time(w.GetUntil()).Go()})
	}
	k.blind, k.since, k.narrow = s.GetBlind(), events.Time(s.GetBlindSince()), events.Time(s.GetNarrow())
}
