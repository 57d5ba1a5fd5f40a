package history

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/jobledger/jobledger/events"
)

// Lists gives the Jobs and the CronJobs of a log, a page at a time. It is safe for concurrent use.
type Lists interface {
	// Page gives the Jobs that a query wants. With an error that is store.ErrCorrupt it gives those that can be read.
	Page(ctx context.Context, q ListQuery) (ListPage, error)
	// CronJobs gives the CronJobs that a query wants, likewise.
	CronJobs(ctx context.Context, q CronListQuery) (CronListPage, error)
}

// ListQuery says which Jobs are wanted. The zero ListQuery wants all.
type ListQuery struct {
	Namespace string          // empty for all
	States    []State         // none for all
	Name      string          // how their names begin; empty for all
	UID       string          // how their UIDs begin, likewise; then there is one page
	Labels    labels.Selector // of the labels that the log keeps; nil for all
	Since     events.Sequence // those that have a record at or after it
	Before    events.Sequence // those behind a page that ended there: ListPage.Next; 0 for the first page
	Past      *PastJob        // likewise, of a page that ended among Jobs that began before all records: ListPage.Past
	Limit     int             // of one page; 0 for no limit
}

// Wants reports whether a Job is one of those, but for its place in the log.
func (q *ListQuery) Wants(s *Summary) bool {
	return (q.Namespace == "" || s.Namespace == q.Namespace) && (len(q.States) == 0 || slices.Contains(q.States, s.State)) &&
		strings.HasPrefix(s.Name, q.Name) && strings.HasPrefix(s.UID, q.UID) && (q.Labels == nil || q.Labels.Matches(labels.Set(s.Labels)))
}

// ListPage is a part of the Jobs, the newest first: those whose first record is the newest. Behind them come the Jobs
// whose first records are no longer kept, the newest creation first.
type ListPage struct {
	Jobs []Summary
	Next events.Sequence // what ListQuery.Before wants for the next page; 0 when there are no more, and with Past
	Past *PastJob        // what ListQuery.Past wants, likewise; nil for none
}

// PastJob is the place of a Job among those whose first records are no longer kept. It stays the same when more records
// are pruned.
type PastJob struct {
	Created events.Time
	UID     string
}

// String is how a page says where the next one begins.
func (p *PastJob) String() string { return fmt.Sprintf("past/%d/%s", p.Created, p.UID) }

// parsePastJob reads what String writes; nil when it is something else.
func parsePastJob(text string) *PastJob {
	rest, is := strings.CutPrefix(text, "past/")
	created, uid, cut := strings.Cut(rest, "/")
	n, err := strconv.ParseInt(created, 10, 64)
	if !is || !cut || err != nil || uid == "" {
		return nil
	}
	return &PastJob{events.Time(n), uid}
}
