package croncase

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// cronEntries is how many of the newest due times an answer about a CronJob covers at least, if the log has so many.
const cronEntries = 30

// Case is what the records say about one CronJob up to a point in the log: its newest due times, and its Jobs and edits
// in that time.
type Case struct {
	State history.CronJob
	fates.Fates
	*explain.Misses

	Ctx    context.Context
	Src    history.Source
	stream events.Stream
	Damage events.Sequence // first record that cannot be read, at which the case ends; 0 for none

	Passed     history.PassedOver // times over the log budget, of all namespaces
	templates  map[string][]byte  // redacted Job templates, by hash
	Unrecorded explain.Unrecorded
	began      bool         // the CronJob's first record was read
	Added      explain.Mark // its first record; none if that is pruned
	Gone       explain.Mark
	Runs       []*Run         // in the order of their first records
	Namespace  explain.Mark   // record that its namespace is being deleted; none if it is not
	Off        []explain.Mark // starts of a controller that does not record CronJobs
}

// Run is a Job of the CronJob, as the CronJob's records show it.
type Run struct {
	events.RunSeen
	First, Ended, Gone explain.Mark // records of its first version, its end, and its deletion
	MadeFor            events.Time  // its due time, by its first record; 0 if it has none
	Left               bool         // the Job exists, and the CronJob does not own it any more
	unseen             bool         // the watch has not shown it: known from the answer to its create
}

// Read reads the newest part of a CronJob's records, up to a point: stream s has them. If the log is damaged, it
// returns the error, and if possible the case up to the damage.
func Read(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*Case, error) {
	state, failed := history.CronJobAt(ctx, src, s, at)
	if state.UID == "" {
		return nil, failed
	}
	c := &Case{State: state, Ctx: ctx, Src: src, stream: s, Misses: &explain.Misses{}}
	c.Location = state.Location()
	var bad *store.CorruptError
	if errors.As(failed, &bad) {
		c.Damage = bad.At
	}
	through := events.Sequence(state.AsOf.Sequence)
	from, err := duetimes.Before(ctx, src, s, cronEntries, through)
	switch {
	case err == nil:
	case from != 0 && src.Beside(err): // if records are damaged, the case begins after the damage
		failed = errors.Join(failed, err)
	default:
		return c.without(err, failed)
	}
	c.Due, err = duetimes.ReadSpan(ctx, src, s, duetimes.Span{From: from, Through: through, Now: c.Now(), Visit: c.visit})
	if err != nil {
		return c.without(err, failed)
	}
	c.Asked, c.AskedBy = askedFor(&state)
	return c, errors.Join(failed, c.surroundings(from, through))
}

// askedFor returns the create command for a Job that has not been answered yet, and the decision that issued it; zero
// if there is none.
func askedFor(state *history.CronJob) (create history.Command, by []explain.Mark) {
	for _, x := range state.InFlight {
		if strings.HasPrefix(x.Does, "create ") {
			create = x
		}
	}
	if d := state.LastDecision; d != nil && create.Does != "" {
		by = []explain.Mark{explain.RecordMark(events.Sequence(d.Sequence))}
	}
	return create, by
}

// without returns the case without due times, because reading them failed with err. It joins err with failed, an
// earlier error, unless failed has the same damage of the log already.
func (c *Case) without(err, failed error) (*Case, error) {
	if c.Due == nil {
		c.Due = &duetimes.CronJob{}
	}
	if failed != nil && c.Src.Beside(err) {
		return c, failed
	}
	return c, errors.Join(failed, err)
}

// surroundings reads the controller's records from record from on (0 for all), for example times in which nobody
// watched the cluster.
func (c *Case) surroundings(from, through events.Sequence) error {
	begin := events.Sequence(0)
	if from != 0 {
		var err error
		if begin, err = history.Stated(c.Ctx, c.Src, events.Controller, from); err != nil && !c.Src.Beside(err) {
			return err
		}
	}
	var gaps history.Gaps
	seen := map[*history.Gap]bool{}
	for r, err := range history.PastDamage(c.Ctx, c.Src, events.Controller, begin) {
		if c.Src.Beside(err) {
			gaps = history.Gaps{}
			continue
		}
		if err != nil {
			return err
		}
		if through != 0 && r.Sequence > through {
			break
		}
		c.Passed.Learn(&r)
		if f, is := r.Facts.(*events.NamespaceSeen); is && c.goesWith(f, r.Time) {
			c.Namespace = explain.MarkOf(&r)
		}
		if g := gaps.Learn(&r); g != nil && !seen[g] {
			seen[g] = true
			c.Gaps = append(c.Gaps, g)
		}
		if f, ok := r.Facts.(*events.ControllerStarted); ok && !f.Settings.CronJobs {
			c.Off = append(c.Off, explain.MarkOf(&r))
		}
	}
	return nil
}

// goesWith reports whether the CronJob was deleted because its namespace was, which record f shows. at is the time of
// that record.
func (c *Case) goesWith(f *events.NamespaceSeen, at events.Time) bool {
	const notInStep = 5 * time.Second // how much later the watch of namespaces may report than the watch of CronJobs
	return f.Name == c.State.Namespace && f.Deleted != 0 && f.Deleted.Add(time.Second) >= events.Time(c.State.Created) &&
		at <= c.Gone.At.Add(notInStep) // while the CronJob exists, Gone.At is 0, so this is false
}

// visit processes a record of the CronJob.
func (c *Case) visit(r *events.Record) {
	c.began = c.began || r.Previous == 0
	c.Unrecorded.Learn(r)
	switch f := r.Facts.(type) {
	case *events.CronJobSeen:
		if r.Kind == events.KindCronJobAdded && c.Added.Record == 0 {
			c.Added = explain.MarkOf(r)
		}
		if f.Deleted != 0 && c.Deleting.Record == 0 {
			c.Deleting = explain.MarkOf(r)
		}
		c.Gone = explain.Mark{}
	case *events.CronJobGone:
		c.Gone = explain.MarkOf(r)
	case *events.JobTemplate:
		if c.templates == nil {
			c.templates = map[string][]byte{}
		}
		c.templates[f.Hash] = r.Evidence.Template
	case *events.RunSeen:
		run := c.Run(f.Job)
		if run == nil {
			run = &Run{First: explain.MarkOf(r), MadeFor: f.Due}
			c.Runs = append(c.Runs, run)
		}
		// This version shows that the Job exists, and that the CronJob owns it, perhaps again after a while: reset what
		// said otherwise.
		run.Gone, run.Left, run.unseen = explain.Mark{}, false, false
		if run.RunSeen = *f; f.Result != events.ResultNone && run.Ended.Record == 0 {
			run.Ended = explain.MarkOf(r)
		}
	case *events.RunGone:
		if run := c.Run(f.Job); run != nil {
			run.Gone, run.Left = explain.MarkOf(r), f.Left
		}
	case *events.CommandEnded:
		c.answered(r, f)
	}
}

// answered processes the API server's answer to a create or delete of a Job. The watch may show the Job later, or
// never.
func (c *Case) answered(r *events.Record, f *events.CommandEnded) {
	if f.Ending != events.Done {
		return
	}
	switch f.Type {
	case events.CommandCreateJob:
		if f.UID != "" && c.Run(f.UID) == nil {
			c.Runs = append(c.Runs, &Run{First: explain.MarkOf(r), MadeFor: f.Due, unseen: true, RunSeen: events.RunSeen{
				Job: f.UID, Name: r.Evidence.Name, Version: f.Version, Created: cmp.Or(f.Written, r.Time), Due: f.Due,
				Manual: f.Due == 0,
			}})
		}
	case events.CommandDeleteRun:
		if run := c.Run(f.Run); run != nil && run.unseen && run.Gone.Record == 0 {
			run.Gone = explain.MarkOf(r)
		}
	}
}

// Run returns the Job with the UID; nil if there is none.
func (c *Case) Run(uid types.UID) *Run {
	for _, r := range c.Runs {
		if r.Job == uid {
			return r
		}
	}
	return nil
}

// In sets the time zone of times in sentences; the default is UTC. Due times are also written in the zone of the
// schedule.
func (c *Case) In(zone words.Zone) { c.Zone = zone }

// Now returns the time of the answer.
func (c *Case) Now() events.Time { return events.Time(c.State.AsOf.Time) }
