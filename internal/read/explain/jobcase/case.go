package jobcase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/store"
)

// Case is what the log records about one Job up to a point. Lists in it are in the order of the records.
type Case struct {
	Job   history.Job
	Spec  *events.JobSpec // the newest spec, but of a Job that has ended that of its end; nil if unknown
	Tries []*try.Try      // in the order of their first records
	Gaps  []*history.Gap  // all gaps (times in which nobody watched) in the log

	newest events.Time // time of the Job's newest record

	Ctx    context.Context
	Src    history.Source
	Stream events.Stream
	Zone   words.Zone // time zone of times in sentences
	*explain.Misses
	// stored caches the specs that were read, by the sequence of their record.
	stored map[events.Sequence]content

	Damage  events.Sequence // first unreadable record; 0 for none
	Resumed events.Sequence // after damage: record at which reading began again; 0 if it did not
	Cut     bool            // damage hides how the Job continued

	Folded *projector.Job
	Reigns []Reign // which controllers ran the Job, one after the other
	// cronJobsOurs is set if Jobledger runs the CronJobs. For a deleted Job, it says whether it did so at the deletion.
	cronJobsOurs bool
	Added        explain.Mark    // record that first shows the Job; none if earlier records are pruned
	Stated       explain.Mark    // the checkpoint (record with the state) in place of pruned records
	Begun        string          // what had happened before Added, for example "it had begun"
	Created      bool            // Added shows the spec as it was created (generation 1)
	Unexplained  explain.Mark    // our record that the end of the Job cannot be explained
	Decided      map[string]bool // reasons of our decisions to end the Job
	Origin       *events.Origin  // its CronJob, or its generateName
	Edits        []Edit
	tries        map[types.UID]*try.Try
	ordered      map[uint64]explain.Mark // decision that issued a create command, by the command's number
	counts       map[int32]int           // number of tries of each index

	Refusals       []*Refusal
	around         surroundings
	NamespaceGoing explain.Mark // refusal of a command because the namespace is being deleted

	owner       *Owner // what its CronJob's records say about its deletion; valid if ownerRead is set
	ownerRead   bool
	Settled     *Settling
	StartTime   events.Time
	Shown       explain.Mark                 // newest record of the Job's object
	StartSeen   explain.Mark                 // record that shows the start time
	starts      map[events.Time]explain.Mark // by start time: a later suspension may bring an earlier one back
	Maker       *events.Edit                 // edit that created the Job, with its field manager; nil if unknown
	JobDeleted  events.Time                  // when its deletion was requested, by the API server's clock
	deletedSeen explain.Mark
	Gone        explain.Mark
	Ttl         explain.Mark // our decision to delete the Job after its TTL
	told        counters     // how many ends of pods count for the Job, by its newest record
	owed        counters     // how many of these counted ends no known pod explains
	unlisted    []*try.Try   // pods that count, but that no stored status counts yet
	gaps        history.Gaps
	Passed      history.PassedOver // times over the log budget, of all namespaces
	Steps       []ClockStep
	Unrecorded  explain.Unrecorded
	Admitted    []string                // fields of its pods that admission changed, by the newest record
	AdmittedAt  explain.Mark            // record that shows Admitted
	firstSpecAt events.Sequence         // record that stores the spec as it was created
	specs       []specSeen              // records that store its specs
	spare       *Settling               // how our rules would end a Job of another controller
	spares      map[string]explain.Mark // by reason: the first record from which our rules would end it
	Want        wanting                 // by our rules, the pods that are missing
}

// Truncated reports whether the Job's first records are pruned (deleted). The case then says nothing about that time.
func (c *Case) Truncated() bool { return c.Added.Record == 0 }

// NeverSeen reports whether the log has only records of the Job's pods, and no version of the Job itself, up to the
// point.
func (c *Case) NeverSeen() bool {
	return c.Folded != nil && !c.Folded.Known() && c.Resumed == 0 && c.Damage == 0
}

// Edit is a change of the Job's spec.
type Edit struct {
	Was, At       explain.Mark // newest version with the old spec, and first version with the new one
	Before, After *events.JobSpec
	By            *events.Edit
}

// Read makes the case of a Job from its records, up to point at: stream s has them. If the log is damaged, it returns
// the error, and if possible the case up to the damage.
func Read(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*Case, error) {
	told, err := history.Watch(ctx, src, s, at, func() *Case { return newCase(ctx, src, s) })
	if told.Job.UID == "" {
		return nil, err
	}
	c := told.Watcher
	c.Job, c.Resumed, c.Cut = told.Job, told.Resumed, told.Cut
	var bad *store.CorruptError
	if errors.As(err, &bad) {
		c.Damage = bad.At
	}
	if !c.Cut && c.Folded != nil && c.Gone.Record == 0 {
		c.ripe(c.Folded, events.Time(c.Job.AsOf.Time))
	}
	c.number()
	c.ownDeadlines()
	return c, err
}

// In sets the time zone of times in sentences; the default is UTC.
func (c *Case) In(zone words.Zone) { c.Zone = zone }

func newCase(ctx context.Context, src history.Source, s events.Stream) *Case {
	return &Case{
		Ctx: ctx, Src: src, Stream: s, Misses: &explain.Misses{},
		tries: map[types.UID]*try.Try{}, ordered: map[uint64]explain.Mark{}, counts: map[int32]int{},
		Decided: map[string]bool{}, starts: map[events.Time]explain.Mark{},
	}
}

// Before implements history.Watcher: it is called before each record r is folded into f, while the old state is there.
func (c *Case) Before(f *history.Fold, r *events.Record) {
	if r.Stream != c.Stream {
		return
	}
	j := f.World().Job(c.Stream)
	if j == nil {
		return
	}
	if !f.World().Listing && j.Spec != nil {
		c.ripe(j, r.Time)
	}
}

// After implements history.Watcher: it is called after each record r was folded into f, and updates the case.
func (c *Case) After(f *history.Fold, r *events.Record) {
	if r.Stream == events.Controller {
		c.reigned(r, &f.World().Settings)
		c.around.learn(r)
		c.Passed.Learn(r)
		if f, is := r.Facts.(*events.ClockStepped); is {
			c.Steps = append(c.Steps, ClockStep{explain.MarkOf(r), f.Step})
		}
		if g := c.gaps.Learn(r); g != nil && !slices.Contains(c.Gaps, g) {
			c.Gaps = append(c.Gaps, g)
		}
		return
	}
	a := f.Account(c.Stream)
	// Wait until all records of a checkpoint are read: a large one is split into several records.
	if a == nil || f.World().Collecting(c.Stream) {
		return
	}
	if j := a.Projected(); j != nil {
		c.Folded = j
		c.Spec, _, _ = j.LastSpec()
		if at := j.StartTime(); at != c.StartTime {
			if c.starts[at].Record == 0 {
				c.starts[at] = explain.MarkOf(r)
			}
			c.StartTime, c.StartSeen = at, c.starts[at]
		}
		c.reigned(r, &f.World().Settings)
	}
	c.newest = max(c.newest, r.Time)
	c.Unrecorded.Learn(r)
	c.take(r)
	pod := c.takePod(r)
	if c.Gone.Record == 0 && c.Folded != nil && c.Folded.Gone { // a read by the controller did not find the Job
		c.Gone = explain.MarkOf(r)
	}
	c.count(r, pod)
	c.wouldDecide(r, f.World().Listing)
}

// take updates the case with record r of the Job, which was folded already.
func (c *Case) take(r *events.Record) {
	switch f := r.Facts.(type) {
	case *events.JobSeen:
		c.seeJob(r, f)
	case *events.JobGone:
		c.Gone = explain.MarkOf(r)
	case *events.Decision:
		if r.Kind == events.KindDecided {
			c.decide(r, f)
		} else if slices.ContainsFunc(f.Steps, func(s events.Step) bool { return s.Reason == reconciler.Unexplained }) {
			c.Unexplained = explain.MarkOf(r)
		}
	case *events.CommandEnded:
		c.ended(r, f)
	case *events.StoredState:
		c.restate(r)
	}
}

func (c *Case) seeJob(r *events.Record, f *events.JobSeen) {
	was := c.Shown
	c.Shown = explain.MarkOf(r)
	if c.Added.Record == 0 && r.Kind == events.KindJobAdded {
		c.Added, c.Origin, c.firstSpecAt = explain.MarkOf(r), r.Evidence.Origin, f.SpecAt
		c.Begun, c.Created, c.Maker = begun(f), f.Generation == 1, r.Evidence.Edit
	}
	if f.Deleted != 0 && c.JobDeleted == 0 {
		c.JobDeleted, c.deletedSeen = f.Deleted, explain.MarkOf(r)
	}
	if c.Folded != nil && c.Folded.Spec != nil {
		before := c.specBefore()
		if before != nil && before.Hash != c.Folded.Spec.Hash && len(before.Differs(c.Folded.Spec)) > 0 {
			c.Edits = append(c.Edits, Edit{Was: was, At: explain.MarkOf(r), Before: before, After: c.Folded.Spec,
				By: r.Evidence.Edit})
		} else if before == nil {
			// The first version of the spec is not an edit. It stays in c.Edits as the state before the first edit,
			// until the method `number` removes it.
			c.Edits = append(c.Edits, Edit{After: c.Folded.Spec})
		}
	}
	c.seeSpec(r, f.SpecAt)
	c.seeStatus(r, f)
}

// specBefore returns the newest spec in c.Edits, the one before the next edit; nil if there is none.
func (c *Case) specBefore() *events.JobSpec {
	if n := len(c.Edits); n > 0 {
		return c.Edits[n-1].After
	}
	return nil
}

func (c *Case) decide(r *events.Record, d *events.Decision) {
	for i := range d.Steps {
		s := &d.Steps[i]
		for _, command := range s.Commands {
			c.ask(r, s, command)
		}
	}
	if s := settlingOf(d.Steps, explain.MarkOf(r)); s != nil {
		c.Decided[s.Reason] = true
		if c.Settled == nil {
			s.Causes = r.Causes
			c.Settled = s
		}
	}
}

// ask processes one command of a decision. It remembers the record that asked to create or delete a pod, or to delete
// the Job.
func (c *Case) ask(r *events.Record, s *events.Step, command events.Command) {
	pod := events.PodOf(command)
	switch command.Traits().Kind {
	case events.CommandCreatePod:
		ordinal, _ := events.OrdinalOf(command)
		c.ordered[ordinal] = explain.MarkOf(r)
	case events.CommandDeletePod:
		c.orderDeletion(r, s, pod)
	case events.CommandDropFinalizer:
		if drop, ok := command.(*events.DropFinalizer); ok && drop.ThenDelete {
			c.orderDeletion(r, s, pod)
		}
	case events.CommandDeleteJob:
		c.Ttl = explain.MarkOf(r)
	}
}

func (c *Case) orderDeletion(r *events.Record, s *events.Step, pod types.UID) {
	if t := c.tries[pod]; t != nil && t.Deleted.Record == 0 {
		t.Deleted, t.DeletedReason = explain.MarkOf(r), s.Reason
	}
}

func (c *Case) ended(r *events.Record, f *events.CommandEnded) {
	kind := f.Type
	switch f.Ending {
	case events.Refused:
		// If another program wrote the log, the kind of command may be unknown, and Traits returns nil: skip the
		// refusal.
		if kind.Traits() != nil {
			c.refused(r, f, kind)
		}
	case events.Done:
		for _, x := range c.Refusals {
			if x.Kind == kind && x.Over.Record == 0 {
				x.Over = explain.MarkOf(r)
			}
		}
		if c.Settled != nil && c.Settled.Decided.Record == f.Command.Decided && c.Settled.Stored.Record == 0 {
			c.Settled.Stored = explain.MarkOf(r)
		}
	case events.OutcomeUnknown, events.Withdrawn:
	}
	if kind == events.CommandCreatePod && f.Ending == events.Done && f.UID != "" && c.tries[f.UID] == nil &&
		c.Folded != nil {
		t := &try.Try{UID: f.UID, Pod: r.Evidence.Name, Ordered: c.ordered[f.Ordinal], Index: events.NoIndex,
			Seen: explain.MarkOf(r), Newest: explain.MarkOf(r)}
		if p := c.Folded.Pod(f.UID); p != nil {
			t.Index = p.Index // the time of creation follows when the watch shows the pod
		}
		c.tries[f.UID] = t
		c.Tries = append(c.Tries, t)
	}
}

// restate begins the case with a checkpoint (a record with the state), if the records before it are pruned (deleted).
// It does nothing if the case has a version of the Job, or a pod, already.
func (c *Case) restate(r *events.Record) {
	if c.Folded == nil || c.Added.Record != 0 || len(c.Tries) > 0 {
		return
	}
	if c.Folded.Spec != nil {
		c.Edits = append(c.Edits, Edit{After: c.Folded.Spec})
	}
	c.Origin, c.Stated = c.Folded.Origin, explain.MarkOf(r)
	for _, p := range c.Folded.Pods() {
		t := &try.Try{UID: p.UID}
		t.Restore(r, p)
		c.tries[p.UID] = t
		c.Tries = append(c.Tries, t)
	}
	if c.Folded.Deleted != 0 {
		c.JobDeleted, c.deletedSeen = c.Folded.Deleted, explain.MarkOf(r)
	}
}

// number numbers the tries (pods) of each index from 1. It also removes from c.Edits the entry for the first version,
// which was no edit.
func (c *Case) number() {
	for _, t := range c.Tries {
		c.counts[t.Index]++
		t.Number = c.counts[t.Index]
	}
	c.Edits = slices.DeleteFunc(c.Edits, func(e Edit) bool { return e.Before == nil })
}

// ownDeadlines sets Try.Deadline for pods that a kubelet stopped because their own activeDeadlineSeconds passed. The
// text has the value in the template, as in " (30 s in its template)", or says that admission changed it.
func (c *Case) ownDeadlines() {
	const field = "activeDeadlineSeconds"
	for _, t := range c.Tries {
		if t.Reason != "DeadlineExceeded" {
			continue
		}
		if slices.ContainsFunc(t.Admitted, func(name string) bool { return strings.TrimLeft(name, "+-") == field }) {
			t.Deadline = " (admission changed it)"
			continue
		}
		template, at := c.TemplateFor(t)
		var x struct {
			Spec struct {
				ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds"`
			} `json:"spec"`
		}
		_ = json.Unmarshal(template, &x) // a template that cannot be read has no deadline
		if x.Spec.ActiveDeadlineSeconds != nil {
			t.Deadline, t.DeadlineFrom = fmt.Sprintf(" (%d s in its template)", *x.Spec.ActiveDeadlineSeconds),
				explain.Mark{Record: at}
		}
	}
}
