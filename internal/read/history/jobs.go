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

// JobsQuery says which Jobs are wanted, and how many. The zero JobsQuery wants all.
type JobsQuery struct {
	Namespace string          // empty for all
	States    []State         // none for all
	Name      string          // how their names begin; empty for all
	UID       string          // how their UIDs begin, likewise; then there is one page
	Labels    labels.Selector // of the labels that the log keeps; nil for all
	Since     events.Time     // those that have a record from this time on
	Limit     int             // of a page; 0 for no limit
	Continue  string          // JobsPage.Continue of the page before
}

func (q *JobsQuery) list() ListQuery {
	return ListQuery{Namespace: q.Namespace, States: q.States, Name: q.Name, UID: q.UID, Labels: q.Labels, Limit: q.Limit}
}

// Wants reports whether a Job is one of those, whatever the time of its records.
func (q *JobsQuery) Wants(s *Summary) bool {
	l := q.list()
	return l.Wants(s)
}

// JobsPage is a part of the Jobs that are wanted, the newest first: those whose first record is the newest. Its JSON
// changes only by growing.
type JobsPage struct {
	Items    []Summary `json:"items"`
	Continue string    `json:"continue,omitempty"` // what the next page is asked for with; absent when there is none
	// PrunedBefore is where the log begins, when older records are no longer kept: of Jobs that were over by then it knows
	// nothing.
	PrunedBefore *Place `json:"prunedBefore,omitempty"`
	// PassedOver: namespaces that are over their budgets of log. Jobs of them may be missing, and what is shown may be
	// older than it says.
	PassedOver []Passed `json:"passedOver,omitempty"`
}

// ErrQuery: what was asked for makes no sense.
var ErrQuery = errors.New("there is no such page")

var errNoLists = errors.New("there are no lists of the log's Jobs")

// Jobs is described by Source.
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

// firstAt is the first record that is not older than a time; the one behind the last when all are.
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
