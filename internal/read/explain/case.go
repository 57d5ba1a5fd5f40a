package explain

import (
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

// Case is the history of one Job up to a point, as the log records it, in the order of the records.
type Case struct {
	Job   history.Job
	Spec  *events.JobSpec // the newest; nil if unknown
	Tries []*Try          // in the order of their first records
	Gaps  []*history.Gap  // all gaps of the watch in the log, also those before the Job

	newest events.Time // the time of the Job's newest record
	ctx    context.Context
	src    history.Source
	stream events.Stream
	zone   words.Zone // the time zone of times in sentences
	*misses
	// stored caches the specs that were read, by the sequence of their record.
	stored map[events.Sequence]content

	damage  events.Sequence // the first unreadable record; 0 for none
	resumed events.Sequence // the first record behind damage, where the history restarts; 0 if it begins with the Job
	cut     bool            // damage hides how the Job continued

	folded *projector.Job
	reigns []reign // the controllers that ran the Job
	// cronJobsOurs reports whether we ran CronJobs when the Job was deleted; for a Job that exists, whether we do now.
	cronJobsOurs bool
	added        Mark            // its first observation; none if earlier records are pruned
	stated       Mark            // the stored state that replaces pruned records
	begun        string          // what had happened before added, for example "it had begun"
	created      bool            // added shows the spec as created (generation 1)
	unexplained  Mark            // our record that no observation explains the Job's end
	decided      map[string]bool // the reasons of our decisions that end the Job
	origin       *events.Origin  // its CronJob, or its generateName
	edits        []edit
	tries        map[types.UID]*Try
	ordered      map[uint64]Mark // the decision of each create, by ordinal
	counts       map[int32]int   // number of tries of each index

	refusals       []*refusal
	around         surroundings
	namespaceGoing Mark // the API server refused a command because the namespace is being deleted

	owner       *owner // what the owning CronJob recorded about the Job's deletion; valid once ownerRead is set
	ownerRead   bool
	settled     *settling
	startTime   events.Time
	shown       Mark         // the newest record of the Job's object
	startSeen   Mark         // the record that shows the start time
	maker       *events.Edit // the edit that created the Job, with its field manager; nil if unknown
	jobDeleted  events.Time  // time of the deletion request, by the API server's clock
	deletedSeen Mark
	gone        Mark
	ttl         Mark // our decision to delete the Job after its TTL
	before      counters
	gaps        history.Gaps
	passed      history.PassedOver // of all namespaces
	steps       []clockStep
	unrecorded  unrecorded
	admitted    []string        // the newest fields of its pods that admission changed
	admittedAt  Mark            // the record that shows admitted
	firstSpecAt events.Sequence // the record that stores the spec as created
	specs       []specSeen      // the records that store its specs
	spare       *settling       // our rules' verdict on another controller's Job before its status changed
	spares      map[string]Mark // by reason: the first record behind which our rules gave that verdict
	want        wanting         // the pods that our rules say it lacks
}

// Truncated reports whether the Job's first records are pruned from the log. The case then says nothing about them.
func (c *Case) Truncated() bool { return c.added.Record == 0 }

// edit is a change of the Job's spec.
type edit struct {
	Was, At       Mark // the newest version with the old spec, and the first version with the new one
	Before, After *events.JobSpec
	By            *events.Edit
}

// refusal is a period in which the API server refused one kind of command for one reason.
type refusal struct {
	Kind  events.CommandKind
	Class events.RefusalClass
	Says  string // the server's message
	Own   string // our sentence, if the server sent no message
	First Mark
	Last  Mark     // the newest refusal
	Over  Mark     // the record of a command of this kind that succeeded; none while the refusals last
	Then  *refusal // the refusal for another reason that followed Last; nil for none
}

// counters are the counts of a Job's status before a record. They show as what the record counted a pod.
type counters struct{ succeeded, failed int32 }

// readCase folds the records of the Job of stream s up to the point at. It returns the errors of history.JobAt. With an
// error the case can still be non-nil: it then covers the records before the damage.
func readCase(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*Case, error) {
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
	return c, err
}

// In sets the time zone of times in sentences. The default is UTC.
func (c *Case) In(zone words.Zone) { c.zone = zone }

func newCase(ctx context.Context, src history.Source, s events.Stream) *Case {
	return &Case{
		ctx: ctx, src: src, stream: s, misses: &misses{},
		tries: map[types.UID]*Try{}, ordered: map[uint64]Mark{}, counts: map[int32]int{}, decided: map[string]bool{},
	}
}

// Before implements history.Watcher.
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

// After implements history.Watcher.
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
	if a == nil || f.World().Collecting(c.stream) { // the stored state contains the earlier records
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

// take applies a folded record of the Job's stream.
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
			// The first spec is no edit; number deletes this entry.
			c.edits = append(c.edits, edit{After: c.folded.Spec})
		}
	}
	c.seeSpec(r, f.SpecAt)
	c.seeStatus(r, f)
}

// specBefore returns the spec of the newest entry of c.edits; nil for none.
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

// ask applies a command of a decided step: it notes which record ordered a pod, deleted it, or deleted the Job.
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
		// The kind is nil if another program wrote the log: the refused command is then unknown.
		if kind.Traits() != nil {
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
			t.Index = p.Index // Created is set when the pod is observed
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

// lasting returns the refusal with the kind and class that is not over; nil for none.
func (c *Case) lasting(kind events.CommandKind, class events.RefusalClass) *refusal {
	for _, x := range c.refusals {
		if x.Kind == kind && x.Class == class && x.Over.Record == 0 {
			return x
		}
	}
	return nil
}

// restate starts the case from a stored state if the records before it are pruned. It does nothing if the case already
// has the Job's first observation or a try.
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

// number numbers the tries of each index from 1, and deletes the entries of c.edits that have no spec before.
func (c *Case) number() {
	for _, t := range c.Tries {
		c.counts[t.Index]++
		t.Number = c.counts[t.Index]
	}
	c.edits = slices.DeleteFunc(c.edits, func(e edit) bool { return e.Before == nil })
}

// ownDeadlines sets Try.deadline for pods that a kubelet stopped with DeadlineExceeded: to the template's
// activeDeadlineSeconds, as in " (30 in its template)", or to a note if admission changed that field.
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

// unwatchedEnds marks the tries that may have succeeded during a gap: their pods were gone when the watch came back,
// and the status counts more successes than were observed. Example: the status has 3 successes, 2 pods were seen to
// succeed, and 2 pods vanished in the gap; each of the two may be the third success.
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

// gapBefore returns the gap that can have hidden a deletion: record seen comes from the listing that ended the gap. It
// is nil for none.
func (c *Case) gapBefore(t *Try, seen Mark) *history.Gap {
	for _, g := range c.Gaps {
		from, until := events.Time(g.From), events.Time(g.Until)
		if seen.Record > events.Sequence(g.Listing) && seen.At >= from && (until == 0 || seen.At <= until) {
			return g
		}
	}
	return nil
}
