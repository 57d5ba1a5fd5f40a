package duetimes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/follow"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/ticks"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// CronJob is what a log tells of a CronJob.
type CronJob struct {
	Ref     events.JobRef
	Seen    *events.CronJobSeen // newest
	Gone    events.Time         // when its end was recorded; 0 for not
	Entries []Entry             // of its due times, in the order in which they were told
	// EndUnseen: no record tells of its end. Gone is when another one was created under its name.
	EndUnseen bool
	Holds     []Hold             // what held due times back, in the order in which it was told
	Ledger    *events.TickLedger // as it stands; nil before the first decision

	Changes  []Change  // of its spec, in their order
	Refusals []Refusal // of creates of its Jobs, by due time, in the order in which they began

	// Unrecorded are the records that were read which say that versions of the CronJob or its Jobs were passed over before
	// them.
	Unrecorded []Unrecorded

	// Told is the instant from which on due times are told: those through it have no entry here, though they may have one
	// in the log. It is 0 where all that are kept were read.
	Told  events.Time
	rules history.ZoneRules
	asked map[events.CommandID]*events.CreateJob

	Cut       bool        // damage of the log hides what came of it
	Elsewhere bool        // another controller runs it
	Blind     events.Time // since when no controller records CronJobs; 0 where one does
	BlindBy   events.Sequence
	now       events.Time // as of which it was read
	kept      keeping
	counts    map[dueRange]int    // of ranges of due times. An answer asks for each again and again
	begun     *events.TickLedger  // how the ledger began; nil while the object was not seen
	timings   []timing            // by what it was due, in order
	missed    bool                // a listing showed that it is gone
	first     events.Sequence     // the first record that was read
	lastAt    events.Time         // of the last one of its stream
	then      *events.CronJobSeen // as it was at thenAt: of changes between that and now some may not have been read; nil where all were
	thenAt    events.Time
	partial   bool                   // only what became of some due times was read
	gaps      []ticks.Gap            // in which nobody watched, where that matters
	unlisted  *events.ListingStarted // the listing in the middle of which it was read; nil for none
	seenRuns  []events.RunSeen       // of due times, of which no record tells yet
	firstSeen map[types.UID]events.Time

	seenIn      Place               // the record that shows Seen; zero for a stored state
	firstSeenAs *events.CronJobSeen // as it was when reading began
	found       Place               // the record that shows it first; zero where reading began with a stored state
	untold      []Entry             // nil until they were computed
	behind      events.Sequence     // the first record behind the damage at which reading ended; 0 where that is not known
}

// Entry is a due time with its fate, or a range of them, and where that is written.
type Entry struct {
	events.Tick
	Record events.Sequence
	At     events.Time
	by     *events.TickLedger // of before, by which they are counted; nil where it is not kept
	since  events.Time        // the due time that was started last before it, or from which the ledger counts
}

// Hold is that something held a due time back from then on.
type Hold struct {
	Due    events.Time
	By     events.TickHold
	Record events.Sequence
	At     events.Time
	Active []string // the Jobs that the CronJob's status said to run then
}

// Change is a change of the CronJob's spec.
type Change struct {
	Before, After *events.CronJobSeen
	By            *events.Edit // nil where the object does not tell
	Record        events.Sequence
	At            events.Time
	Was           Place // the newest record of the CronJob as it was before; zero for none that is kept
}

// Refusal is that the API server refused the Job of a due time, or of a run that was asked for, once or again and
// again.
type Refusal struct {
	Due         events.Time // 0 for a run that was asked for
	Job         string
	Class       events.RefusalClass // 0 for an unknown end
	Says        string              // in the server's words
	First, Last events.Sequence
	From, Until events.Time
}

// Unrecorded is how many versions were seen and not recorded, as a record behind them says.
type Unrecorded struct {
	Versions uint64
	Record   events.Sequence
	At       events.Time
}

// Span is a part of a stream: from a record with which a reader may begin (history.Stated), or 0 for the first, through
// another one, or 0 for the last.
type Span struct {
	From, Through events.Sequence
	Now           events.Time          // as of which due times have passed; 0 for the time of the last record that is read
	Visit         func(*events.Record) // is shown each record; nil for nobody
}

// Read reads the stream of a CronJob, as far as it is kept.
func Read(ctx context.Context, src history.Source, s events.Stream) (*CronJob, error) {
	return ReadSpan(ctx, src, s, Span{})
}

// Parts reads all of the stream that can be read, in its order: one part, and behind each damaged place another one,
// if there are records. The last part says what the CronJob is now, unless it is cut, too.
func Parts(ctx context.Context, src history.Source, s events.Stream) (parts []*CronJob, err error) {
	for from := events.Sequence(0); ; {
		c, unread := ReadSpan(ctx, src, s, Span{From: from})
		err = errors.Join(err, unread)
		if c == nil {
			return parts, err
		}
		if c.first != 0 || from == 0 && c.behind == 0 {
			parts = append(parts, c)
		}
		if c.behind <= from {
			return parts, err
		}
		from = c.behind
	}
}

// Newest reads the end of the stream, with at least so many entries, if there are. Where the log is damaged it gives
// with the error what stands behind the damage; where nothing does, what stands before, which is cut.
func Newest(ctx context.Context, src history.Source, s events.Stream, n int) (*CronJob, error) {
	from, unread := Before(ctx, src, s, n, 0)
	through := events.Sequence(0)
	var bad *store.CorruptError
	if errors.As(unread, &bad) && from == 0 && bad.At > 1 {
		through = bad.At - 1
		from, _ = Before(ctx, src, s, n, through) // nothing is told without a stored state: then it is read from the beginning
	} else if unread != nil && (from == 0 || !src.Beside(unread)) {
		return nil, unread
	}
	c, err := ReadSpan(ctx, src, s, Span{From: from, Through: through})
	if c != nil {
		c.Cut = c.Cut || through != 0
	}
	return c, errors.Join(unread, err)
}

// Since reads the end of the stream, with all entries that end at a time or later.
func Since(ctx context.Context, src history.Source, s events.Stream, t events.Time) (*CronJob, error) {
	through, err := history.FirstAt(ctx, src, t)
	if err != nil {
		return nil, err
	}
	from, err := history.Stated(ctx, src, s, through)
	if err != nil {
		return nil, err
	}
	c, err := ReadSpan(ctx, src, s, Span{From: from})
	if err == nil && c.Told >= t { // the clock was set back
		return Read(ctx, src, s)
	}
	return c, err
}

// Before is the record with which to begin to read at least so many entries through a record, or through the last (0);
// 0 for the first. With an error that is ErrCorrupt it is the first stored state behind the damage, 0 for none.
func Before(ctx context.Context, src history.Source, s events.Stream, n int, through events.Sequence) (events.Sequence, error) {
	entries, stated := 0, events.Sequence(0)
	for r, err := range src.ReadStream(ctx, s, through, store.Backward) {
		if errors.Is(err, store.ErrPruned) {
			break
		}
		if err != nil {
			return stated, fmt.Errorf("read the records of the CronJob: %w", err)
		}
		if r.Kind == events.KindStateStored {
			stated = r.Sequence
		}
		if entries >= n && stated == r.Sequence {
			return stated, nil
		}
		for _, step := range steps(&r) {
			entries += len(step.Ticks)
		}
	}
	return 0, nil
}

// Around reads what became of an instant: the stream from before it to where it has its fate. What the CronJob is now
// is read from the end of the stream. Where the log is damaged in what would have to be read, there is no answer.
func Around(ctx context.Context, src history.Source, s events.Stream, at events.Time) (*CronJob, error) {
	end, err := Newest(ctx, src, s, 0)
	switch {
	case end != nil && !end.Cut && src.Beside(err) && end.Told != 0 && at > end.Told:
		return end, nil // the damage lies before
	case err != nil:
		return nil, err
	case end.Told == 0 || at > end.Told:
		return end, nil
	}
	through, err := history.FirstAt(ctx, src, at)
	if err != nil {
		return nil, err
	}
	from, err := history.Stated(ctx, src, s, through)
	if err != nil {
		return nil, err
	}
	c, err := read(ctx, src, s, Span{From: from}, func(c *CronJob) bool { return c.Ledger != nil && c.Ledger.Through >= at })
	if err != nil {
		return nil, err
	}
	if c.Told >= at { // it had its fate before the time at which it was due: the clock was set back
		if c, err = Read(ctx, src, s); err != nil {
			return nil, err
		}
	}
	c.then, c.thenAt = c.Seen, c.lastAt
	c.Seen, c.Gone = end.Seen, end.Gone
	for i := range end.Changes {
		if ch := &end.Changes[i]; !slices.ContainsFunc(c.Changes, func(x Change) bool { return x.Record == ch.Record }) {
			c.Changes = append(c.Changes, *ch)
		}
	}
	return c, c.findRules(ctx, src)
}

// mostBehind is how many records of a CronJob are looked at behind the first one of a Job for what it was made for.
const mostBehind = 512

// OfJob reads for what a Job was made whose first record is near that one: its entry, and what the CronJob was told of
// it; nil for what the log does not tell. The error is history.ErrNoCronJob when it has no record of the CronJob.
func OfJob(ctx context.Context, src history.Source, s events.Stream, job types.UID, near events.Sequence) (c *CronJob, e *Entry, run *events.RunSeen, err error) {
	from, err := history.Stated(ctx, src, s, near)
	if err != nil {
		return nil, nil, nil, err
	}
	behind, any := 0, false
	span := Span{From: from, Visit: func(r *events.Record) {
		any = true
		if r.Sequence > near {
			behind++
		}
		if f, ok := r.Facts.(*events.RunSeen); ok && f.Job == job {
			run = f
		}
	}}
	c, err = read(ctx, src, s, span, func(c *CronJob) bool {
		n := len(c.Entries)
		return n > 0 && c.Entries[n-1].Job == job || behind > mostBehind
	})
	switch {
	case err != nil:
		return nil, nil, nil, err
	case !any:
		return nil, nil, nil, fmt.Errorf("%s: %w", s, history.ErrNoCronJob)
	}
	for i := range c.Entries {
		if c.Entries[i].Job == job {
			e = &c.Entries[i]
		}
	}
	return c, e, run, nil
}

// ReadSpan reads a part of the stream. Where the log is damaged it gives with the error what stands before.
func ReadSpan(ctx context.Context, src history.Source, s events.Stream, span Span) (*CronJob, error) {
	return read(ctx, src, s, span, nil)
}

// read reads a part of the stream, until it is enough.
func read(ctx context.Context, src history.Source, s events.Stream, span Span, enough func(*CronJob) bool) (*CronJob, error) {
	c := &CronJob{asked: map[events.CommandID]*events.CreateJob{}, now: span.Now}
	var unread error
	for r, err := range src.ReadStream(ctx, s, span.From, store.Forward) {
		if err != nil {
			var bad *store.CorruptError
			if errors.As(err, &bad) {
				c.Cut, c.behind = true, bad.Next
			}
			unread = fmt.Errorf("read the records of the CronJob: %w", err)
			break
		}
		if span.Through != 0 && r.Sequence > span.Through {
			break
		}
		if ref, ok := follow.Named(&r); ok {
			c.Ref = ref
		}
		if err := projector.Readable(&r); err != nil {
			return nil, fmt.Errorf("read record %d: %w", r.Sequence, err)
		}
		if err := c.take(&r); err != nil {
			return nil, err
		}
		if span.Visit != nil {
			span.Visit(&r)
		}
		if enough != nil && enough(c) {
			break
		}
	}
	c.partial = enough != nil
	return c, errors.Join(unread, c.findRules(ctx, src), c.findSettings(ctx, src, span.Through), c.findGaps(ctx, src, span.Through))
}

// findSettings finds who runs CronJobs, as of when that is, and whether a listing goes on then.
func (c *CronJob) findSettings(ctx context.Context, src history.Source, through events.Sequence) error {
	if through == 0 {
		_, head, err := src.Head(ctx)
		if err != nil {
			return err
		}
		now, err := src.Now(ctx)
		if err != nil {
			return err
		}
		through, c.now = head.Sequence, max(c.now, head.Time, now)
	}
	var listings history.Unlisted
	for r, err := range src.ReadStream(ctx, events.Controller, through, store.Backward) {
		if errors.Is(err, store.ErrPruned) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read who ran CronJobs: %w", err)
		}
		listings.Take(&r)
		c.unlisted = listings.Listing
		settings, err := history.SettingsIn(&r)
		if err != nil {
			return err
		}
		if settings != nil {
			if c.runs(settings); !settings.CronJobs {
				c.Blind, c.BlindBy = r.Time, r.Sequence
				continue
			}
			if c.Blind != 0 { // as it was before it was recorded no more
				c.Elsewhere = settings.CronJobs && !settings.RunsCronJobs()
			}
			return nil
		}
	}
	return nil
}

func (c *CronJob) runs(s *events.Settings) { c.Elsewhere = s.CronJobs && !s.RunsCronJobs() }

// findRules finds the rules of the zones that are named.
func (c *CronJob) findRules(ctx context.Context, src history.Source) error {
	var wanted []events.ZoneName
	if c.Seen != nil {
		wanted = append(wanted, c.Seen.Zones...)
	}
	asked := map[string]bool{}
	want := func(by *events.TickLedger) {
		if by != nil && by.Zone != "" && !asked[by.Zone] {
			asked[by.Zone] = true
			for _, name := range schedule.Named(by.Schedule, by.TimeZone) {
				wanted = append(wanted, events.ZoneName{Name: name, Hash: by.Zone})
			}
		}
	}
	for i := range c.Entries {
		want(c.Entries[i].by)
	}
	for i := range c.timings {
		want(&c.timings[i].by)
	}
	for i := range c.Changes {
		before := countsBy(c.Changes[i].Before)
		want(&before)
	}
	if c.firstSeenAs != nil {
		first := countsBy(c.firstSeenAs)
		want(&first)
	}
	return c.rules.Find(ctx, src, wanted...)
}
