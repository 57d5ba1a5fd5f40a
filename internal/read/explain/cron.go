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

// cronEntries is the minimum number of newest due times that an answer about a CronJob covers, if the log has them.
const cronEntries = 30

// CronCase is the history of one CronJob up to a point: its newest due times, its Jobs, and the edits meanwhile.
type CronCase struct {
	State history.CronJob
	fates
	*misses

	ctx    context.Context
	src    history.Source
	stream events.Stream
	damage events.Sequence // the first unreadable record, where the history stops; 0 for none

	passed     history.PassedOver // of all namespaces
	templates  map[string][]byte  // the redacted Job templates, by hash
	unrecorded unrecorded
	began      bool // the records read include the CronJob's first one
	added      Mark // its first observation; none if earlier records are pruned
	gone       Mark
	runs       []*cronRun // in the order of their first records
	off        []Mark     // starts of a controller that records no CronJobs
}

// cronRun is a Job of the CronJob.
type cronRun struct {
	events.RunSeen
	First, Ended, Gone Mark        // the first record of the Job, of its end, and of its disappearance
	MadeFor            events.Time // its due time, by its first record; 0 for none
	Left               bool        // it exists, but the CronJob no longer owns it
	unseen             bool        // known only from the response to its create
}

// ReadCron reads the last part of a CronJob's stream up to a point. It returns the errors of history.CronJobAt. With an
// error the case can still be non-nil: it then covers the records before the damage.
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
	case from != 0 && src.Beside(err): // the records behind the damage are still read
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

// without returns the case after its due times could not be read because of err. If err is damage, and failed already
// reports damage, it returns failed alone.
func (c *CronCase) without(err, failed error) (*CronCase, error) {
	if c.due == nil {
		c.due = &duetimes.CronJob{}
	}
	if failed != nil && c.src.Beside(err) {
		return c, failed
	}
	return c, errors.Join(failed, err)
}

// surroundings reads the gaps of the watch from the controller's stream, from record from on; 0 for its beginning.
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

// visit applies a record of the CronJob's stream.
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
		// The CronJob may have adopted a Job again that had left it.
		run.Gone, run.Left, run.unseen = Mark{}, false, false
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

// answered applies a create or delete of a Job that the API server confirmed. The watch may show it later, or never.
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

// In sets the time zone of times in sentences. The default is UTC. Due times are also written in the zone of the
// schedule.
func (c *CronCase) In(zone words.Zone) { c.zone = zone }

// now returns the time of the answer.
func (c *CronCase) now() events.Time { return events.Time(c.State.AsOf.Time) }

// fates explains what became of due times.
type fates struct {
	due      *duetimes.CronJob
	gaps     []*history.Gap    // gaps of the watch
	zone     words.Zone        // the time zone of times in sentences
	location *time.Location    // the time zone of the schedule; nil for UTC
	dates    bool              // write days with their year, in the format of command arguments
	before   *duetimes.CronJob // the deleted CronJob that had this name before; nil for none
	asked    history.Command   // the pending command that starts the open due time; zero for none
	askedBy  []Mark
	deleting Mark // the record that shows the deletion request
	whole    bool // do not cut quoted messages
}

// at returns a due time for people, in the zone of the schedule and in UTC: "2 Jan 10:00 Europe/Berlin (09:00 UTC)".
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

// in returns a due time in the zone of the schedule.
func (f *fates) in(t events.Time) string {
	if f.location == nil || f.zone.Location != nil {
		return f.at(t)
	}
	return f.short(t) + " " + f.location.String()
}

// short returns a due time without its zone.
func (f *fates) short(t events.Time) string {
	if f.location == nil || f.zone.Location != nil {
		return f.moment(f.zone.In(t))
	}
	return f.moment(t.Go().In(f.location))
}

// moment returns a time with its day. It leaves out the seconds if they are 0, as in most due times.
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

// seen returns the time of an observation or a decision, by our clock.
func (f *fates) seen(t events.Time) string {
	if t == 0 {
		return "an unknown time"
	}
	in := f.zone.In(t)
	return in.Format(f.day() + "15:04:05")
}

// isDue reports whether the entry is a due time, and not a run that a user made or requested.
func isDue(e *duetimes.Entry) bool {
	return !e.Asked()
}
