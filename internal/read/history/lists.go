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

// Lists returns the Jobs and CronJobs of a log by page. Package joblist implements it with index files, one for each
// file of the log. It is safe for concurrent use.
type Lists interface {
	// Page returns the Jobs that query q selects. If parts of the log are damaged, the error is store.ErrCorrupt, and
	// the page has the Jobs of the readable parts.
	Page(ctx context.Context, q ListQuery) (ListPage, error)
	// CronJobs returns the CronJobs that query q selects. If parts of the log are damaged, the error is
	// store.ErrCorrupt, and the page has the CronJobs of the readable parts.
	CronJobs(ctx context.Context, q CronListQuery) (CronListPage, error)
}

// ListQuery selects Jobs, and limits the size of a page. The zero ListQuery selects all. It is JobsQuery with record
// numbers in place of times.
type ListQuery struct {
	Namespace string          // empty for all
	States    []State         // empty for all
	Name      string          // prefix of the name; empty for all
	UID       string          // prefix of the UID; empty for all. If set, all Jobs come on one page
	Labels    labels.Selector // by the labels that the log keeps; nil for all
	Since     events.Sequence // only Jobs with a record at or after this one
	Before    events.Sequence // the Next of the page before; 0 for the first page
	Past      *PastJob        // the Past of the page before; nil if it has none
	Limit     int             // largest size of a page; 0 for no limit
}

// Wants reports whether the query selects the Job of summary s. It does not check Since, Before, Past and Limit.
func (q *ListQuery) Wants(s *Summary) bool {
	return (q.Namespace == "" || s.Namespace == q.Namespace) && (len(q.States) == 0 || slices.Contains(q.States, s.State)) &&
		strings.HasPrefix(s.Name, q.Name) && strings.HasPrefix(s.UID, q.UID) && (q.Labels == nil || q.Labels.Matches(labels.Set(s.Labels)))
}

// ListPage is one page of Jobs. The Job whose first record is newest comes first. Jobs whose first record is pruned
// (deleted) come last, ordered by creation, the newest first.
type ListPage struct {
	Jobs []Summary
	Next events.Sequence // value of Before for the next page; 0 on the last page, and if Past is set
	Past *PastJob        // value of Past for the next page, if its first Job has a pruned first record
}

// PastJob is a position on the pages of Jobs whose first record is pruned (deleted with old log files). Such Jobs are
// ordered by creation and UID, so later pruning does not change the position.
type PastJob struct {
	Created events.Time
	UID     string
}

// String returns the position as a page token (JobsQuery.Continue), such as "past/1764429600000000000/UID".
func (p *PastJob) String() string { return fmt.Sprintf("past/%d/%s", p.Created, p.UID) }

// parsePastJob parses a page token that PastJob.String made. It returns nil for other text.
func parsePastJob(text string) *PastJob {
	rest, is := strings.CutPrefix(text, "past/")
	created, uid, cut := strings.Cut(rest, "/")
	n, err := strconv.ParseInt(created, 10, 64)
	if !is || !cut || err != nil || uid == "" {
		return nil
	}
	return &PastJob{events.Time(n), uid}
}
