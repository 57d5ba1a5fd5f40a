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

// Lists lists the Jobs and CronJobs of a log by page. It is safe for concurrent use.
type Lists interface {
	// Page returns the Jobs that a query selects. With an error that is store.ErrCorrupt, it also returns the Jobs that
	// can be read.
	Page(ctx context.Context, q ListQuery) (ListPage, error)
	// CronJobs returns the CronJobs that a query selects, under the same rules as Page.
	CronJobs(ctx context.Context, q CronListQuery) (CronListPage, error)
}

// ListQuery selects Jobs. The zero ListQuery selects all.
type ListQuery struct {
	Namespace string          // empty for all
	States    []State         // none for all
	Name      string          // prefix of the name; empty for all
	UID       string          // prefix of the UID; empty for all, else all Jobs are on one page
	Labels    labels.Selector // selects by the labels that the log keeps; nil for all
	Since     events.Sequence // Jobs that have a record at or after it
	Before    events.Sequence // Jobs after the page that ended there: ListPage.Next; 0 for the first page
	Past      *PastJob        // Jobs after a page that ended among Jobs older than the log: ListPage.Past
	Limit     int             // largest size of a page; 0 for no limit
}

// Wants reports whether the query selects a Job; it ignores Since, Before, Past and Limit.
func (q *ListQuery) Wants(s *Summary) bool {
	return (q.Namespace == "" || s.Namespace == q.Namespace) && (len(q.States) == 0 || slices.Contains(q.States, s.State)) &&
		strings.HasPrefix(s.Name, q.Name) && strings.HasPrefix(s.UID, q.UID) && (q.Labels == nil || q.Labels.Matches(labels.Set(s.Labels)))
}

// ListPage is one page of Jobs, the newest first record first. After these come the Jobs whose first record is no
// longer kept, the newest creation first.
type ListPage struct {
	Jobs []Summary
	Next events.Sequence // ListQuery.Before of the next page; 0 on the last page, and with Past
	Past *PastJob        // ListQuery.Past of the next page if that begins among these Jobs; else nil
}

// PastJob is the position of a Job among the Jobs whose first record is no longer kept. Pruning does not change it.
type PastJob struct {
	Created events.Time
	UID     string
}

// String returns the position as a continue token, such as "past/1764429600000000000/UID".
func (p *PastJob) String() string { return fmt.Sprintf("past/%d/%s", p.Created, p.UID) }

// parsePastJob parses the result of String; it returns nil for other text.
func parsePastJob(text string) *PastJob {
	rest, is := strings.CutPrefix(text, "past/")
	created, uid, cut := strings.Cut(rest, "/")
	n, err := strconv.ParseInt(created, 10, 64)
	if !is || !cut || err != nil || uid == "" {
		return nil
	}
	return &PastJob{events.Time(n), uid}
}
