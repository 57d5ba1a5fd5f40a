package duetimes

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// steps returns the parts of a record that are decisions about due times; nil if the record has none.
func steps(r *events.Record) (all []*events.CronStep) {
	d, ok := r.Facts.(*events.Decision)
	if !ok || r.Kind == events.KindWouldDecide {
		return nil
	}
	for i := range d.Steps {
		if step := d.Steps[i].Cron; step != nil {
			all = append(all, step)
		}
	}
	return all
}

func (c *CronJob) take(r *events.Record) error {
	c.now, c.untold = max(c.now, r.Time), nil
	if c.lastAt = r.Time; c.first == 0 {
		c.first = r.Sequence
	}
	defer c.keep(r)
	if n := r.Evidence.PassedOver; n > 0 {
		c.Unrecorded = append(c.Unrecorded, Unrecorded{n, r.Sequence, r.Time})
	}
	switch f := r.Facts.(type) {
	case *events.CronJobSeen:
		c.see(r, f)
	case *events.Decision:
		for place, command := range f.Commands() {
			if create, ok := command.(*events.CreateJob); ok && r.Kind == events.KindDecided {
				c.asked[events.CommandID{Decided: r.Sequence, Place: uint32(place)}] = create
			}
		}
	case *events.CommandEnded:
		c.ended(r, f)
	case *events.CronJobGone:
		c.Gone, c.missed = r.Time, f.Missed
	case *events.RunSeen:
		c.sighted(f, r.Time)
	case *events.StoredState:
		if c.Seen == nil { // a checkpoint tells nothing new, unless reading begins with it
			return c.takeState(r, f)
		}
	}
	for _, step := range steps(r) {
		c.step(r, step)
	}
	return nil
}

// see processes a record with a new version of the CronJob's object.
func (c *CronJob) see(r *events.Record, f *events.CronJobSeen) {
	if c.Seen != nil && len(c.Seen.Differs(f)) > 0 {
		c.Changes = append(c.Changes, Change{Before: c.Seen, After: f, By: r.Evidence.Edit, Record: r.Sequence, At: r.Time, Was: c.seenIn})
	}
	c.Seen, c.seenIn, c.Gone, c.missed = f, Place{r.Sequence, r.Time}, 0, false
	if c.firstSeenAs == nil {
		c.firstSeenAs, c.found = f, Place{r.Sequence, r.Time}
	}
	c.begin(f)
	by := countsBy(f)
	c.timed(&by, r.Time, f.Found)
}

// takeState sets c to the state in a checkpoint, a record with the whole state of the CronJob. Reading begins with it.
func (c *CronJob) takeState(r *events.Record, f *events.StoredState) error {
	var state pb.JobState
	if err := proto.Unmarshal(f.Encoded, &state); err != nil {
		return fmt.Errorf("decode the state in record %d: %w", r.Sequence, err)
	}
	stored := state.GetCronJob()
	if stored.GetFacts() == nil {
		return nil
	}
	c.Seen, c.Ledger = events.CronJobFromWire(stored.GetFacts()), events.LedgerFromWire(stored.GetLedger())
	c.begin(c.Seen)
	if since := events.Time(stored.GetSince()); since != 0 {
		c.kept.since = since
	}
	c.firstSeenAs = c.Seen
	// This is the newest due time that started. status.lastScheduleTime, which is in the object, may show it only
	// later.
	c.kept.since = max(c.kept.since, events.Time(stored.GetLastSchedule()))
	c.timedBefore(stored)
	for _, run := range stored.GetRuns() {
		seen := events.RunFromWire(run.GetFacts())
		c.kept.seen(seen)
		if !run.GetTold() {
			c.sighted(seen, r.Time)
		}
	}
	if c.Ledger != nil {
		c.Told = c.Ledger.Through
	}
	return nil
}

// ended processes the outcome of a command that creates a Job: if the API server refused it, or its outcome is unknown,
// it adds a Refusal.
func (c *CronJob) ended(r *events.Record, f *events.CommandEnded) {
	create := c.asked[f.Command]
	if create == nil {
		return
	}
	delete(c.asked, f.Command)
	if f.Ending != events.Refused && f.Ending != events.OutcomeUnknown {
		return
	}
	if n := len(c.Refusals); n > 0 {
		if last := &c.Refusals[n-1]; last.Job == create.Name && last.Class == f.Class {
			last.Last, last.Until = r.Sequence, r.Time
			return
		}
	}
	c.Refusals = append(c.Refusals, Refusal{
		Due: create.Due, Job: create.Name, Class: f.Class, Says: r.Evidence.Message, First: r.Sequence, Last: r.Sequence, From: r.Time, Until: r.Time,
	})
}

func (c *CronJob) step(r *events.Record, step *events.CronStep) {
	for _, tick := range step.Ticks {
		by := c.ledger()
		if by == nil {
			by = step.Ledger
		}
		c.Entries = append(c.Entries, Entry{Tick: tick, Record: r.Sequence, At: r.Time, by: by, since: c.kept.since})
		if tick.Fate == events.TickStarted {
			c.kept.since = tick.First
		}
		c.seenRuns = slices.DeleteFunc(c.seenRuns, func(r events.RunSeen) bool { return r.Job == tick.Job })
	}
	if l := step.Ledger; l != nil && l.Open != 0 && l.Hold != events.NotHeld && !c.holds(l) {
		c.Holds = append(c.Holds, Hold{Due: l.Open, By: l.Hold, Record: r.Sequence, At: r.Time, Active: c.active()})
	}
	if l := step.Ledger; l != nil {
		c.Ledger = l
		for len(c.timings) > 1 && !c.timings[0].same(l) {
			// A decision uses a newer schedule, so all due times of the older one have an outcome.
			c.timings = c.timings[1:]
		}
	}
}

// holds reports whether l, the state of due times after a decision, has the same Hold (why a due time cannot start) as
// c.Holds has last. It is then not added again: each refused create of a Job repeats it in a record.
func (c *CronJob) holds(l *events.TickLedger) bool {
	n := len(c.Holds)
	return n > 0 && c.Holds[n-1].Due == l.Open && c.Holds[n-1].By == l.Hold
}

// sighted processes a record that shows a Job of the CronJob. If the Job was created for a due time, and was not seen
// before, it notes the Job and when it was seen.
func (c *CronJob) sighted(f *events.RunSeen, at events.Time) {
	if c.firstSeen == nil {
		c.firstSeen = map[types.UID]events.Time{}
	}
	if _, known := c.firstSeen[f.Job]; known || f.Due == 0 || f.Manual {
		return
	}
	c.firstSeen[f.Job] = at
	c.seenRuns = append(c.seenRuns, *f)
}
