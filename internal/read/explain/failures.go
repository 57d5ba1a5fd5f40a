package explain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// FailuresQuery says of which Jobs trouble is told. The zero query wants that of all.
type FailuresQuery struct {
	Namespace string
	Labels    labels.Selector // of the labels that the log keeps; nil for all
	Since     events.Time     // they failed no earlier; 0 for no bound. What is stuck is told always
	Until     events.Time     // as of when trouble is told: what comes later is not looked at; 0 for now
	Survived  bool            // also Jobs that succeeded after failures, ignored disruptions or restarts
	Limit     int             // so many that failed are told, at most, and so many that survived; 0 for all
	Zone      words.Zone      // of the times in texts
}

// Trouble is a Job that failed, is stuck, or nearly failed, or a CronJob that does not start. Its JSON changes only by
// growing.
type Trouble struct {
	Sort      string             `json:"sort"` // "stuck", "failed", "deleted" or "survived"
	Kind      string             `json:"kind"` // "Job" or "CronJob"
	Since     recordjson.Instant `json:"since"`
	Namespace string             `json:"namespace"`
	Name      string             `json:"name"`
	UID       string             `json:"uid"`
	Tries     int                `json:"tries"`
	Why       string             `json:"why"`
	Whole     string             `json:"whole,omitempty"` // Why with all of the texts of others that are cut in it
	Cause     string             `json:"cause"`           // equal for Jobs that failed alike
	Lineage   string             `json:"lineage,omitempty"`
	Also      int                `json:"also,omitempty"` // how many more Jobs of the list failed alike
	Records   []uint64           `json:"records,omitempty"`
	Work      string             `json:"work"` // equal for runs of the same work: of a CronJob, of a generateName, or of one name

	same string // equal for trouble of one cause of which Why may tell in one line
}

// Failures is a list of trouble, stuck ones first. Its JSON changes only by growing.
type Failures struct {
	Items    []Trouble `json:"items"`
	Causes   []Cause   `json:"causes"`   // what Items have in common, in their order
	Looked   int       `json:"looked"`   // at so many Jobs
	CronJobs int       `json:"cronJobs"` // and at so many CronJobs
	More     bool      `json:"more,omitempty"`

	AsOf recordjson.Instant `json:"asOf,omitzero"` // what came later was not looked at; absent when it is told as of now

	Gaps []history.Gap `json:"gaps,omitempty"` // within the time that is asked for

	// Passed are times in which namespaces that are asked for were over their budgets of log: Jobs may be missing, and
	// what is told late.
	Passed []history.Passed `json:"passedOver,omitempty"`

	PrunedBefore *history.Place `json:"prunedBefore,omitempty"` // where the log begins, when older records are no longer kept
}

// The kinds of objects in trouble.
const (
	kindJob     = "Job"
	kindCronJob = "CronJob"
)

// The sorts of trouble.
const (
	SortStuck    = "stuck"
	SortFailed   = "failed"
	SortDeleted  = "deleted" // a Job that was stuck, or failing, until it was deleted; its Since is the deletion
	SortSurvived = "survived"
)

// FindFailures looks for Jobs and CronJobs in trouble.
func FindFailures(ctx context.Context, src history.Source, q FailuresQuery) (Failures, error) {
	f := finding{Failures: Failures{Items: []Trouble{}, Causes: []Cause{}, AsOf: recordjson.Instant(q.Until)}, ctx: ctx, src: &remembering{Source: src}, q: &q, seen: map[string]bool{}}
	for _, step := range []struct {
		what string
		look func() error
	}{
		{"look for times without a watch", f.addGaps}, {"look at Jobs that go on", f.goingOn}, {"look at Jobs that are over", f.over},
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

// TroubleOf is the trouble of those Jobs that have any, by their UIDs.
func TroubleOf(ctx context.Context, src history.Source, jobs []history.Summary) (map[string]Trouble, error) {
	f := finding{ctx: ctx, src: &remembering{Source: src}, q: &FailuresQuery{}}
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

// finding is a Failures in the making.
type finding struct {
	Failures
	ctx    context.Context
	src    history.Source
	q      *FailuresQuery
	seen   map[string]bool // UIDs of Jobs that were looked at
	unread error           // why not all could be read
}

const (
	jobsAtOnce = 1000 // Jobs of a page
	wellAtMost = 4
)

// eachJob gives the Jobs that a query wants, until that is enough.
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

// goes are the states of Jobs that go on, and may be stuck. All of them are looked at, whenever they were heard of
// last: what is stuck for the longest time is silent.
var goes = []history.State{history.StateWaiting, history.StateRunning, history.StateFailing, history.StateFinishing, history.StateDeleting}

func (f *finding) goingOn() error {
	err := f.eachJob(history.JobsQuery{States: goes}, func(s *history.Summary) (bool, error) {
		return false, f.lookFirst(s)
	})
	if err != nil || f.q.Until == 0 {
		return err
	}
	// Jobs that went on at the time that is asked for, and have ended since: each has a record behind that time.
	return f.eachJob(history.JobsQuery{Since: f.q.Until}, func(s *history.Summary) (bool, error) {
		if s.Finished != 0 && events.Time(s.Finished) <= f.q.Until || f.seen[s.UID] {
			return false, nil
		}
		return false, f.lookFirst(s)
	})
}

// lookFirst looks at a Job, which is not looked at again.
func (f *finding) lookFirst(s *history.Summary) error {
	f.seen[s.UID] = true
	f.Looked++
	return f.look(s)
}

// over looks at Jobs that are over and have a record in the time that is asked for. The limit is one of what is told,
// and not of what is looked at: Jobs that ended at another time, or well, take no room. Near misses of Jobs without a
// failure, restarts for one, are found by reading those Jobs: of the newest wellAtMost times the limit, which are 2,000
// with a limit of 500. So is what was stuck until it was deleted.
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

// addGaps finds the gaps within the time that is asked for, and when namespaces were over their budgets of log.
func (f *finding) addGaps() error {
	q := f.q
	gaps, passed, err := history.Unrecorded(f.ctx, f.src)
	for _, g := range gaps {
		after := q.Since == 0 || g.Until == 0 || events.Time(g.Until) > q.Since
		before := q.Until == 0 || events.Time(g.From) < q.Until
		if g.From != 0 && after && before && !instant(g) {
			f.Gaps = append(f.Gaps, *g)
		}
	}
	if passed != nil {
		f.Passed = passed.Touching(q.Namespace, q.Namespace == "", q.Since, q.Until)
	}
	return err
}

// look takes a Job into the list if it is in trouble. What is damaged of it is told as far as that can be read.
func (f *finding) look(s *history.Summary) error {
	if f.q.Until != 0 && events.Time(s.Created) > f.q.Until {
		return nil
	}
	c, damage, err := f.caseAt(events.JobStream(types.UID(s.UID)), f.q.Until)
	if errors.Is(err, history.ErrNoJob) {
		if f.q.Until == 0 { // otherwise it came later
			f.take(untold(s, 0))
		}
		return nil
	}
	if err != nil {
		return err
	}
	t, is := Trouble{}, false
	if c != nil {
		t, is = c.trouble()
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

// caseAt reads a Job as of a time; 0 is the end of the log. Of a damaged log it gives what can be read, nil for nothing,
// and the damage, with which the answer ends.
func (f *finding) caseAt(s events.Stream, at events.Time) (c *Case, damage, err error) {
	c, damage = Read(f.ctx, f.src, s, history.Point{Time: at})
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

// take puts trouble of the time that is asked for into the list; trouble without a sort is none.
func (f *finding) take(t Trouble) {
	q := f.q
	if t.Sort == "" || t.Sort == SortSurvived && !q.Survived || q.Until != 0 && events.Time(t.Since) > q.Until {
		return
	}
	if q.Since == 0 || t.Sort == SortStuck || events.Time(t.Since) >= q.Since {
		f.Items = append(f.Items, t)
	}
}

// untold is the trouble of a Job of which only the list can tell, as its records are damaged from one on, or missing
// (0). One that is not known to have failed has none.
func untold(s *history.Summary, damaged events.Sequence) Trouble {
	t := Trouble{
		Kind: kindJob, Since: s.Finished, Namespace: s.Namespace, Name: s.Name, UID: s.UID, Tries: int(s.Counts.Failed + s.Counts.Succeeded),
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

// trouble is what is wrong with the Job, if something is.
func (c *Case) trouble() (Trouble, bool) {
	j, v := &c.Job, c.verdict()
	t := Trouble{
		Kind: kindJob, Namespace: j.Namespace, Name: j.Name, UID: j.UID, Tries: len(c.Tries), Records: v.Records, Work: c.work(),
	}
	if c.origin != nil && c.origin.Kind != "" {
		t.Lineage = c.origin.Kind + " " + c.origin.Name
	}
	switch j.State {
	case history.StateFailed:
		t.Sort, t.Since, t.Cause = SortFailed, recordjson.Instant(c.end()), c.cause()
		t.says(because(&v))
	case history.StateComplete:
		near, is := c.nearMiss()
		if !is {
			return t, false
		}
		t.Sort, t.Since, t.Cause = SortSurvived, recordjson.Instant(c.end()), c.cause()
		t.says(phrase("%s%s", because(&v), near))
	case history.StateFailing:
		t.Sort, t.Since, t.Cause = SortFailed, recordjson.Instant(c.settledAt()), c.cause()
		t.says(because(&v))
	default:
		x := c.stuck(c.runningNow())
		_, unseen := c.unseen()
		if x == nil || unseen || c.cut || c.over() { // what came of it is not known, or it is over
			return t, false
		}
		t.Sort, t.Since, t.Why, t.Cause = SortStuck, recordjson.Instant(x.from[0].At), x.text, c.stuckCause(x)
		if g := c.Job.Gap; g != nil {
			t.Why = c.unwatchedText(g) + x.text
		}
	}
	if t.Sort != SortStuck { // how a stuck one waits is its cause
		t.same = unnamed(t.Why, j.Name)
	}
	return t, true
}

// says sets why.
func (t *Trouble) says(p passage) {
	if t.Why, t.Whole = p.cut, p.whole; p.whole == p.cut {
		t.Whole = ""
	}
}

// because is a verdict without how long the Job took.
func because(verdict *Sentence) passage {
	return verdict.passage().each(func(text string) string {
		if _, why, is := strings.Cut(text, ": "); is {
			return why
		}
		return text
	})
}

func (c *Case) settledAt() events.Time {
	if c.settled == nil {
		return c.end()
	}
	return max(c.settled.Decided.At, c.settled.Seen.At)
}
