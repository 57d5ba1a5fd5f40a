package failures

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// paged is a list of Jobs in pages of two.
type paged struct {
	history.Source
	n      int
	like   history.Summary // each Job, but for its name and UID
	fails  error           // of the second page
	failed int             // the page that fails
	asked  []history.JobsQuery
}

func (l *paged) Beside(err error) bool { return errors.Is(err, store.ErrCorrupt) }

func (l *paged) Jobs(_ context.Context, q history.JobsQuery) (page history.JobsPage, err error) {
	l.asked = append(l.asked, q)
	at, _ := strconv.Atoi(q.Continue)
	for i := at; i < min(at+2, l.n); i++ {
		job := l.like
		job.Name, job.UID = fmt.Sprint("j", i), fmt.Sprint("u", i)
		page.Items = append(page.Items, job)
	}
	if at+2 < l.n {
		page.Continue = strconv.Itoa(at + 2)
	}
	if len(l.asked) == l.failed {
		err = l.fails
	}
	return page, err
}

// TestEachPageOfJobsIsLookedAt until enough is found, or a page cannot be read. Beside damage, the others are.
func TestEachPageOfJobsIsLookedAt(t *testing.T) {
	denied := errors.New("denied")
	for _, row := range []struct {
		name   string
		n      int
		enough int // after so many; 0 for never
		fails  error
		at     int // the page that fails
		looked int
		pages  int
		unread bool
	}{
		{name: "none", pages: 1}, {name: "one page", n: 2, looked: 2, pages: 1}, {name: "two pages", n: 3, looked: 3,
			pages: 2},
		{name: "three pages", n: 6, looked: 6, pages: 3}, {name: "enough", n: 6, enough: 3, looked: 3, pages: 2},
		{name: "damaged", n: 6, fails: store.ErrCorrupt, at: 2, looked: 6, pages: 3, unread: true},
		{name: "denied", n: 6, fails: denied, at: 2, looked: 2, pages: 2},
	} {
		src := &paged{n: row.n, fails: row.fails, failed: row.at}
		f := &finding{ctx: t.Context(), src: src, q: &Query{Namespace: "ns", Labels: labels.Everything()}}
		looked := 0
		err := f.eachJob(history.JobsQuery{States: goes}, func(*history.Summary) (bool, error) {
			looked++
			return looked == row.enough, nil
		})
		if looked != row.looked || len(src.asked) != row.pages || (f.unread != nil) != row.unread ||
			errors.Is(err, denied) != errors.Is(row.fails, denied) {
			t.Errorf("%s: %d looked at in %d pages, %v, %v", row.name, looked, len(src.asked), f.unread, err)
		}
		for _, q := range src.asked {
			if q.Namespace != "ns" || q.Labels == nil || q.Limit != jobsAtOnce || len(q.States) != len(goes) {
				t.Errorf("%s: it asks for %+v", row.name, q)
			}
		}
	}
	f := &finding{ctx: t.Context(), src: &paged{n: 3}, q: &Query{}}
	if err := f.eachJob(history.JobsQuery{}, func(*history.Summary) (bool, error) {
		return false,
			denied
	}); !errors.Is(err, denied) {
		t.Errorf("a Job that cannot be read: %v", err)
	}
}

// TestJobsThatEndedWellAreBounded: with a limit of 1, no more than four Jobs without a failure, or that were deleted, are
// read. Jobs that failed are no part of that bound. The Jobs here were created after the requested time, so that none is
// told.
func TestJobsThatEndedWellAreBounded(t *testing.T) {
	for _, row := range []struct {
		name   string
		state  history.State
		failed int32
		jobs   int
		more   bool
	}{
		{"failed", history.StateFailed, 1, 9, false},
		{"failed without a failure", history.StateFailed, 0, 9, false},
		{"complete after a failure", history.StateComplete, 1, 9, false},
		{"complete, four", history.StateComplete, 0, 4, false},
		{"complete, five", history.StateComplete, 0, 5, true},
		{"deleted, four", history.StateDeleted, 0, 4, false},
		{"deleted, five", history.StateDeleted, 1, 5, true},
		{"running", history.StateRunning, 0, 9, false},
	} {
		like := history.Summary{State: row.state, Created: whentest.Recorded(2)}
		like.Counts.Failed = row.failed
		f := &finding{ctx: t.Context(), src: &paged{n: row.jobs, like: like}, seen: map[string]bool{},
			q: &Query{Limit: 1, Survived: true, Until: whentest.Sec(1)}}
		if err := f.over(); err != nil || f.More != row.more || f.Looked != row.jobs {
			t.Errorf("%s: %d looked at, more: %t, %v", row.name, f.Looked, f.More, err)
		}
	}
}
