package explain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/store"
)

// Case is what the log tells of one Job up to a point, in the order in which it happened.
type Case struct {
	Job   history.Job
	Spec  *events.JobSpec // the newest; nil when it is not known
	Tries []*Try          // in the order in which the log first heard of them
	Gaps  []*history.Gap  // times in which nobody watched, of the whole log
	Lives []Life          // the Jobs that had its name, the oldest first; none when it is the only one, or others were not looked for

	newest events.Time // of its own records
	ctx    context.Context
	src    history.Source
	stream events.Stream
	zone   words.Zone // of the times in sentences
	*misses
	// stored are the specs that were read, by their records.
	stored map[events.Sequence]content

	damage  events.Sequence // the first record that cannot be read; 0 for none
	resumed events.Sequence // the first record behind damage, from which on the Job is told; 0 when it is from its beginning
	cut     bool            // damage hides what came of the Job

	folded *projector.Job
	reigns []reign // who ran it
	// cronJobsOurs: we ran CronJobs when the Job was deleted, or do now.
	cronJobsOurs bool
	added        Mark            // its first observation; none when earlier records are not kept
	stated       Mark            // the stored state with which it begins, where earlier records are not kept
	begun        string          // what that shows to have happened before it
	created      bool            // that shows its spec as it was created
	unexplained  Mark            // our record that nothing which was seen explains how it ended
	decided      map[string]bool // the reasons with which we decided that it ends
	origin       *events.Origin  // where it comes from
	edits        []edit
	tries        map[types.UID]*Try
	ordered      map[uint64]Mark // decisions by the ordinal of the create
	counts       map[int32]int   // tries by index

	refusals       []*refusal
	refusedItself  bool // the API server refused the Job, before it was made for its due time; known once tick has looked
	around         surroundings
	namespaceGoing Mark // the API server refused something because the namespace is being deleted

	owner       *owner // what its CronJob has to do with its deletion, once that was read
	ownerRead   bool
	settled     *settling
	startTime   events.Time
	shown       Mark         // the newest record of its object
	startSeen   Mark         // the record that shows when the Job started
	maker       *events.Edit // who made the Job, by its field manager; nil for unknown
	jobDeleted  events.Time  // when its deletion was asked for, by the API server's clock
	deletedSeen Mark
	gone        Mark
	ttl         Mark // our decision that it be deleted: its TTL had passed
	before      counters
	gaps        history.Gaps
	passed      history.PassedOver // of all namespaces
	steps       []clockStep
	unrecorded  unrecorded
	template    *templateEdit   // of its CronJob, made since; nil where none was looked for, or none is
	runs        *runs           // earlier ones of the same work; nil when they were not looked for
	admitted    []string        // what admission changed of its pods, as told last
	admittedAt  Mark            // the record that tells it
	peers       []*peer         // Jobs that ran at the same time
	others      *others         // Jobs that the same held up, of one that is stuck; nil when they were not looked for
	firstSpecAt events.Sequence // the record that stores the spec with which it was created
	specs       []specSeen      // the records that store its specs
	spare       *settling       // what our rules said of a Job of another controller before its status changed
	spares      map[string]Mark // by reason: the first record behind which they said so
	want        wanting         // and which pods they said that it lacks
}

// Truncated reports whether the Job's first records are no longer kept: what they said is not told.
func (c *Case) Truncated() bool { return c.added.Record == 0 }

// edit is a change of the Job's spec.
type edit struct {
	Was, At       Mark // the newest version with the spec of before, and the first with the new one
	Before, After *events.JobSpec
	By            *events.Edit
}

// refusal is a time in which the API server refused a sort of command.
type refusal struct {
	Kind  events.CommandKind
	Class events.RefusalClass
	Says  string // in the server's words
	Own   string // in ours, where it was not sent
	First Mark
	Last  Mark     // the newest refusal
	Over  Mark     // a command of the kind was done; none while it lasts
	Then  *refusal // for another reason, which came after this one was seen last; nil for none
}

// counters are those of a Job that tell as what a pod counts.
type counters struct{ succeeded, failed int32 }

// Read folds the records of a Job up to a point. Errors are those of history.JobAt; with one, the case is as of the
// last record before the damage, if there is one.
func Read(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*Case, error) {
	told, err := history.Watch(ctx, src, s, at, func() *Case { return newCase(ctx, src, s) })
	if told.Job.UID == "" {
		return nil, err
	}
	c := told.Watcher
	c.Job, c.resumed, c.cut = told.Job, told.Resumed, told.Cut
	var bad *store.CorruptError
	if errors.As(err, &bad) {
		c.damage = bad.At
	}
	if !c.cut && c.folded != nil && c.gone.Record == 0 {
		c.ripe(c.folded, events.Time(c.Job.AsOf.Time))
	}
	c.number()
	c.ownDeadlines()
	c.heed()
	return c, cmp.Or(err, c.Unread())
}

// In makes sentences say their times in that zone, instead of UTC.
func (c *Case) In(zone words.Zone) { c.zone = zone }

// newCase is that of a Job of which no record was shown yet.
func newCase(ctx context.Context, src history.Source, s events.Stream) *Case {
	return &Case{
		ctx: ctx, src: src, stream: s, misses: &misses{},
		tries: map[types.UID]*Try{}, ordered: map[uint64]Mark{}, counts: map[int32]int{}, decided: map[string]bool{},
	}
}

// Before is described by history.Watcher.
func (c *Case) Before(f *history.Fold, r *events.Record) {
	if r.Stream != c.stream {
		return
	}
	j := f.World().Job(c.stream)
	if j == nil {
		return
	}
	c.before = countersOf(j)
	if !f.World().Listing && j.Spec != nil {
		c.ripe(j, r.Time)
	}
}

// After is described by history.Watcher.
func (c *Case) After(f *history.Fold, r *events.Record) {
	if r.Stream == events.Controller {
		c.reigned(r, &f.World().Settings)
		c.around.learn(r)
		c.passed.Learn(r)
		if f, is := r.Facts.(*events.ClockStepped); is {
			c.steps = append(c.steps, clockStep{markOf(r), f.Step})
		}
		if g := c.gaps.Learn(r); g != nil && !slices.Contains(c.Gaps, g) {
			c.Gaps = append(c.Gaps, g)
		}
		return
	}
	a := f.Account(c.stream)
	if a == nil || f.World().Collecting(c.stream) { // what comes before the state is whole is in the state
		return
	}
	if j := a.Projected(); j != nil {
		c.folded, c.Spec = j, j.Spec
		if at := j.StartTime(); at != c.startTime {
			c.startTime, c.startSeen = at, markOf(r)
		}
		c.reigned(r, &f.World().Settings)
	}
	c.newest = max(c.newest, r.Time)
	c.unrecorded.learn(r)
	c.take(r)
	c.takePod(r)
	c.countWaited(r)
	c.wouldDecide(r, f.World().Listing)
}

// take takes in a record of the Job's stream that was folded.
func (c *Case) take(r *events.Record) {
	switch f := r.Facts.(type) {
	case *events.JobSeen:
		c.seeJob(r, f)
	case *events.JobGone:
		c.gone = markOf(r)
	case *events.Decision:
		if r.Kind == events.KindDecided {
			c.decide(r, f)
		} else if slices.ContainsFunc(f.Steps, func(s events.Step) bool { return s.Reason == reconciler.Unexplained }) {
			c.unexplained = markOf(r)
		}
	case *events.CommandEnded:
		c.ended(r, f)
	case *events.StoredState:
		c.restate(r)
	}
}

func (c *Case) seeJob(r *events.Record, f *events.JobSeen) {
	was := c.shown
	c.shown = markOf(r)
	if c.added.Record == 0 && r.Kind == events.KindJobAdded {
		c.added, c.origin, c.firstSpecAt = markOf(r), r.Evidence.Origin, f.SpecAt
		c.begun, c.created, c.maker = begun(f), f.Generation == 1, r.Evidence.Edit
	}
	if f.Deleted != 0 && c.jobDeleted == 0 {
		c.jobDeleted, c.deletedSeen = f.Deleted, markOf(r)
	}
	if c.folded != nil && c.folded.Spec != nil {
		before := c.specBefore()
		if before != nil && before.Hash != c.folded.Spec.Hash && len(before.Differs(c.folded.Spec)) > 0 {
			c.edits = append(c.edits, edit{Was: was, At: markOf(r), Before: before, After: c.folded.Spec, By: r.Evidence.Edit})
		} else if before == nil {
			c.edits = append(c.edits, edit{After: c.folded.Spec}) // the first is none, and goes in the end
		}
	}
	c.seeSpec(r, f.SpecAt)
	c.seeStatus(r, f)
}

// specBefore is the newest spec that was taken in; nil for none.
func (c *Case) specBefore() *events.JobSpec {
	if n := len(c.edits); n > 0 {
		return c.edits[n-1].After
	}
	return nil
}

func countersOf(j *projector.Job) counters { return counters{j.SucceededCount(), j.FailedCount()} }

func (c *Case) decide(r *events.Record, d *events.Decision) {
	for i := range d.Steps {
		s := &d.Steps[i]
		for _, command := range s.Commands {
			c.ask(r, s, command)
		}
	}
	if s := settlingOf(d.Steps, markOf(r)); s != nil {
		c.decided[s.Reason] = true
		if c.settled == nil {
			s.Causes = r.Causes
			c.settled = s
		}
	}
}

// ask takes in what a step asks for.
func (c *Case) ask(r *events.Record, s *events.Step, command events.Command) {
	pod := events.PodOf(command)
	switch command.Traits().Kind {
	case events.CommandCreatePod:
		ordinal, _ := events.OrdinalOf(command)
		c.ordered[ordinal] = markOf(r)
	case events.CommandDeletePod:
		c.orderDeletion(r, s, pod)
	case events.CommandDropFinalizer:
		if drop, ok := command.(*events.DropFinalizer); ok && drop.ThenDelete {
			c.orderDeletion(r, s, pod)
		}
	case events.CommandDeleteJob:
		c.ttl = markOf(r)
	}
}

func (c *Case) orderDeletion(r *events.Record, s *events.Step, pod types.UID) {
	if t := c.tries[pod]; t != nil && t.Deleted.Record == 0 {
		t.Deleted, t.DeletedReason = markOf(r), s.Reason
	}
}

func (c *Case) ended(r *events.Record, f *events.CommandEnded) {
	kind := f.Type
	switch f.Ending {
	case events.Refused:
		if kind.Traits() != nil { // a log that another program wrote may name no kind: then it is not known what was refused
			c.refused(r, f, kind)
		}
	case events.Done:
		for _, x := range c.refusals {
			if x.Kind == kind && x.Over.Record == 0 {
				x.Over = markOf(r)
			}
		}
		if c.settled != nil && c.settled.Decided.Record == f.Command.Decided && c.settled.Stored.Record == 0 {
			c.settled.Stored = markOf(r)
		}
	case events.OutcomeUnknown, events.Withdrawn:
	}
	if kind == events.CommandCreatePod && f.Ending == events.Done && f.UID != "" && c.tries[f.UID] == nil && c.folded != nil {
		t := &Try{UID: f.UID, Pod: r.Evidence.Name, Ordered: c.ordered[f.Ordinal], Index: events.NoIndex, Seen: markOf(r), Newest: markOf(r)}
		if p := c.folded.Pod(f.UID); p != nil {
			t.Index = p.Index // when it was made is known once it is seen
		}
		c.tries[f.UID] = t
		c.Tries = append(c.Tries, t)
	}
}

func (c *Case) refused(r *events.Record, f *events.CommandEnded, kind events.CommandKind) {
	if f.Class == events.RefusedNamespaceTerminating && c.namespaceGoing.Record == 0 {
		c.namespaceGoing = markOf(r)
	}
	now := c.lasting(kind, f.Class)
	if now == nil {
		now = &refusal{Kind: kind, Class: f.Class, Says: r.Evidence.Message, Own: r.Evidence.Sentence, First: markOf(r)}
		c.refusals = append(c.refusals, now)
	}
	now.Last = markOf(r)
	for _, x := range c.refusals {
		if x.Kind == kind && x.Over.Record == 0 {
			x.Then = now
		}
	}
	now.Then = nil
}

// lasting is the refusal of such commands for a reason that lasts; nil for none.
func (c *Case) lasting(kind events.CommandKind, class events.RefusalClass) *refusal {
	for _, x := range c.refusals {
		if x.Kind == kind && x.Class == class && x.Over.Record == 0 {
			return x
		}
	}
	return nil
}

// restate begins with a stored state where no record before it is kept. In the middle of what is known it says nothing
// new.
func (c *Case) restate(r *events.Record) {
	if c.folded == nil || c.added.Record != 0 || len(c.Tries) > 0 {
		return
	}
	if c.folded.Spec != nil {
		c.edits = append(c.edits, edit{After: c.folded.Spec})
	}
	c.origin, c.stated = c.folded.Origin, markOf(r)
	for _, p := range c.folded.Pods() {
		t := &Try{UID: p.UID}
		t.restore(r, p)
		c.tries[p.UID] = t
		c.Tries = append(c.Tries, t)
	}
	if c.folded.Deleted != 0 {
		c.jobDeleted, c.deletedSeen = c.folded.Deleted, markOf(r)
	}
}

// number gives tries their numbers, and drops what was only kept to compare with.
func (c *Case) number() {
	for _, t := range c.Tries {
		c.counts[t.Index]++
		t.Number = c.counts[t.Index]
	}
	c.edits = slices.DeleteFunc(c.edits, func(e edit) bool { return e.Before == nil })
}

// ownDeadlines finds of pods that their kubelets stopped by the pods' own deadline what the template has of that, unless
// admission changed it.
func (c *Case) ownDeadlines() {
	const field = "activeDeadlineSeconds"
	for _, t := range c.Tries {
		if t.Reason != "DeadlineExceeded" {
			continue
		}
		if slices.ContainsFunc(t.Admitted, func(name string) bool { return strings.TrimLeft(name, "+-") == field }) {
			t.deadline = " (admission changed it)"
			continue
		}
		template, at := c.templateFor(t)
		var x struct {
			Spec struct {
				ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds"`
			} `json:"spec"`
		}
		if json.Unmarshal(template, &x) == nil && x.Spec.ActiveDeadlineSeconds != nil {
			t.deadline, t.deadlineFrom = fmt.Sprintf(" (%d in its template)", *x.Spec.ActiveDeadlineSeconds), Mark{Record: at}
		}
	}
}

// unwatchedEnds finds the tries of which nobody saw how they ended, as their pods were gone when the watch came back,
// where the status counts more successes than were seen: each of them may be one.
func (c *Case) unwatchedEnds(succeeded int) {
	seen := 0
	for _, t := range c.Tries {
		if t.Phase == events.PodSucceeded {
			seen++
		}
	}
	for _, t := range c.Tries {
		vanished := t.Gone.Record != 0 && t.Ended.Record == 0 && !t.Moved
		told := t.AskedSeen.Record != 0 || t.Deleted.Record != 0 || t.Disrupted != nil
		if vanished && !told && succeeded > seen && c.gapBefore(t, t.Gone) != nil {
			t.maySucceed, t.Counted, t.CountAt, t.Failure = true, CountedUnknown, c.conclusion(), 0
		}
	}
}

// gapBefore is a gap in which the pod may have been deleted: it was seen to be so by the listing that ends the gap; nil
// for none.
func (c *Case) gapBefore(t *Try, seen Mark) *history.Gap {
	for _, g := range c.Gaps {
		from, until := events.Time(g.From), events.Time(g.Until)
		if seen.Record > events.Sequence(g.Listing) && seen.At >= from && (until == 0 || seen.At <= until) {
			return g
		}
	}
	return nil
}
