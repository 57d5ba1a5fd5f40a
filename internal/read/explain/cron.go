package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// cronEntries is how many of the newest due times an answer about a CronJob looks at, at least, as far as the log has
// them.
const cronEntries = 30

// CronCase is what the log tells of one CronJob up to a point: of its newest due times, its Jobs, and what was changed
// meanwhile.
type CronCase struct {
	State history.CronJob
	fates
	*misses

	ctx    context.Context
	src    history.Source
	stream events.Stream
	damage events.Sequence // the first record that cannot be read, and what follows is not told; 0 for none

	passed     history.PassedOver // of all namespaces
	templates  map[string][]byte  // of its Jobs, redacted, by their hash
	unrecorded unrecorded
	began      bool // the first record that was read is the CronJob's first
	added      Mark // its first observation; none when earlier records are not kept
	gone       Mark
	runs       []*cronRun // that were seen, in the order in which they were first
	off        []Mark     // starts of a controller that records no CronJobs
}

// cronRun is a Job of the CronJob, as it is told.
type cronRun struct {
	events.RunSeen
	First, Ended, Gone Mark        // when it was seen first, that it has ended, that it is gone
	MadeFor            events.Time // its due time as it was seen first; 0 for none
	Left               bool        // it is not gone: it is the CronJob's no longer
	unseen             bool        // only the answer to its create tells of it
}

// ReadCron reads the end of a CronJob's stream up to a point. Errors are those of history.CronJobAt; with one, the case
// is as of the last record before the damage, if there is one.
func ReadCron(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*CronCase, error) {
	state, failed := history.CronJobAt(ctx, src, s, at)
	if state.UID == "" {
		return nil, failed
	}
	c := &CronCase{State: state, ctx: ctx, src: src, stream: s, misses: &misses{}}
	c.location = state.Location()
	var bad *store.CorruptError
	if errors.As(failed, &bad) {
		c.damage = bad.At
	}
	through := events.Sequence(state.AsOf.Sequence)
	from, err := duetimes.Before(ctx, src, s, cronEntries, through)
	switch {
	case err == nil:
	case from != 0 && src.Beside(err): // what stands behind the damage is looked at
		failed = errors.Join(failed, err)
	default:
		return c.without(err, failed)
	}
	c.due, err = duetimes.ReadSpan(ctx, src, s, duetimes.Span{From: from, Through: through, Now: c.now(), Visit: c.visit})
	if err != nil {
		return c.without(err, failed)
	}
	for i := range state.InFlight {
		if x := &state.InFlight[i]; !strings.HasPrefix(x.Does, "create ") {
			continue
		}
		c.asked = state.InFlight[i]
		if d := state.LastDecision; d != nil {
			c.askedBy = []Mark{record(events.Sequence(d.Sequence))}
		}
	}
	return c, errors.Join(failed, c.surroundings(from, through))
}

// without is the case where due times cannot be read: of what is damaged there is the state alone.
func (c *CronCase) without(err, failed error) (*CronCase, error) {
	if c.due == nil {
		c.due = &duetimes.CronJob{}
	}
	if failed != nil && c.src.Beside(err) {
		return c, failed
	}
	return c, errors.Join(failed, err)
}

// surroundings reads from the controller's stream when nobody watched, from a record on; from its beginning for 0.
func (c *CronCase) surroundings(from, through events.Sequence) error {
	begin := events.Sequence(0)
	if from != 0 {
		var err error
		if begin, err = history.Stated(c.ctx, c.src, events.Controller, from); err != nil && !c.src.Beside(err) {
			return err
		}
	}
	var gaps history.Gaps
	seen := map[*history.Gap]bool{}
	for r, err := range history.PastDamage(c.ctx, c.src, events.Controller, begin) {
		if c.src.Beside(err) {
			gaps = history.Gaps{}
			continue
		}
		if err != nil {
			return err
		}
		if through != 0 && r.Sequence > through {
			break
		}
		c.passed.Learn(&r)
		if g := gaps.Learn(&r); g != nil && !seen[g] {
			seen[g] = true
			c.gaps = append(c.gaps, g)
		}
		if f, ok := r.Facts.(*events.ControllerStarted); ok && !f.Settings.CronJobs {
			c.off = append(c.off, markOf(&r))
		}
	}
	return nil
}

// visit takes in a record of the CronJob's stream.
func (c *CronCase) visit(r *events.Record) {
	c.began = c.began || r.Previous == 0
	c.unrecorded.learn(r)
	switch f := r.Facts.(type) {
	case *events.CronJobSeen:
		if r.Kind == events.KindCronJobAdded && c.added.Record == 0 {
			c.added = markOf(r)
		}
		if f.Deleted != 0 && c.deleting.Record == 0 {
			c.deleting = markOf(r)
		}
		c.gone = Mark{}
	case *events.CronJobGone:
		c.gone = markOf(r)
	case *events.JobTemplate:
		if c.templates == nil {
			c.templates = map[string][]byte{}
		}
		c.templates[f.Hash] = r.Evidence.Template
	case *events.RunSeen:
		run := c.run(f.Job)
		if run == nil {
			run = &cronRun{First: markOf(r), MadeFor: f.Due}
			c.runs = append(c.runs, run)
		}
		run.Gone, run.Left, run.unseen = Mark{}, false, false // one that had left may have been taken back
		if run.RunSeen = *f; f.Result != events.ResultNone && run.Ended.Record == 0 {
			run.Ended = markOf(r)
		}
	case *events.RunGone:
		if run := c.run(f.Job); run != nil {
			run.Gone, run.Left = markOf(r), f.Left
		}
	case *events.CommandEnded:
		c.answered(r, f)
	}
}

// answered takes in that the API server made or deleted a Job for us. A watch may show it later, or never.
func (c *CronCase) answered(r *events.Record, f *events.CommandEnded) {
	if f.Ending != events.Done {
		return
	}
	switch f.Type {
	case events.CommandCreateJob:
		if f.UID != "" && c.run(f.UID) == nil {
			c.runs = append(c.runs, &cronRun{First: markOf(r), MadeFor: f.Due, unseen: true, RunSeen: events.RunSeen{
				Job: f.UID, Name: r.Evidence.Name, Version: f.Version, Created: cmp.Or(f.Written, r.Time), Due: f.Due, Manual: f.Due == 0,
			}})
		}
	case events.CommandDeleteRun:
		if run := c.run(f.Run); run != nil && run.unseen && run.Gone.Record == 0 {
			run.Gone = markOf(r)
		}
	}
}

func (c *CronCase) run(uid types.UID) *cronRun {
	for _, r := range c.runs {
		if r.Job == uid {
			return r
		}
	}
	return nil
}

// In makes sentences say their times in that zone, instead of UTC. Due times are said in the zone of the schedule, too.
func (c *CronCase) In(zone words.Zone) { c.zone = zone }

// now is the time as of which the answer is.
func (c *CronCase) now() events.Time { return events.Time(c.State.AsOf.Time) }

// fates say what became of due times, and why.
type fates struct {
	due      *duetimes.CronJob
	gaps     []*history.Gap    // times in which nobody watched
	zone     words.Zone        // of the times in sentences
	location *time.Location    // in which the schedule is written; nil for UTC
	dates    bool              // days are written with their year, and as commands take them
	before   *duetimes.CronJob // the one of before of that name, where it was deleted by then
	asked    history.Command   // for the start of the open due time, and was not answered; zero for none
	askedBy  []Mark
	deleting Mark // the record that shows that the CronJob is being deleted
	whole    bool // the words of others are not cut
}

// at is a due time for people: in the zone of the schedule, and in UTC.
func (f *fates) at(t events.Time) string {
	if f.location == nil || f.zone.Location != nil {
		return f.moment(f.zone.In(t)) + " " + f.zone.Name(t)
	}
	own, utc := t.Go().In(f.location), t.Go()
	layout := clockLayout(utc)
	if own.Day() != utc.Day() {
		layout = f.day() + layout
	}
	return fmt.Sprintf("%s %s (%s UTC)", f.moment(own), f.location, utc.Format(layout))
}

// in is a due time in the zone of the schedule.
func (f *fates) in(t events.Time) string {
	if f.location == nil || f.zone.Location != nil {
		return f.at(t)
	}
	return f.short(t) + " " + f.location.String()
}

// short is a due time without its zone.
func (f *fates) short(t events.Time) string {
	if f.location == nil || f.zone.Location != nil {
		return f.moment(f.zone.In(t))
	}
	return f.moment(t.Go().In(f.location))
}

// moment writes a time with its day. Most due times are whole minutes.
func (f *fates) moment(t time.Time) string { return t.Format(f.day() + clockLayout(t)) }

func (f *fates) day() string {
	if f.dates {
		return "2006-01-02 "
	}
	return "2 Jan "
}

func clockLayout(t time.Time) string {
	if t.Second() != 0 {
		return "15:04:05"
	}
	return "15:04"
}

// seen is a time at which something was seen, or decided, by our clock.
func (f *fates) seen(t events.Time) string {
	if t == 0 {
		return "an unknown time"
	}
	in := f.zone.In(t)
	return in.Format(f.day() + "15:04:05")
}

// isDue reports whether the entry is a due time, and no run that a user made or asked for.
func isDue(e *duetimes.Entry) bool {
	return !e.Asked()
}
