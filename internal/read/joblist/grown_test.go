package joblist_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
)

// young is a log as it was when it had so many records.
type young struct {
	store.Reader
	head store.Head
}

func (y *young) Head() store.Head { return y.head }

func (y *young) through(all iter.Seq2[events.Record, error], skip bool) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range all {
			switch later := err == nil && r.Sequence > y.head.Sequence; {
			case later && skip:
				continue
			case later, !yield(r, err):
				return
			}
		}
	}
}

func (y *young) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return y.through(y.Reader.Read(ctx, from), false)
}

func (y *young) ReadStream(ctx context.Context, s events.Stream, from events.Sequence,
	d store.Direction) iter.Seq2[events.Record, error] {
	return y.through(y.Reader.ReadStream(ctx, s, from, d), d == store.Backward)
}

// filesOf are the files that the log had then.
func (y *young) filesOf(all []store.File) (out []store.File) {
	for _, f := range all {
		if f.First > y.head.Sequence {
			break
		}
		if f.End.Sequence > y.head.Sequence {
			f.End, f.Sealed = y.head, false
		}
		out = append(out, f)
	}
	return out
}

// TestListsOfALogThatGrows: a Keeper goes on from its lists again and again, at places that nobody chose at the ends of
// batches. The pages are what a fold of the log gives that is so old. They are likewise where its older lists are kept
// and the newest is not, and for each UID alone.
func TestListsOfALogThatGrows(t *testing.T) {
	config, _, _ := hardCrons(t)
	all, err := config.Files()
	if err != nil {
		t.Fatal(err)
	}
	log, c, fold, n, next := config.Log, config, history.NewFold(), 0, 0
	c.Every = 1
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		fold.Apply(&r)
		if n++; n < next || !r.Last {
			continue
		}
		next = n + 61
		hash, err := log.Chain(r.Sequence)
		if err != nil {
			t.Fatal(err)
		}
		y := &young{log, store.Head{Sequence: r.Sequence, Time: r.Time, Hash: hash}}
		c.Log, c.Files = y, func() ([]store.File, error) { return y.filesOf(all), nil }
		if err := joblist.NewKeeper(c, nil).CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		grown(t, fmt.Sprintf("at record %d", r.Sequence), c, fold, n%3)
	}
	if n < 500 {
		t.Errorf("the log has %d records only", n)
	}
}

// grown compares the pages of lists with a fold, and asks for each so many-th UID.
func grown(t *testing.T, what string, c joblist.Config, fold *history.Fold, first int) {
	t.Helper()
	var jobs []history.Summary
	for _, a := range slices.Backward(fold.Accounts()) {
		jobs = append(jobs, history.SummaryOf(a))
	}
	got, _ := pages(t, joblist.New(c), history.ListQuery{Limit: 4})
	same(t, what, jobs, got)
	for i := first; i < len(jobs); i += 3 {
		page, err := joblist.New(c).Page(t.Context(), history.ListQuery{UID: jobs[i].UID})
		if err != nil {
			t.Fatal(err)
		}
		same(t, what+", "+jobs[i].UID, jobs[i:i+1], page.Jobs)
	}
	var crons []history.CronSummary
	for _, a := range slices.Backward(fold.CronAccounts()) {
		crons = append(crons, history.CronSummaryOf(a))
	}
	if d := cmp.Diff(crons, cronPages(t, joblist.New(c), history.CronListQuery{})); d != "" {
		t.Fatalf("%s, CronJobs (-whole fold +pages):\n%.2000s", what, d)
	}
}

// TestUIDsOfAPrunedLog: wherever the log begins, and whenever its lists were made, a Job that is asked for by its UID
// is what the page of all Jobs says of it, and those that a beginning of UIDs names come in the order of that page.
func TestUIDsOfAPrunedLog(t *testing.T) {
	config, _, _ := hardCrons(t)
	all, err := config.Files()
	if err != nil {
		t.Fatal(err)
	}
	if err := joblist.NewKeeper(config, nil).Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, past := config.Dir, 0
	for k := 1; k < len(all); k += effort.Step(3) {
		c := config
		c.Log, c.Files = historytest.Pruned{Reader: config.Log, First: all[k].First},
			func() ([]store.File, error) { return all[k:], nil }
		want, _ := pages(t, joblist.New(c), history.ListQuery{})
		for _, c.Dir = range []string{"", before} {
			for i := range want {
				one, err := joblist.New(c).Page(t.Context(), history.ListQuery{UID: want[i].UID})
				if err != nil {
					t.Fatal(err)
				}
				same(t, fmt.Sprintf("from file %d on, lists in %q, %s", k, c.Dir, want[i].UID), want[i:i+1], one.Jobs)
				if want[i].First == 0 {
					past++
				}
			}
			begins := want[0].UID[:1]
			var like []history.Summary
			for _, s := range want {
				if strings.HasPrefix(s.UID, begins) {
					like = append(like, s)
				}
			}
			for _, limit := range []int{0, len(like), len(like) + 1} {
				some, err := joblist.New(c).Page(t.Context(), history.ListQuery{UID: begins, Limit: limit})
				if err != nil {
					t.Fatal(err)
				}
				same(t, fmt.Sprintf("from file %d on, %d of those that begin with %q", k, limit, begins), like, some.Jobs)
			}
			some, err := joblist.New(c).Page(t.Context(), history.ListQuery{UID: begins, Limit: len(like) - 1})
			if err != nil || len(like) > 1 && len(some.Jobs) != len(like)-1 {
				t.Errorf("%d of %d Jobs are on a page that is one too short: %v", len(some.Jobs), len(like), err)
			}
		}
	}
	if past < 3 {
		t.Errorf("only %d Jobs had begun before", past)
	}
}
