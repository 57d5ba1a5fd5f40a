package failures

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// Query selects the Jobs and CronJobs in trouble that are reported. The zero Query selects all.
type Query struct {
	Namespace string
	Labels    labels.Selector // by the labels that the log keeps; nil for all
	Since     events.Time     // only Jobs that failed since then; 0 for all. Stuck ones are always reported
	Until     events.Time     // time of the report: later records are ignored; 0 for now
	Survived  bool            // also Jobs that succeeded after failures, ignored disruptions or restarts
	Limit     int             // largest number of failed Jobs, and of survived ones; 0 for no limit
	Zone      words.Zone      // time zone of the times in texts
}

// Trouble is a Job that failed, is stuck, or nearly failed, or a CronJob that does not start Jobs. Its JSON changes
// only by adding fields.
type Trouble struct {
	Sort      string             `json:"sort"` // "stuck", "failed", "deleted" or "survived"
	Kind      string             `json:"kind"` // "Job" or "CronJob"
	Since     recordjson.Instant `json:"since"`
	Namespace string             `json:"namespace"`
	Name      string             `json:"name"`
	UID       string             `json:"uid"`
	Tries     int                `json:"tries"`
	Why       string             `json:"why"`
	Whole     string             `json:"whole,omitempty"` // Why without cuts in quoted messages
	Cause     string             `json:"cause"`           // a text that is equal for Jobs with the same cause
	Lineage   string             `json:"lineage,omitempty"`
	Also      int                `json:"also,omitempty"` // number of other items with equal Sort, Kind and Cause
	Records   []uint64           `json:"records,omitempty"`
	// Work names the recurring work: it is equal for the Jobs of one CronJob, of one generateName, or of one name.
	Work string `json:"work"`

	// Node is set if one node was the cause of all failures of the Job's pods.
	Node string `json:"node,omitempty"`

	same   string // equal for items that share one line of output
	ofNode string // what happened to Node, as a line about several Jobs says it
}

// Failures is a list of Jobs and CronJobs in trouble, the stuck ones first. Its JSON changes only by adding fields.
type Failures struct {
	Items    []Trouble `json:"items"`
	Causes   []Cause   `json:"causes"`   // groups of Items with the same cause, in the order of Items
	Looked   int       `json:"looked"`   // number of Jobs that were examined
	CronJobs int       `json:"cronJobs"` // number of CronJobs that were examined
	More     bool      `json:"more,omitempty"`

	AsOf recordjson.Instant `json:"asOf,omitzero"` // time of the report; absent for now

	Gaps []history.Gap `json:"gaps,omitempty"` // times without a watch, within the time of the query

	// Passed has the times in which selected namespaces were over their log budgets (how much log they may fill in an
	// hour). Jobs may be missing from such a time, or reported late.
	Passed []history.Passed `json:"passedOver,omitempty"`

	PrunedBefore *history.Place `json:"prunedBefore,omitempty"` // first record of the log, if older ones are pruned
}

// Values of Trouble.Kind.
const (
	kindJob     = "Job"
	kindCronJob = "CronJob"
)

// Values of Trouble.Sort.
const (
	SortStuck    = "stuck"
	SortFailed   = "failed"
	SortDeleted  = "deleted" // it was stuck or failing when it was deleted; Since is the deletion
	SortSurvived = "survived"
)

// Find returns the Jobs and CronJobs in trouble that query q selects. If the log is damaged, it returns the error, and
// the list by the readable records.
func Find(ctx context.Context, src history.Source, q Query) (Failures, error) {
	f := finding{Failures: Failures{Items: []Trouble{}, Causes: []Cause{}, AsOf: recordjson.Instant(q.Until)}, ctx: ctx,
		src: &explain.Remembering{Source: src}, q: &q, seen: map[string]bool{}}
	for _, step := range []struct {
		what string
		look func() error
	}{
		{"look for times without a watch", f.addGaps}, {"look at Jobs that go on", f.goingOn}, {"look at Jobs that are over",
			f.over},
		{"look at CronJobs", f.cronJobs},
	} {
		if err := step.look(); err != nil && !src.Beside(err) {
			return f.Failures, fmt.Errorf("%s: %w", step.what, err)
		} else if err != nil {
			f.unread = err
		}
	}
	return f.sorted(), f.unread
}

// TroubleOf returns the trouble of each of the given Jobs, by UID. It leaves out Jobs that have none.
func TroubleOf(ctx context.Context, src history.Source, jobs []history.Summary) (map[string]Trouble, error) {
	f := finding{ctx: ctx, src: &explain.Remembering{Source: src}, q: &Query{}}
	for i := range jobs {
		if err := f.look(&jobs[i]); err != nil {
			return nil, err
		}
	}
	found := map[string]Trouble{}
	for _, t := range f.Items {
		found[t.UID] = t
	}
	return found, f.unread
}

// finding is the state of one Find: the list so far, and what was examined.
type finding struct {
	Failures
	ctx    context.Context
	src    history.Source
	q      *Query
	seen   map[string]bool // UIDs of the Jobs that were examined
	unread error           // damage of the log that may hide Jobs; nil for none
}

const (
	jobsAtOnce = 1000 // Jobs per page
	wellAtMost = 4
)

// eachJob calls look with each Job that query q selects, until look returns enough or an error.
func (f *finding) eachJob(q history.JobsQuery, look func(*history.Summary) (enough bool, err error)) error {
	q.Namespace, q.Labels, q.Limit = f.q.Namespace, f.q.Labels, jobsAtOnce
	for {
		page, err := f.src.Jobs(f.ctx, q)
		f.PrunedBefore = page.PrunedBefore
		if f.src.Beside(err) {
			f.unread = err
		} else if err != nil {
			return err
		}
		for i := range page.Items {
			if enough, err := look(&page.Items[i]); enough || err != nil {
				return err
			}
		}
		if q.Continue = page.Continue; q.Continue == "" {
			return nil
		}
	}
}

// goes are the states of Jobs that have not ended, and so may be stuck. Find examines all Jobs in these states, even
// those without a new record: a Job that is stuck for long has none.
var goes = []history.State{history.StateWaiting, history.StateRunning, history.StateFailing, history.StateFinishing,
	history.StateDeleting}

func (f *finding) goingOn() error {
	err := f.eachJob(history.JobsQuery{States: goes}, func(s *history.Summary) (bool, error) {
		return false, f.lookFirst(s)
	})
	if err != nil || f.q.Until == 0 {
		return err
	}
	// A Job that had not ended at the time of the report and has ended since is found by its later records.
	return f.eachJob(history.JobsQuery{Since: f.q.Until}, func(s *history.Summary) (bool, error) {
		if s.Finished != 0 && events.Time(s.Finished) <= f.q.Until || f.seen[s.UID] {
			return false, nil
		}
		return false, f.lookFirst(s)
	})
}

// lookFirst examines a Job that was not examined before, and counts it.
func (f *finding) lookFirst(s *history.Summary) error {
	f.seen[s.UID] = true
	f.Looked++
	return f.look(s)
}

// over examines ended Jobs with a record in the time of the query. It reports at most Query.Limit Jobs of each sort.
// Two sorts of trouble are only found by reading the Job: near misses, such as restarts, and Jobs that were stuck until
// they were deleted. For these, over reads at most wellAtMost times the limit of Jobs, the newest first: 2,000 with a
// limit of 500.
func (f *finding) over() error {
	told, looked := map[string]int{}, map[string]int{}
	return f.eachJob(history.JobsQuery{Since: f.q.Since}, func(s *history.Summary) (bool, error) {
		if f.seen[s.UID] {
			return false, nil
		}
		f.Looked++
		sort := ""
		switch s.State {
		case history.StateFailed:
			sort = SortFailed
		case history.StateComplete:
			sort = SortSurvived
		case history.StateDeleted:
			sort = SortDeleted
		default:
			return false, nil
		}
		if sort == SortSurvived && !f.q.Survived || f.q.Limit > 0 && told[sort] > f.q.Limit {
			return false, nil
		}
		if sort == SortSurvived && s.Counts.Failed == 0 || sort == SortDeleted {
			if looked[sort]++; f.q.Limit > 0 && looked[sort] > wellAtMost*f.q.Limit {
				f.More = true
				return false, nil
			}
		}
		before := len(f.Items)
		err := f.look(s)
		if told[sort] += len(f.Items) - before; f.q.Limit > 0 && told[sort] > f.q.Limit {
			f.Items, f.More = f.Items[:before], true
		}
		return false, err
	})
}

// addGaps adds to the list the times in which nobody watched the cluster, and the times in which namespaces were over
// their log budgets.
func (f *finding) addGaps() error {
	q := f.q
	gaps, passed, err := history.Unrecorded(f.ctx, f.src)
	for _, g := range gaps {
		after := q.Since == 0 || g.Until == 0 || events.Time(g.Until) > q.Since
		before := q.Until == 0 || events.Time(g.From) < q.Until
		if g.From != 0 && after && before && !explain.AtOnce(g) {
			f.Gaps = append(f.Gaps, *g)
		}
	}
	if passed != nil {
		f.Passed = passed.Touching(q.Namespace, q.Namespace == "", q.Since, q.Until)
	}
	return err
}

// look adds a Job to the list if it is in trouble. If some of its records are damaged, it decides by the readable ones.
func (f *finding) look(s *history.Summary) error {
	if f.q.Until != 0 && events.Time(s.Created) > f.q.Until {
		return nil
	}
	c, damage, err := f.caseAt(events.JobStream(types.UID(s.UID)), f.q.Until)
	if errors.Is(err, history.ErrNoJob) {
		if f.q.Until == 0 { // if a time of the report is set, the Job was created after it
			f.take(untold(s, 0))
		}
		return nil
	}
	if err != nil {
		return err
	}
	t, is := Trouble{}, false
	if c != nil {
		t, is = trouble(c)
		if err := c.Unread(); err != nil {
			return err
		}
		if !is {
			var unread error
			if t, is, unread = f.troubleBefore(c); unread != nil {
				return unread
			}
		}
	}
	var bad *store.CorruptError
	if !is && errors.As(damage, &bad) {
		t = untold(s, bad.At)
	}
	f.take(t)
	return nil
}

// caseAt reads what the records say about one Job as of a time (0 for now). If the log is damaged, it returns the
// damage, and the case by the readable records; nil if there are none.
func (f *finding) caseAt(s events.Stream, at events.Time) (c *jobcase.Case, damage, err error) {
	c, damage = ending.Read(f.ctx, f.src, s, history.Point{Time: at})
	if damage != nil && !f.src.Beside(damage) {
		return nil, nil, damage
	}
	if damage != nil {
		f.unread = damage
	}
	if c != nil {
		c.In(f.q.Zone)
	}
	return c, damage, nil
}

// take adds t to the list, if it is within the time of the query. It ignores the zero Trouble, which means no trouble.
func (f *finding) take(t Trouble) {
	q := f.q
	if t.Sort == "" || t.Sort == SortSurvived && !q.Survived || q.Until != 0 && events.Time(t.Since) > q.Until {
		return
	}
	if q.Since == 0 || t.Sort == SortStuck || events.Time(t.Since) >= q.Since {
		f.Items = append(f.Items, t)
	}
}

// untold returns the trouble of a Job that is only known from the list of Jobs, because its records are missing, or
// cannot be read from record damaged on (0 for missing). It returns the zero Trouble if the Job is not known to have
// failed.
func untold(s *history.Summary, damaged events.Sequence) Trouble {
	t := Trouble{
		Kind: kindJob, Since: s.Finished, Namespace: s.Namespace, Name: s.Name, UID: s.UID, Tries: int(s.Counts.Failed +
			s.Counts.Succeeded),
		Work: s.Namespace + "/" + s.Name,
		Why:  "cannot be told: the log has no records of it", Cause: "cannot be told",
	}
	if damaged != 0 {
		t.Why = fmt.Sprintf("cannot be told: damaged at %d", damaged)
	}
	switch s.State {
	case history.StateFailed, history.StateFailing:
		t.Sort = SortFailed
	case history.StateComplete:
		t.Sort = SortSurvived
	default:
		return Trouble{}
	}
	return t
}

// trouble returns what is wrong with the Job of case c; false if nothing is.
func trouble(c *jobcase.Case) (Trouble, bool) {
	j, v := &c.Job, verdicts.Of(c)
	t := Trouble{
		Kind: kindJob, Namespace: j.Namespace, Name: j.Name, UID: j.UID, Tries: len(c.Tries), Records: v.Records,
		Work: work(c),
	}
	if c.Origin != nil && c.Origin.Kind != "" {
		t.Lineage = c.Origin.Kind + " " + c.Origin.Name
	}
	switch j.State {
	case history.StateFailed:
		t.Sort, t.Since, t.Cause = SortFailed, recordjson.Instant(c.End()), cause(c)
		t.says(explain.Because(&v))
	case history.StateComplete:
		near, is := nearMiss(c)
		if !is {
			return t, false
		}
		t.Sort, t.Since, t.Cause = SortSurvived, recordjson.Instant(c.End()), cause(c)
		t.says(explain.Phrase("%s%s", explain.Because(&v), near))
	case history.StateFailing:
		t.Sort, t.Since, t.Cause = SortFailed, recordjson.Instant(settledAt(c)), cause(c)
		t.says(explain.Because(&v))
	default:
		x := stuck.Find(c, stuck.RunningNow(c))
		_, unseen := c.Unseen()
		// If the Job is not stuck, or has ended, or its present state is not known, it has no trouble to report.
		if x == nil || unseen || c.Cut || c.Over() {
			return t, false
		}
		t.Sort, t.Since, t.Why, t.Cause = SortStuck, recordjson.Instant(x.From[0].At), x.Text, stuckCause(c, x)
		if g := c.Job.Gap; g != nil {
			t.Why = verdicts.UnwatchedText(c, g) + x.Text
		}
	}
	if t.Sort == SortFailed {
		t.Node, t.ofNode = ofNode(c)
	}
	// Jobs whose reasons differ only in the Job's name share a line (t.same). A stuck Job needs no such text: its cause
	// has its wait already.
	if t.Sort != SortStuck && t.ofNode == "" {
		t.same = explain.Unnamed(t.Why, j.Name)
	}
	return t, true
}

// says sets Why and Whole to the two versions of p: cut for one line, and whole.
func (t *Trouble) says(p explain.Passage) {
	if t.Why, t.Whole = p.Cut, p.Whole; p.Whole == p.Cut {
		t.Whole = ""
	}
}

func settledAt(c *jobcase.Case) events.Time {
	if c.Settled == nil {
		return c.End()
	}
	return max(c.Settled.Decided.At, c.Settled.Seen.At)
}
