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

// CronJob is the result of reading a CronJob's records, or a part of them: what became of its due times, and what was
// seen of the object. An entry (Entries) is the outcome of one due time, or of a range of them.
type CronJob struct {
	Ref     events.JobRef
	Seen    *events.CronJobSeen // newest version of the CronJob's object
	Gone    events.Time         // when the deletion of the CronJob was recorded; 0 if it was not
	Entries []Entry             // due times and what became of them, in log order
	// EndUnseen is set if no record tells of the deletion. Gone is then the creation of the next CronJob with the same
	// name.
	EndUnseen bool
	Holds     []Hold             // reasons why due times could not start, in log order
	Ledger    *events.TickLedger // through when due times are decided; nil before the first decision

	Changes  []Change  // changes of the CronJob's spec, in log order
	Refusals []Refusal // failed creates of the CronJob's Jobs, in the order in which they began

	// Unrecorded counts versions of the CronJob or its Jobs that got no record: such counts stand in a later record.
	Unrecorded []Unrecorded

	// Told is set if reading began at a checkpoint (a record with the whole state): Entries then lacks the due times up
	// to Told, though the log may have them. It is 0 if all records that are not pruned were read.
	Told  events.Time
	rules history.ZoneRules
	asked map[events.CommandID]*events.CreateJob

	Cut       bool        // a damaged record ended reading: later records are missing
	Elsewhere bool        // another controller starts the CronJob's Jobs
	Blind     events.Time // since when no controller records CronJobs; 0 if one does
	BlindBy   events.Sequence
	now       events.Time // time as of which the answers are
	kept      keeping
	counts    map[dueRange]int   // cache of Count, by range of due times
	begun     *events.TickLedger // first state of Ledger, before any decision; nil until the object is seen
	timings   []timing           // the schedules that were in force, in order
	missed    bool               // a listing showed that the CronJob is gone: no watch reported the deletion
	first     events.Sequence    // first record that was read
	lastAt    events.Time        // time of the last record that was read
	// then is the version of the CronJob in force at thenAt. Around sets it, because it does not read the changes from
	// thenAt to now.
	then      *events.CronJobSeen
	thenAt    events.Time
	partial   bool                   // reading ended early (Around, OfJob): later due times were not read
	gaps      []ticks.Gap            // times in which nobody watched the cluster; read only if a change was missed
	unlisted  *events.ListingStarted // listing of the cluster that was still running at the end; nil for none
	seenRuns  []events.RunSeen       // Jobs that were seen, for due times that are not in Entries
	firstSeen map[types.UID]events.Time

	seenIn      Place               // record with the version Seen; zero if reading began with a checkpoint that has it
	firstSeenAs *events.CronJobSeen // first version of the CronJob in the part that was read
	found       Place               // first record with the CronJob's object; zero if reading began with a checkpoint
	untold      []Entry             // computed outcomes of due times (Untold); nil until computed
	behind      events.Sequence     // first record after the damage that ended reading; 0 if unknown
}

// Entry is the outcome (events.Tick.Fate) of one due time, or of a range of due times with the same outcome, and the
// record that says so. Entries that are computed (Untold) have no record.
type Entry struct {
	events.Tick
	Record events.Sequence
	At     events.Time
	by     *events.TickLedger // schedule that gives the due times of the entry; nil if unknown
	since  events.Time        // newest due time that started before those of the entry
}

// Hold says that the CronJob could not start a due time from the time At on, and why (By).
type Hold struct {
	Due    events.Time
	By     events.TickHold
	Record events.Sequence
	At     events.Time
	Active []string // names of the CronJob's Jobs that were running then
}

// Change is a change of the CronJob's spec: the versions before and after, and the record (Record) of the second.
type Change struct {
	Before, After *events.CronJobSeen
	By            *events.Edit // who made the change; nil if the object does not tell
	Record        events.Sequence
	At            events.Time
	Was           Place // newest record with the version Before; zero if unknown
}

// Refusal is one or more failed creates of a Job, one after the other and with the same class of error.
type Refusal struct {
	Due         events.Time // 0 if a user asked for the run
	Job         string
	Class       events.RefusalClass // 0 if the outcome is unknown
	Says        string              // the API server's message
	First, Last events.Sequence
	From, Until events.Time
}

// Unrecorded says how many versions of an object, seen shortly before Record, got no record.
type Unrecorded struct {
	Versions uint64
	Record   events.Sequence
	At       events.Time
}

// Span is a part of a CronJob's records, from From through Through. From is a record where reading can begin: a
// checkpoint with the whole state, as returned by Before or history.Stated, or 0 for the first record. Through is 0 for
// the end.
type Span struct {
	From, Through events.Sequence
	Now           events.Time          // time as of which the answers are; 0 for that of the last record
	Visit         func(*events.Record) // called for each record; may be nil
}

// Read reads all records of a CronJob that are not pruned.
func Read(ctx context.Context, src history.Source, s events.Stream) (*CronJob, error) {
	return ReadSpan(ctx, src, s, Span{})
}

// Parts reads all readable records of a CronJob from a damaged log. It returns one part for each stretch without
// damage. The last part has the present state, unless its Cut is set, which means that damage hides the end.
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

// Newest reads the last records of a CronJob: enough for n entries (outcomes of due times). If they are damaged, it
// returns an error, and the part after the damage. If no record after the damage has the whole state, with which
// reading must begin, it returns the part before the damage, with Cut set.
func Newest(ctx context.Context, src history.Source, s events.Stream, n int) (*CronJob, error) {
	from, unread := Before(ctx, src, s, n, 0)
	through := events.Sequence(0)
	var bad *store.CorruptError
	if errors.As(unread, &bad) && from == 0 && bad.At > 1 {
		through = bad.At - 1
		// If no checkpoint (a record with the whole state) follows the damage, read the records before the damage.
		from, _ = Before(ctx, src, s, n, through)
	} else if unread != nil && (from == 0 || !src.Beside(unread)) {
		return nil, unread
	}
	c, err := ReadSpan(ctx, src, s, Span{From: from, Through: through})
	if c != nil {
		c.Cut = c.Cut || through != 0
	}
	return c, errors.Join(unread, err)
}

// Since reads the last records of a CronJob: enough for all entries (outcomes of due times) that end at or after t.
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
	// If the clock was set back, the checkpoint with which reading began may already be past t: read all records.
	if err == nil && c.Told >= t {
		return Read(ctx, src, s)
	}
	return c, err
}

// Before returns the record where reading must begin, to get n entries (outcomes of due times) up to record through; 0
// means the end of the log. It is a checkpoint, a record with the whole state, or 0 for the first record. If the error
// is store.ErrCorrupt, Before returns the first checkpoint after the damage, or 0 if there is none.
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

// Around reads the records that tell what became of one instant: from the last checkpoint (a record with the whole
// state) before the instant up to its outcome. It adds the present state from the end of the log. If one of these parts
// is damaged, it returns an error.
func Around(ctx context.Context, src history.Source, s events.Stream, at events.Time) (*CronJob, error) {
	end, err := Newest(ctx, src, s, 0)
	switch {
	case end != nil && !end.Cut && src.Beside(err) && end.Told != 0 && at > end.Told:
		// If only records before this end part are damaged, and the end part has the instant, the end part is enough.
		return end, nil
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
	// If the clock was set back, the checkpoint with which reading began may already have the outcome: read all
	// records.
	if c.Told >= at {
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

// mostBehind limits OfJob: it searches the due time of a Job in at most 512 records after the first record of the Job.
const mostBehind = 512

// OfJob finds the due time for which the CronJob created a Job. near is a record near the Job's first one. OfJob
// returns the entry (outcome) of the due time, and what was seen of the Job (run); each is nil if the log lacks it. If
// the log has no record of the CronJob, the error is history.ErrNoCronJob.
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

// ReadSpan reads a part of a CronJob's records. If a record is damaged, it returns an error, and what precedes the
// damage.
func ReadSpan(ctx context.Context, src history.Source, s events.Stream, span Span) (*CronJob, error) {
	return read(ctx, src, s, span, nil)
}

// read is ReadSpan with a condition to stop: reading ends after the record at which enough returns true. enough may be
// nil.
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

// findSettings reads the controller's own records backward from record through, to learn which controller starts Jobs
// of CronJobs, and whether a listing of the cluster is still running. If through is 0, it also updates c.now.
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
			// If newer settings do not record CronJobs (Blind), these older settings say who started their Jobs until
			// then.
			if c.Blind != 0 {
				c.Elsewhere = settings.CronJobs && !settings.RunsCronJobs()
			}
			return nil
		}
	}
	return nil
}

func (c *CronJob) runs(s *events.Settings) { c.Elsewhere = s.CronJobs && !s.RunsCronJobs() }

// findRules loads the recorded rules of all time zones that the CronJob's schedules name.
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
