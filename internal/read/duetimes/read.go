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

// CronJob is what a log tells about a CronJob.
type CronJob struct {
	Ref     events.JobRef
	Seen    *events.CronJobSeen // the newest
	Gone    events.Time         // when its deletion was recorded; 0 if it was not
	Entries []Entry             // fates of its due times, in log order
	// EndUnseen is set if no record tells of its deletion. Gone is then the creation of the next CronJob with its name.
	EndUnseen bool
	Holds     []Hold             // what held due times back, in log order
	Ledger    *events.TickLedger // newest state; nil before the first decision

	Changes  []Change  // changes of its spec, in log order
	Refusals []Refusal // refused creates of its Jobs, by due time, in the order in which they began

	// Unrecorded are records that say that versions of the CronJob or its Jobs before them were not recorded.
	Unrecorded []Unrecorded

	// Told is the instant up to which fates were not read: due times through it have no entry here, but may have one in
	// the log. It is 0 if all kept records were read.
	Told  events.Time
	rules history.ZoneRules
	asked map[events.CommandID]*events.CreateJob

	Cut       bool        // damage of the log hides later records
	Elsewhere bool        // another controller runs it
	Blind     events.Time // since when no controller records CronJobs; 0 if one does
	BlindBy   events.Sequence
	now       events.Time // time of the answer
	kept      keeping
	counts    map[dueRange]int   // cache of Count, which answers call again and again
	begun     *events.TickLedger // first state of the ledger; nil until the object is seen
	timings   []timing           // schedules in force, in order
	missed    bool               // a listing showed that it is gone
	first     events.Sequence    // first record that was read
	lastAt    events.Time        // time of the last record of its stream
	// then is the state at thenAt, if changes between thenAt and now may not have been read; else nil.
	then      *events.CronJobSeen
	thenAt    events.Time
	partial   bool                   // only the fates of some due times were read
	gaps      []ticks.Gap            // times without a watch, if they matter
	unlisted  *events.ListingStarted // unended listing during which it was read; nil for none
	seenRuns  []events.RunSeen       // runs for due times that have no fate yet
	firstSeen map[types.UID]events.Time

	seenIn      Place               // record that shows Seen; zero for a stored state
	firstSeenAs *events.CronJobSeen // state when reading began
	found       Place               // record that shows it first; zero if reading began with a stored state
	untold      []Entry             // result of Untold; nil until it is computed
	behind      events.Sequence     // first record after the damage that ended reading; 0 if unknown
}

// Entry is a due time with its fate, or a range of due times, and the record that has it.
type Entry struct {
	events.Tick
	Record events.Sequence
	At     events.Time
	by     *events.TickLedger // ledger before the entry, to count its due times; nil if unknown
	since  events.Time        // newest due time that started before it, or where the ledger counts from
}

// Hold says that something held a due time back from At on.
type Hold struct {
	Due    events.Time
	By     events.TickHold
	Record events.Sequence
	At     events.Time
	Active []string // Jobs that the CronJob's status listed as active then
}

// Change is a change of the CronJob's spec.
type Change struct {
	Before, After *events.CronJobSeen
	By            *events.Edit // nil if the object does not tell
	Record        events.Sequence
	At            events.Time
	Was           Place // newest record with the state before; zero if none is kept
}

// Refusal is one or more refused creates of the Job of a due time, or of a run that was asked for.
type Refusal struct {
	Due         events.Time // 0 for a run that was asked for
	Job         string
	Class       events.RefusalClass // 0 for an unknown outcome
	Says        string              // the API server's message
	First, Last events.Sequence
	From, Until events.Time
}

// Unrecorded counts versions that were seen and not recorded before Record.
type Unrecorded struct {
	Versions uint64
	Record   events.Sequence
	At       events.Time
}

// Span is a part of a stream. From is a record where reading can begin (history.Stated), or 0 for the first record.
// Through is the last record, or 0 for the end.
type Span struct {
	From, Through events.Sequence
	Now           events.Time          // time up to which due times have passed; 0 for the time of the last record
	Visit         func(*events.Record) // called for each record; may be nil
}

// Read reads the whole stream of a CronJob, as far as it is kept.
func Read(ctx context.Context, src history.Source, s events.Stream) (*CronJob, error) {
	return ReadSpan(ctx, src, s, Span{})
}

// Parts reads all of the stream that can be read. It returns one part up to the first damage, and one after each
// damaged place that has records after it. The last part has the present state, unless it is cut too.
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

// Newest reads the end of the stream, with at least n entries if there are so many. Where the log is damaged, it
// returns the part after the damage, and the error. If there is no such part, it returns the part before the damage,
// with Cut set.
func Newest(ctx context.Context, src history.Source, s events.Stream, n int) (*CronJob, error) {
	from, unread := Before(ctx, src, s, n, 0)
	through := events.Sequence(0)
	var bad *store.CorruptError
	if errors.As(unread, &bad) && from == 0 && bad.At > 1 {
		through = bad.At - 1
		from, _ = Before(ctx, src, s, n, through) // the damage has no stored state after it: read the part before
	} else if unread != nil && (from == 0 || !src.Beside(unread)) {
		return nil, unread
	}
	c, err := ReadSpan(ctx, src, s, Span{From: from, Through: through})
	if c != nil {
		c.Cut = c.Cut || through != 0
	}
	return c, errors.Join(unread, err)
}

// Since reads the end of the stream, with all entries that end at or after t.
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

// Before returns the record where reading must begin for at least n entries up to record through, or up to the end if
// through is 0. It returns 0 for the first record. With an error that is store.ErrCorrupt, it returns the first stored
// state after the damage, or 0 if there is none.
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

// Around reads the fate of an instant: the stream from before the instant up to its fate, and the present state of the
// CronJob from the end of the stream. It returns an error if the log is damaged in either part.
func Around(ctx context.Context, src history.Source, s events.Stream, at events.Time) (*CronJob, error) {
	end, err := Newest(ctx, src, s, 0)
	switch {
	case end != nil && !end.Cut && src.Beside(err) && end.Told != 0 && at > end.Told:
		return end, nil // the damage is before the end part
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
	if c.Told >= at { // its fate is older than its due time: the clock was set back
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

// mostBehind bounds the records of a CronJob, after the first record of a Job, that are searched for the Job's due
// time.
const mostBehind = 512

// OfJob finds what a Job was made for, given a record near the Job's first one: its entry, and the RunSeen of the Job.
// Each is nil if the log does not have it. OfJob returns history.ErrNoCronJob if the log has no record of the CronJob.
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

// ReadSpan reads a part of the stream. Where the log is damaged, it returns the part before the damage, and the error.
func ReadSpan(ctx context.Context, src history.Source, s events.Stream, span Span) (*CronJob, error) {
	return read(ctx, src, s, span, nil)
}

// read reads a part of the stream until enough returns true; enough may be nil.
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

// findSettings finds which controller runs CronJobs at record through, the present time, and whether a listing is under
// way.
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
			if c.Blind != 0 { // the state before recording ended
				c.Elsewhere = settings.CronJobs && !settings.RunsCronJobs()
			}
			return nil
		}
	}
	return nil
}

func (c *CronJob) runs(s *events.Settings) { c.Elsewhere = s.CronJobs && !s.RunsCronJobs() }

// findRules finds the rules of all zones that schedules name.
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
