package duetimes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/follow"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/schedule"
	"github.com/jobledger/jobledger/internal/zones"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store"
)

// CronJob is what a log tells of a CronJob.
type CronJob struct {
	Ref     events.JobRef
	Seen    *events.CronJobSeen // newest
	Gone    events.Time         // when its end was recorded; 0 for not
	Entries []Entry             // of its due times, in the order in which they were told
	Holds   []Hold              // what held due times back, in the order in which it was told
	Ledger  *events.TickLedger  // as it stands; nil before the first decision

	rules map[string][]byte // of zones, by hash
}

// Entry is a due time with its fate, or a range of them, and where that is written.
type Entry struct {
	events.Tick
	Record events.Sequence
	At     events.Time
	by     *events.TickLedger // of before, by which they are counted; nil where it is not kept
}

// Hold is that something held a due time back from then on.
type Hold struct {
	Due    events.Time
	By     events.TickHold
	Record events.Sequence
	At     events.Time
	Active []string // the Jobs that the CronJob's status said to run then
}

// Find is the stream of the newest CronJob of that name. ok is false where the log knows none.
func Find(ctx context.Context, src history.Source, namespace, name string) (s events.Stream, ok bool, err error) {
	query := history.Query{Namespace: namespace, Kinds: []events.Kind{events.KindCronJobAdded, events.KindCronJobChanged, events.KindStateStored}}
	for r, err := range src.Records(ctx, query) {
		if err != nil {
			return s, ok, err
		}
		if r.Stream.Kind != events.StreamCronJob {
			continue
		}
		if ref, is := follow.Named(&r); is && ref.Namespace == namespace && ref.Name == name {
			s, ok = r.Stream, true
		}
	}
	return s, ok, nil
}

// Read reads the stream of a CronJob, as far as it is kept.
func Read(ctx context.Context, src history.Source, s events.Stream) (*CronJob, error) {
	c := &CronJob{rules: map[string][]byte{}}
	for r, err := range src.ReadStream(ctx, s, 0, store.Forward) {
		if err != nil && !errors.Is(err, store.ErrPruned) {
			return nil, fmt.Errorf("read the records of the CronJob: %w", err)
		}
		if err != nil {
			continue
		}
		if ref, ok := follow.Named(&r); ok {
			c.Ref = ref
		}
		if err := c.take(&r); err != nil {
			return nil, err
		}
	}
	return c, c.findRules(ctx, src)
}

func (c *CronJob) take(r *events.Record) error {
	switch f := r.Facts.(type) {
	case *events.CronJobSeen:
		c.Seen, c.Gone = f, 0
	case *events.CronJobGone:
		c.Gone = r.Time
	case *events.StoredState:
		if c.Seen != nil {
			break // what it says was told
		}
		var state pb.JobState
		if err := proto.Unmarshal(f.Encoded, &state); err != nil {
			return fmt.Errorf("decode the state in record %d: %w", r.Sequence, err)
		}
		if stored := state.GetCronJob(); stored.GetFacts() != nil {
			c.Seen, c.Ledger = events.CronJobFromWire(stored.GetFacts()), events.LedgerFromWire(stored.GetLedger())
		}
	case *events.Decision:
		if r.Kind != events.KindDecided {
			break
		}
		for i := range f.Steps {
			if step := f.Steps[i].Cron; step != nil {
				c.step(r, step)
			}
		}
	}
	return nil
}

func (c *CronJob) step(r *events.Record, step *events.CronStep) {
	for _, tick := range step.Ticks {
		by := c.Ledger
		if by == nil {
			by = step.Ledger
		}
		c.Entries = append(c.Entries, Entry{Tick: tick, Record: r.Sequence, At: r.Time, by: by})
	}
	if l := step.Ledger; l != nil && l.Open != 0 && l.Hold != events.NotHeld {
		hold := Hold{Due: l.Open, By: l.Hold, Record: r.Sequence, At: r.Time}
		if c.Seen != nil {
			for _, run := range c.Seen.Active {
				hold.Active = append(hold.Active, run.Name)
			}
		}
		c.Holds = append(c.Holds, hold)
	}
	if step.Ledger != nil {
		c.Ledger = step.Ledger
	}
}

// findRules finds the rules of the zones that are named: in the database of this program where it has the same, else in the log.
func (c *CronJob) findRules(ctx context.Context, src history.Source) error {
	missing := 0
	want := func(name, hash string) {
		if rules, ok := zones.Find(name); ok && rules.Hash == hash {
			c.rules[hash] = rules.TZif
		} else if c.rules[hash] == nil {
			c.rules[hash], missing = nil, missing+1
		}
	}
	if c.Seen != nil {
		for _, z := range c.Seen.Zones {
			want(z.Name, z.Hash)
		}
	}
	for i := range c.Entries {
		if by := c.Entries[i].by; by != nil && by.Zone != "" && c.rules[by.Zone] == nil {
			for _, name := range schedule.Named(by.Schedule, by.TimeZone) {
				want(name, by.Zone)
			}
		}
	}
	if missing == 0 {
		return nil
	}
	for r, err := range src.Records(ctx, history.Query{Kinds: []events.Kind{events.KindZoneStored}}) {
		if err != nil {
			return err
		}
		if f, ok := r.Facts.(*events.ZoneRules); ok {
			if _, wanted := c.rules[f.Hash]; wanted {
				c.rules[f.Hash] = f.TZif
			}
		}
	}
	return nil
}

// scheduleOf is a schedule with the rules of that hash for whatever zone it names; empty for those of the newest observation.
func (c *CronJob) scheduleOf(text string, timeZone *string, hash string) (schedule.Schedule, *time.Location, error) {
	rules := func(name string) (*time.Location, error) {
		of := hash
		if of == "" && c.Seen != nil {
			for _, z := range c.Seen.Zones {
				if z.Name == name {
					of = z.Hash
				}
			}
		}
		if c.rules[of] == nil {
			return nil, schedule.UnknownZone(name)
		}
		return time.LoadLocationFromTZData(name, c.rules[of])
	}
	zone := time.UTC
	var given *time.Location
	if timeZone != nil && !schedule.NamesZone(text) {
		var err error
		if zone, err = schedule.Locate(*timeZone, rules); err != nil {
			return schedule.Schedule{}, nil, err
		}
		given = zone
	}
	s, err := schedule.Parse(text, given, rules)
	return s, zone, err
}
