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

// CronJobsQuery says which CronJobs are wanted, and how many. The zero CronJobsQuery wants all.
type CronJobsQuery struct {
	Namespace string      // empty for all
	States    []CronState // none for all
	Name      string      // how their names begin; empty for all
	UID       string      // how their UIDs begin, likewise
	Since     events.Time // those that have a record from this time on
	Limit     int         // of a page; 0 for no limit
	Continue  string      // CronJobsPage.Continue of the page before
}

// Wants reports whether a CronJob is one of those, whatever the time of its records.
func (q *CronJobsQuery) Wants(s *CronSummary) bool {
	return (q.Namespace == "" || s.Namespace == q.Namespace) && (len(q.States) == 0 || slices.Contains(q.States, s.State)) &&
		strings.HasPrefix(s.Name, q.Name) && strings.HasPrefix(s.UID, q.UID)
}

// CronJobsPage is a part of the CronJobs that are wanted, the newest first: those whose first record is the newest. Its
// JSON changes only by growing.
type CronJobsPage struct {
	Items    []CronSummary `json:"items"`
	Continue string        `json:"continue,omitempty"` // what the next page is asked for with; absent when there is none
	// PrunedBefore is where the log begins, when older records are no longer kept: of CronJobs that were gone by then it
	// knows nothing.
	PrunedBefore *Place `json:"prunedBefore,omitempty"`
	// PassedOver: namespaces that are over their budgets of log. CronJobs may be missing, and what is shown may be older
	// than it says.
	PassedOver []Passed `json:"passedOver,omitempty"`
}

// CronListQuery is a CronJobsQuery by records.
type CronListQuery struct {
	CronJobsQuery
	From   events.Sequence     // those that have a record at or after it
	Settle func([]CronSummary) // says how all of them stand now, before it is asked which are wanted; nil for as their records say
	Before events.Sequence     // those behind a page that ended there; 0 for the first page
}

// CronListPage is a part of the CronJobs, the newest first.
type CronListPage struct {
	CronJobs []CronSummary
	Next     events.Sequence // what CronListQuery.Before wants for the next page; 0 when there are no more
}

// CronJobs is described by Source.
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
