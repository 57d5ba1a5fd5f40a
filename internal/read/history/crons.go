package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// CronJobsQuery selects CronJobs, and limits the size of a page. The zero CronJobsQuery selects all.
type CronJobsQuery struct {
	Namespace string      // empty for all
	States    []CronState // empty for all
	Name      string      // prefix of the name; empty for all
	UID       string      // prefix of the UID; empty for all
	Since     events.Time // only CronJobs with a record at or after this time
	Limit     int         // largest size of a page; 0 for no limit
	Continue  string      // the Continue of the page before; empty for the first page
}

// Wants reports whether the query selects the CronJob of summary s. It does not check Since, Limit and Continue.
func (q *CronJobsQuery) Wants(s *CronSummary) bool {
	return (q.Namespace == "" || s.Namespace == q.Namespace) && (len(q.States) == 0 || slices.Contains(q.States, s.State)) &&
		strings.HasPrefix(s.Name, q.Name) && strings.HasPrefix(s.UID, q.UID)
}

// CronJobsPage is one page of CronJobs. The CronJob whose first record is newest comes first. Its JSON changes only by
// adding fields.
type CronJobsPage struct {
	Items []CronSummary `json:"items"`
	// Continue is the value of CronJobsQuery.Continue for the next page; absent on the last page.
	Continue string `json:"continue,omitempty"`
	// PrunedBefore is the oldest record, if older ones are pruned (deleted with old log files). CronJobs that were
	// deleted before it are not known.
	PrunedBefore *Place `json:"prunedBefore,omitempty"`
	// PassedOver lists namespaces that are over their log budget (how much log they may fill in an hour). CronJobs
	// there may be missing or shown in an older state.
	PassedOver []Passed `json:"passedOver,omitempty"`
}

// CronListQuery is a CronJobsQuery for Lists, with record numbers (From, Before) in place of Since and Continue.
type CronListQuery struct {
	CronJobsQuery
	From events.Sequence // only CronJobs that have a record at or after this one
	// Settle brings summaries up to the present time, before the query filters them by state. If nil, the query filters
	// by the states in the records.
	Settle func([]CronSummary)
	Before events.Sequence // the Next of the page before; 0 for the first page
}

// CronListPage is one page of CronJobs, the newest first.
type CronListPage struct {
	CronJobs []CronSummary
	Next     events.Sequence // value of Before for the next page; 0 on the last page
}

// CronJobs implements Source: it returns a page of summaries of CronJobs, from the lists of the log. It fails without
// Local.Lists.
func (l Local) CronJobs(ctx context.Context, q CronJobsQuery) (CronJobsPage, error) {
	if l.Lists == nil {
		return CronJobsPage{}, errNoLists
	}
	wanted := CronListQuery{CronJobsQuery: q}
	if q.Continue != "" {
		at, err := strconv.ParseUint(q.Continue, 10, 64)
		if err != nil || at == 0 {
			return CronJobsPage{}, fmt.Errorf("%w: %q is not where a page of CronJobs ended", ErrQuery, q.Continue)
		}
		wanted.Before = events.Sequence(at)
	}
	if q.Since != 0 {
		since, err := l.firstAt(ctx, q.Since)
		if err != nil {
			return CronJobsPage{}, err
		}
		wanted.From = since
	}
	var unsettled error
	wanted.Settle = func(all []CronSummary) { unsettled = Settle(ctx, l, all, max(l.now(), l.Log.Head().Time)) }
	page, err := l.Lists.CronJobs(ctx, wanted)
	l.Damage.Note(err)
	begins, unread := PrunedBefore(ctx, l)
	out := CronJobsPage{Items: page.CronJobs, PrunedBefore: begins}
	if out.Items == nil {
		out.Items = []CronSummary{}
	}
	if page.Next != 0 {
		out.Continue = strconv.FormatUint(uint64(page.Next), 10)
	}
	return out, cmp.Or(err, unsettled, unread)
}
