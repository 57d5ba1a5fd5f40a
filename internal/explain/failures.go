package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/recordjson"
	"github.com/jobledger/jobledger/internal/words"
	"github.com/jobledger/jobledger/store"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// FailuresQuery says of which Jobs trouble is told. The zero query wants that of all.
type FailuresQuery struct {
	Namespace    string
	Labels       labels.Selector // of the labels that the log keeps; nil for all
	Since, Until events.Time     // Jobs with a record in that time; 0 for no bound
	Survived     bool            // also Jobs that succeeded, but had failures on the way
	Limit        int             // so many Jobs are looked at, at most; 0 for all
	Zone         words.Zone      // of the times in texts
}

// Trouble is a Job that failed, is stuck, or nearly failed. Its JSON changes only by growing.
type Trouble struct {
	Sort      string             `json:"sort"` // "stuck", "failed" or "survived"
	Since     recordjson.Instant `json:"since"`
	Namespace string             `json:"namespace"`
	Name      string             `json:"name"`
	UID       string             `json:"uid"`
	Tries     int                `json:"tries"`
	Why       string             `json:"why"`
	Cause     string             `json:"cause"` // equal for Jobs that failed alike
	Lineage   string             `json:"lineage,omitempty"`
	Also      int                `json:"also,omitempty"` // how many more Jobs of the list failed alike
	Records   []uint64           `json:"records,omitempty"`
}

// Failures is a list of trouble, stuck Jobs first. Its JSON changes only by growing.
type Failures struct {
	Items  []Trouble     `json:"items"`
	Looked int           `json:"looked"` // at so many Jobs
	More   bool          `json:"more,omitempty"`
	Gaps   []history.Gap `json:"gaps,omitempty"` // within the time that is asked for

	// Passed are times in which namespaces that are asked for were over their budgets of log: Jobs may be missing, and what is told late.
	Passed []history.Passed `json:"passedOver,omitempty"`

	PrunedBefore *history.Place `json:"prunedBefore,omitempty"` // where the log begins, when older records are no longer kept
}

// The sorts of trouble.
const (
	SortStuck    = "stuck"
	SortFailed   = "failed"
	SortSurvived = "survived"
)

// FindFailures looks for Jobs in trouble.
func FindFailures(ctx context.Context, src history.Source, q FailuresQuery) (Failures, error) {
	src = &remembering{Source: src}
	out := Failures{Items: []Trouble{}}
	unread := out.addGaps(ctx, src, &q)
	if unread != nil && !src.Beside(unread) {
		return out, fmt.Errorf("look for times without a watch: %w", unread)
	}
	after := ""
	for {
		page, err := src.Jobs(ctx, history.JobsQuery{Namespace: q.Namespace, Labels: q.Labels, Since: q.Since, Limit: pageOf(q.Limit - out.Looked), Continue: after})
		out.PrunedBefore = page.PrunedBefore
		if src.Beside(err) {
			unread = err
		} else if err != nil {
			return out, fmt.Errorf("list Jobs: %w", err)
		}
		for i := range page.Items {
			if q.Limit > 0 && out.Looked == q.Limit {
				out.More = true
				return out.sorted(), unread
			}
			out.Looked++
			if err := out.look(ctx, src, &q, &page.Items[i]); src.Beside(err) {
				unread = err
			} else if err != nil {
				return out, err
			}
		}
		if after = page.Continue; after == "" {
			return out.sorted(), unread
		}
	}
}

// addGaps finds the gaps within the time that is asked for, and when namespaces were over their budgets of log.
func (f *Failures) addGaps(ctx context.Context, src history.Source, q *FailuresQuery) error {
	gaps, passed, err := history.Unrecorded(ctx, src)
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

// pageOf is how many Jobs a page has, when so many are left to be looked at: one more, to know whether there are more.
func pageOf(left int) int {
	if left <= 0 {
		return 500
	}
	return min(left+1, 500)
}

// look takes a Job into the list if it is in trouble. With an error that is ErrCorrupt, what can be told of it is in the list.
func (f *Failures) look(ctx context.Context, src history.Source, q *FailuresQuery, s *history.Summary) error {
	switch s.State {
	case history.StateComplete:
		if !q.Survived || s.Counts.Failed == 0 {
			return nil
		}
	case history.StateUnmanaged, history.StateUnseen, history.StateSuspended, history.StateDeleted:
		return nil
	}
	if q.Until != 0 && events.Time(s.Created) > q.Until {
		return nil
	}
	c, err := Read(ctx, src, events.JobStream(types.UID(s.UID)), history.Point{})
	if errors.Is(err, history.ErrNoJob) {
		f.take(q, untold(s, 0))
		return nil
	}
	if err != nil && !src.Beside(err) {
		return err
	}
	t, is := Trouble{}, false
	if c != nil {
		c.In(q.Zone)
		t, is = c.trouble()
	}
	var bad *store.CorruptError
	if !is && errors.As(err, &bad) {
		t = untold(s, bad.At)
	}
	f.take(q, t)
	return err
}

// take puts trouble of the time that is asked for into the list; trouble without a sort is none.
func (f *Failures) take(q *FailuresQuery, t Trouble) {
	if t.Sort == "" || q.Until != 0 && events.Time(t.Since) > q.Until {
		return
	}
	if q.Since == 0 || t.Sort == SortStuck || events.Time(t.Since) >= q.Since {
		f.Items = append(f.Items, t)
	}
}

// untold is the trouble of a Job of which only the list can tell, as its records are damaged from one on, or missing (0). One that is not
// known to have failed has none.
func untold(s *history.Summary, damaged events.Sequence) Trouble {
	t := Trouble{
		Since: s.Finished, Namespace: s.Namespace, Name: s.Name, UID: s.UID, Tries: int(s.Counts.Failed + s.Counts.Succeeded),
		Why: "cannot be told: the log has no records of it", Cause: "cannot be told",
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
	j := &c.Job
	t := Trouble{
		Namespace: j.Namespace, Name: j.Name, UID: j.UID, Tries: len(c.Tries), Records: c.verdict().Records,
	}
	if c.origin != nil && c.origin.Kind != "" {
		t.Lineage = c.origin.Kind + " " + c.origin.Name
	}
	switch j.State {
	case history.StateFailed:
		t.Sort, t.Since, t.Why, t.Cause = SortFailed, recordjson.Instant(c.end()), because(c.verdict().Text), c.cause()
	case history.StateComplete:
		t.Sort, t.Since, t.Why, t.Cause = SortSurvived, recordjson.Instant(c.end()), because(c.verdict().Text), c.cause()
	case history.StateFailing:
		t.Sort, t.Since, t.Why, t.Cause = SortFailed, recordjson.Instant(c.settledAt()), because(c.verdict().Text), c.cause()
	default:
		x := c.stuck(c.runningNow())
		if _, unseen := c.unseen(); x == nil || unseen || c.cut { // what came of it is not known
			return t, false
		}
		t.Sort, t.Since, t.Why, t.Cause = SortStuck, recordjson.Instant(x.from[0].At), x.text, c.stuckCause(x)
	}
	return t, true
}

// because is a verdict without how long the Job took.
func because(verdict string) string {
	if _, why, is := strings.Cut(verdict, ": "); is {
		return why
	}
	return verdict
}

func (c *Case) settledAt() events.Time {
	if c.settled == nil {
		return c.end()
	}
	return max(c.settled.Decided.At, c.settled.Seen.At)
}

// sorted orders the list: stuck ones first, then those that failed. Jobs that fared alike stand together, and of those the runs of the same
// work; the newest come first. How many fared alike is counted.
func (f Failures) sorted() Failures {
	order := map[string]int{SortStuck: 0, SortFailed: 1, SortSurvived: 2}
	alike, newest := map[string]int{}, map[string]recordjson.Instant{}
	cause := func(t *Trouble) string { return t.Sort + " " + t.Cause }
	work := func(t *Trouble) string { return cause(t) + " " + t.Namespace + " " + cmp.Or(t.Lineage, t.Name) }
	for i := range f.Items {
		t := &f.Items[i]
		alike[cause(t)]++
		for _, of := range []string{cause(t), work(t)} {
			newest[of] = max(newest[of], t.Since)
		}
	}
	slices.SortStableFunc(f.Items, func(a, b Trouble) int {
		return cmp.Or(
			cmp.Compare(order[a.Sort], order[b.Sort]),
			cmp.Compare(newest[cause(&b)], newest[cause(&a)]), cmp.Compare(cause(&a), cause(&b)),
			cmp.Compare(newest[work(&b)], newest[work(&a)]), cmp.Compare(work(&a), work(&b)),
			cmp.Compare(b.Since, a.Since),
		)
	})
	for i := range f.Items {
		f.Items[i].Also = alike[cause(&f.Items[i])] - 1
	}
	return f
}
