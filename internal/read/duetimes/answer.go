package duetimes

import (
	"errors"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/schedule"
)

// ErrUnseen is returned if the log has no version of the CronJob's object, for example because it is pruned.
var ErrUnseen = errors.New("the log does not say what the CronJob's schedule is")

// mostCounted: Count gives up on a range of due times at this number. One due time per minute for a year is 527,040;
// counting them takes half a second. Rare due times take longer to find, so Count also gives up on a range longer than
// longestCounted.
const (
	mostCounted    = 600_000
	longestCounted = 10 * 366 * 24 * time.Hour
)

// Count returns how many due times an entry (the outcome of one due time, or of a range) covers. ok is false if the
// schedule is not known, or if the range is too large to count (mostCounted).
func (c *CronJob) Count(e *Entry) (n int, ok bool) {
	if e.First == e.Last {
		return 1, true
	}
	key := dueRange{e.Record, e.First}
	if n, counted := c.counts[key]; counted {
		return n, n > 0 && n < mostCounted
	}
	if c.counts == nil {
		c.counts = map[dueRange]int{}
	}
	n = c.count(e)
	c.counts[key] = n
	return n, n > 0 && n < mostCounted
}

// dueRange is the key of the cache of Count: the record that has the range of due times, and the first of them.
type dueRange struct {
	record events.Sequence
	first  events.Time
}

// count counts the due times of entry e (due times with the same outcome), without the cache of Count. It returns
// mostCounted if there are as many or more, or if their range is too long to count, and 0 if the schedule is not known.
func (c *CronJob) count(e *Entry) (n int) {
	s, err := c.of(e.by)
	if err != nil {
		return 0
	}
	if e.Last.Sub(e.First) > longestCounted {
		return mostCounted
	}
	n = 1
	for range s.Between(e.First.Go(), e.Last.Go()) { // an @every schedule counts from e.First
		if n++; n == mostCounted {
			break
		}
	}
	return n
}

// Location returns the time zone of the schedule. It returns nil for UTC, and if the rules of the zone are not known.
func (c *CronJob) Location() *time.Location {
	if c.Seen == nil {
		return nil
	}
	t := history.TimingOf(c.Seen)
	_, zone, err := c.rules.Schedule(t.Schedule, t.TimeZone, t.Hash)
	if err != nil || zone == time.UTC {
		return nil
	}
	return zone
}

// Between counts the due times with from < due <= to, by the newest schedule, up to 100. more reports whether there are
// more.
func (c *CronJob) Between(from, to time.Time) (n int, more bool) {
	const most = 100
	if c.Seen == nil {
		return 0, false
	}
	t := history.TimingOf(c.Seen)
	s, _, err := c.rules.Schedule(t.Schedule, t.TimeZone, t.Hash)
	if err != nil {
		return 0, false
	}
	for range s.Between(from, to) {
		if n == most {
			return n, true
		}
		n++
	}
	return n, false
}

// of parses the schedule in a due-time ledger (the recorded schedule, and how far its due times are decided). If the
// schedule cannot be parsed, the result has no due times.
func (c *CronJob) of(by *events.TickLedger) (schedule.Schedule, error) {
	if by == nil {
		return schedule.Schedule{}, ErrUnseen
	}
	s, _, err := c.rules.Schedule(by.Schedule, by.TimeZone, func(string) string { return by.Zone })
	return s, err
}

// Open returns the due time that is still undecided (neither started nor skipped), and what holds it back; nil for
// none.
func (c *CronJob) Open() *history.OpenDue {
	if e := c.Unstarted(); e != nil && c.Blind == 0 && (c.Elsewhere || c.Ledger == nil || c.Ledger.Open == 0) {
		return c.waiting(e)
	}
	l := c.Ledger
	if l == nil || l.Open == 0 || l.Closed || c.Elsewhere || c.Gone != 0 {
		return nil
	}
	out := &history.OpenDue{At: recordjson.Instant(l.Open), Hold: l.Hold.String(), Says: words.HoldText(l.Hold)}
	for i := range c.Holds {
		if h := &c.Holds[i]; h.Due == l.Open && h.By == l.Hold {
			out.Since, out.Record = recordjson.Instant(h.At), uint64(h.Record)
		}
	}
	return out
}

// waiting converts the result of Unstarted, the due times that another controller has not started so far, into an
// OpenDue, as answers have it.
func (c *CronJob) waiting(e *Entry) *history.OpenDue {
	hold, kept := events.NotHeld, c.keptNow()
	if kept != nil {
		hold = kept.By
	}
	out := &history.OpenDue{At: recordjson.Instant(e.Last), Hold: hold.String(), Says: words.WaitText(hold)}
	if !e.Observed && hold == events.NotHeld {
		out.Says = words.Undecided
	}
	if kept != nil && !kept.Before {
		out.Since, out.Record = recordjson.Instant(kept.First.At), uint64(kept.First.Record)
	}
	if e.First != e.Last {
		out.First = recordjson.Instant(e.First)
	}
	return out
}

// Next returns the first n due times after an instant by the newest schedule, and the time zone of the schedule.
func (c *CronJob) Next(after time.Time, n int) (due []time.Time, zone *time.Location, err error) {
	if c.Seen == nil {
		return nil, nil, ErrUnseen
	}
	return c.rules.Next(history.TimingOf(c.Seen), after, n)
}

// DueAfter returns the instant after which Next must search the next due time: now, or the newest started due time if
// that is later than now. It can be later because the clock of another controller is ahead.
func (c *CronJob) DueAfter(now time.Time) time.Time {
	after := max(events.At(now), c.kept.since)
	if c.Seen != nil {
		after = max(after, c.Seen.LastSchedule)
	}
	for i := range c.seenRuns {
		after = max(after, c.seenRuns[i].Due)
	}
	return after.Go()
}

// Verdict says what the log tells about one instant: whether it was a due time of the CronJob, and what became of it.
// An entry is the recorded or computed outcome of a due time, or of a range of them.
type Verdict struct {
	// Entry is the outcome of the due time, or of the range of due times, at the instant; nil for none. If its Record
	// is 0, no record tells the outcome: it was computed (Untold).
	Entry *Entry
	// Open is set if the instant is a due time that is still undecided and may start. Hold says why it has not started.
	Open   bool
	Hold   events.TickHold
	Future bool // due by the newest schedule, and not decided yet
	// Passed is set with Future if the instant is over. It is then still undecided, because the controller decides only
	// once a minute if nothing starts (C-085). Hold says why it has not started. Run is another run in the same minute;
	// nil for none. Its Job already has the name that the Job of this instant would get.
	Passed bool
	Run    *Entry
	// Unseen is set if the instant was a due time before the log's first record of the CronJob, by the schedule in that
	// record. No record tells what became of it.
	Unseen bool
	// Before and After are the due times around the instant, if it is not a due time itself; zero if there are none.
	Before, After time.Time
}

// Due reports whether the instant is a due time.
func (v *Verdict) Due() bool { return v.Entry != nil || v.Open || v.Future || v.Unseen }

// At returns what the log says about an instant; if several entries (outcomes) have it, the newest one. A run that a
// user started by hand is returned only if the instant is no due time.
func (c *CronJob) At(t time.Time) (v Verdict) {
	if v = c.at(t); v.Due() {
		return v
	}
	at := events.At(t)
	for i := len(c.Entries) - 1; i >= 0; i-- {
		if e := &c.Entries[i]; e.First == at {
			return Verdict{Entry: e}
		}
	}
	return v
}

// Asked reports whether the entry is a run that a user started (by hand, or by a request to the controller), and not
// the outcome of a due time.
func (e *Entry) Asked() bool {
	return e.By != "" || e.Fate == events.TickManual || e.Fate == events.TickTriggered
}

func (c *CronJob) at(t time.Time) (v Verdict) {
	at := events.At(t)
	for i := len(c.Entries) - 1; i >= 0; i-- {
		e := &c.Entries[i]
		if e.First <= at && at <= e.Last && !e.Asked() && c.has(e, t) {
			return Verdict{Entry: e}
		}
	}
	all := c.Untold()
	for i := range all {
		e := &all[i]
		if e.Fate == 0 && !c.Elsewhere && c.Ledger != nil && !c.Seen.Suspend {
			// This due time has no outcome, and our own controller runs the CronJob: whether it may still start follows
			// from c.Ledger, below.
			continue
		}
		if e.First <= at && at <= e.Last && c.has(e, t) {
			return Verdict{Entry: e, Open: e.Fate == 0 && at == e.Last}
		}
	}
	if l := c.Ledger; l != nil && l.Open == at && at != 0 && !c.Elsewhere && !l.Closed && c.Gone == 0 {
		return Verdict{Open: true, Hold: l.Hold}
	}
	if c.unlooked(at) {
		return Verdict{Future: true, Passed: true, Hold: c.Ledger.Hold, Run: c.namesake(at)}
	}
	if c.dueBefore(at) {
		return Verdict{Unseen: true}
	}
	if c.Gone == 0 {
		if next, _, err := c.Next(t.Add(-time.Second), 1); err == nil && len(next) > 0 && next[0].Equal(t) && at > c.now {
			return Verdict{Future: true}
		}
		v.After = c.nextAfter(t)
	}
	for i := range c.Entries {
		c.nearest(&v, &c.Entries[i], t)
	}
	if l := c.Ledger; l != nil {
		v.near(l.Open.Go(), t)
	}
	for i := range all {
		c.nearest(&v, &all[i], t)
	}
	return v
}

// unlooked reports whether an instant is a due time that has passed, but about which the controller has not decided
// yet.
func (c *CronJob) unlooked(at events.Time) bool {
	l := c.Ledger
	if l == nil || l.Closed || c.Elsewhere || c.Cut || c.Gone != 0 || at > c.now {
		return false
	}
	looked := max(l.Through, l.Open)
	if at <= looked || looked == 0 {
		return false
	}
	by := l
	// After an edit, c.Ledger has the old schedule until the next decision: use the schedule that was in force at the
	// instant.
	for i := range c.timings {
		if t := &c.timings[i]; t.from <= at && !t.same(l) {
			by, looked = &t.by, max(looked, t.from)
		}
	}
	s, _ := c.of(by)
	return s.Next(s.Base(looked.Go(), at.Go().Add(-time.Second))).Equal(at.Go())
}

// namesake returns the entry (outcome of a due time) whose run is in the same minute as the instant; nil for none. Both
// runs would give their Job the same name, because the name has only the minute (C-152).
func (c *CronJob) namesake(at events.Time) *Entry {
	for i := len(c.Entries) - 1; i >= 0; i-- {
		if e := &c.Entries[i]; e.Job != "" && e.Last.Go().Unix()/60 == at.Go().Unix()/60 {
			return e
		}
	}
	return nil
}

// has reports whether t is one of the due times of an entry, which is the outcome of a range of due times. t lies
// within that range.
func (c *CronJob) has(e *Entry, t time.Time) bool {
	if e.First == e.Last || e.First.Go().Equal(t) || e.Last.Go().Equal(t) {
		return true
	}
	s, _ := c.of(e.by)
	return s.Next(s.Base(e.First.Go(), t.Add(-time.Second))).Equal(t)
}

// nearest looks at the due times of an entry (the outcome of a range of them) around t. It sets v.Before and v.After to
// them if they are nearer to t than what is set.
func (c *CronJob) nearest(v *Verdict, e *Entry, t time.Time) {
	v.near(e.First.Go(), t)
	v.near(e.Last.Go(), t)
	if s, _ := c.of(e.by); e.First.Go().Before(t) && t.Before(e.Last.Go()) {
		v.near(s.Next(s.Base(e.First.Go(), t)), t)
		v.near(s.Last(e.First.Go(), t), t)
	}
}

// near sets v.Before or v.After to a due time, if it is nearer to t than the present one. It ignores the zero time.
func (v *Verdict) near(due, t time.Time) {
	switch {
	case due.Before(t) && (v.Before.IsZero() || due.After(v.Before)):
		v.Before = due
	case due.After(t) && (v.After.IsZero() || due.Before(v.After)):
		v.After = due
	}
}
