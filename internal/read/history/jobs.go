package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/jobledger/jobledger/events"
)

// JobsQuery selects Jobs, and limits the size of a page. The zero JobsQuery selects all.
type JobsQuery struct {
	Namespace string          // empty for all
	States    []State         // empty for all
	Name      string          // prefix of the name; empty for all
	UID       string          // prefix of the UID; empty for all. If set, all Jobs come on one page
	Labels    labels.Selector // by the labels that the log keeps; nil for all
	Since     events.Time     // only Jobs with a record at or after this time
	Limit     int             // largest size of a page; 0 for no limit
	Continue  string          // the Continue of the page before; empty for the first page
}

func (q *JobsQuery) list() ListQuery {
	return ListQuery{Namespace: q.Namespace, States: q.States, Name: q.Name, UID: q.UID, Labels: q.Labels, Limit: q.Limit}
}

// Wants reports whether the query selects the Job of summary s. It does not check Since, Limit and Continue.
func (q *JobsQuery) Wants(s *Summary) bool {
	l := q.list()
	return l.Wants(s)
}

// JobsPage is one page of Jobs. The Job whose first record is newest comes first. Its JSON changes only by adding
// fields.
type JobsPage struct {
	Items    []Summary `json:"items"`
	Continue string    `json:"continue,omitempty"` // JobsQuery.Continue of the next page; absent on the last
	// PrunedBefore is the oldest record, if older ones are pruned (deleted with old log files). Jobs that were over
	// before it are not known.
	PrunedBefore *Place `json:"prunedBefore,omitempty"`
	// PassedOver lists namespaces that are over their log budget (how much log they may fill in an hour). Jobs there
	// may be missing or shown in an older state.
	PassedOver []Passed `json:"passedOver,omitempty"`
}

// ErrQuery is returned if JobsQuery.Continue or CronJobsQuery.Continue is invalid.
var ErrQuery = errors.New("there is no such page")

var errNoLists = errors.New("there are no lists of the log's Jobs")

// Jobs implements Source: it returns a page of summaries of Jobs, from the lists of the log. It fails without
// Local.Lists.
func (l Local) Jobs(ctx context.Context, q JobsQuery) (JobsPage, error) {
	if l.Lists == nil {
		return JobsPage{}, errNoLists
	}
	wanted := q.list()
	if wanted.Past = parsePastJob(q.Continue); q.Continue != "" && wanted.Past == nil {
		at, err := strconv.ParseUint(q.Continue, 10, 64)
		if err != nil || at == 0 {
			return JobsPage{}, fmt.Errorf("%w: %q is not where a page of Jobs ended", ErrQuery, q.Continue)
		}
		wanted.Before = events.Sequence(at)
	}
	if q.Since != 0 {
		since, err := l.firstAt(ctx, q.Since)
		if err != nil {
			return JobsPage{}, err
		}
		wanted.Since = since
	}
	page, err := l.Lists.Page(ctx, wanted)
	l.Damage.Note(err)
	begins, unread := PrunedBefore(ctx, l)
	out := JobsPage{Items: page.Jobs, PrunedBefore: begins}
	switch {
	case page.Past != nil:
		out.Continue = page.Past.String()
	case page.Next != 0:
		out.Continue = strconv.FormatUint(uint64(page.Next), 10)
	}
	return out, cmp.Or(err, unread)
}

// firstAt returns the first record at or after time t. If all records are older, it returns the sequence after the
// newest one.
func (l Local) firstAt(ctx context.Context, t events.Time) (events.Sequence, error) {
	spans, err := l.spans(ctx, 0, t, 0)
	if err != nil {
		return 0, err
	}
	if len(spans) == 0 {
		return l.Log.Head().Sequence + 1, nil
	}
	return spans[0].from, nil
}
