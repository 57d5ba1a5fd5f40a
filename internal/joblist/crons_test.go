package joblist_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/history/historytest"
	"github.com/jobledger/jobledger/internal/joblist"
	"github.com/jobledger/jobledger/store"
)

// files are those that a log in memory would have on disk: each begins with the state of the controller.
func files(t *testing.T, log store.Reader) []store.File {
	t.Helper()
	out := []store.File{{First: 1}}
	var before events.Record
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == events.KindStateStored && r.Stream == events.Controller {
			hash, err := log.Chain(before.Sequence)
			if err != nil {
				t.Fatal(err)
			}
			out[len(out)-1].End, out[len(out)-1].Sealed = store.Head{Sequence: before.Sequence, Time: before.Time, Hash: hash}, true
			out = append(out, store.File{First: r.Sequence})
		}
		before = r
	}
	out[len(out)-1].End = log.Head()
	if len(out) < 3 {
		t.Fatalf("the history has %d files only", len(out))
	}
	return out
}

// hardCrons is the log of CronJobs and their Jobs, in files, and what a fold of the whole of it says of them, the newest first.
func hardCrons(t *testing.T) (config joblist.Config, crons []history.CronSummary, jobs []history.Summary) {
	t.Helper()
	log := historytest.HardCrons(t, 3)
	fold := history.NewFold()
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		fold.Apply(&r)
	}
	for _, a := range slices.Backward(fold.CronAccounts()) {
		crons = append(crons, history.CronSummaryOf(a))
	}
	for _, a := range slices.Backward(fold.Accounts()) {
		jobs = append(jobs, history.SummaryOf(a))
	}
	if len(crons) < 3 || len(jobs) < 15 {
		t.Fatalf("only %d CronJobs and %d Jobs", len(crons), len(jobs))
	}
	all := files(t, log)
	return joblist.Config{Log: log, Files: func() ([]store.File, error) { return all, nil }, Dir: t.TempDir(), Every: 60}, crons, jobs
}

// cronPages puts the pages of a query together.
func cronPages(t *testing.T, lists *joblist.Lists, q history.CronListQuery) (all []history.CronSummary) {
	t.Helper()
	for {
		page, err := lists.CronJobs(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if q.Limit > 0 && (len(page.CronJobs) > q.Limit || page.Next != 0 && len(page.CronJobs) < q.Limit) {
			t.Fatalf("a page of %d CronJobs, with a next one at %d, want %d", len(page.CronJobs), page.Next, q.Limit)
		}
		all = append(all, page.CronJobs...)
		if q.Before = page.Next; page.Next == 0 {
			return all
		}
	}
}

// TestPagesOfCronJobsAreWhatAFoldOfTheWholeLogGives: however far the lists have come, whichever of them are missing, and whatever is asked.
func TestPagesOfCronJobsAreWhatAFoldOfTheWholeLogGives(t *testing.T) {
	config, want, jobs := hardCrons(t)
	settle := func(all []history.CronSummary) {
		for i := range all {
			all[i].Reason = fmt.Sprintf("settled, %d in all", len(all))
		}
	}
	half := events.Sequence(want[len(want)/2].Last)
	check := func(what string, limits ...int) {
		t.Helper()
		for _, limit := range limits {
			for name, row := range map[string]struct {
				q    history.CronListQuery
				keep func(s *history.CronSummary) bool
			}{
				"all": {history.CronListQuery{}, func(*history.CronSummary) bool { return true }},
				"settled": {history.CronListQuery{Settle: settle}, func(s *history.CronSummary) bool {
					s.Reason = fmt.Sprintf("settled, %d in all", len(want))
					return true
				}},
				"of a name":    {history.CronListQuery{CronJobsQuery: history.CronJobsQuery{Name: "cron-2"}}, func(s *history.CronSummary) bool { return s.Name == "cron-2" }},
				"deleted":      {history.CronListQuery{CronJobsQuery: history.CronJobsQuery{States: []history.CronState{history.CronDeleted}}}, func(s *history.CronSummary) bool { return s.Gone }},
				"of nowhere":   {history.CronListQuery{CronJobsQuery: history.CronJobsQuery{Namespace: "nowhere"}}, func(*history.CronSummary) bool { return false }},
				"seen since":   {history.CronListQuery{From: half}, func(s *history.CronSummary) bool { return s.Last >= uint64(half) }},
				"of a UID":     {history.CronListQuery{CronJobsQuery: history.CronJobsQuery{UID: want[0].UID}}, func(s *history.CronSummary) bool { return s.UID == want[0].UID }},
				"of no record": {history.CronListQuery{From: events.Sequence(want[0].Last) + 100_000}, func(*history.CronSummary) bool { return false }},
			} {
				row.q.Limit = limit
				var kept []history.CronSummary
				for _, s := range want {
					if row.keep(&s) {
						kept = append(kept, s)
					}
				}
				if d := cmp.Diff(kept, cronPages(t, joblist.New(config), row.q)); d != "" {
					t.Fatalf("%s, %s, pages of %d (-whole fold +pages):\n%.2000s", what, name, limit, d)
				}
			}
		}
		all, _ := pages(t, joblist.New(config), history.ListQuery{Limit: 7})
		same(t, what, jobs, all)
	}
	check("without lists", 0)
	if err := joblist.NewKeeper(config, nil).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("with lists", 2)
	if err := joblist.NewKeeper(config, nil).Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("with all lists", 1, len(want))
	checked, err := joblist.Check(t.Context(), config)
	if err != nil || len(checked.Wrong)+len(checked.Notes) > 0 || checked.Rows < len(want) {
		t.Errorf("the lists have %d rows (%v): %v %v", checked.Rows, err, checked.Wrong, checked.Notes)
	}
	lists, err := filepath.Glob(filepath.Join(config.Dir, "*.jobs"))
	if err != nil || len(lists) < 3 {
		t.Fatal(lists, err)
	}
	for i, path := range lists {
		if i%2 == 0 {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	check("with every other list", 1)
}

var errRead = errors.New("the disk does not answer")

// failing is a log whose n-th read fails.
type failing struct {
	store.Reader
	n, reads int
	with     error
	where    events.Sequence // of the record that could not be read; 0 for none
	places   map[string]int  // the first read that is made from each place of the product
}

// place is the calls of the product that led to a read.
func place() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	var calls []string
	for {
		frame, more := frames.Next()
		if strings.Contains(frame.Function, "/internal/joblist.") && !strings.HasSuffix(frame.File, "_test.go") {
			calls = append(calls, fmt.Sprintf("%s:%d", frame.Function, frame.Line))
		}
		if !more || len(calls) == 3 {
			return strings.Join(calls, " < ")
		}
	}
}

func (f *failing) records(all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		f.reads++
		if where := place(); f.places[where] == 0 && f.places != nil {
			f.places[where] = f.reads
		}
		fails := f.reads == f.n
		for r, err := range all {
			if fails {
				f.where = r.Sequence
				err := f.with
				if errors.Is(err, store.ErrCorrupt) {
					err = &store.CorruptError{Path: "x", At: r.Sequence}
				}
				yield(events.Record{}, err)
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (f *failing) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return f.records(f.Reader.Read(ctx, from))
}

func (f *failing) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, d store.Direction) iter.Seq2[events.Record, error] {
	return f.records(f.Reader.ReadStream(ctx, s, from, d))
}

// TestAReadThatFailsIsTold: whichever read of a page, of a list in the making or of a comparison fails, the error is that of the read, and nothing
// wrong is kept; the next try is right. Damage is told beside what can be read.
func TestAReadThatFailsIsTold(t *testing.T) {
	config, crons, jobs := hardCrons(t)
	tried := map[string]int{}
	for name, ask := range map[string]func(c joblist.Config) error{
		"jobs": func(c joblist.Config) error {
			page, err := joblist.New(c).Page(t.Context(), history.ListQuery{})
			if err == nil {
				same(t, "a page without an error", jobs, page.Jobs)
			}
			return err
		},
		"one": func(c joblist.Config) error {
			page, err := joblist.New(c).Page(t.Context(), history.ListQuery{UID: jobs[len(jobs)-2].UID})
			if err == nil {
				same(t, "one Job without an error", jobs[len(jobs)-2:len(jobs)-1], page.Jobs)
			}
			return err
		},
		"cronjobs": func(c joblist.Config) error {
			page, err := joblist.New(c).CronJobs(t.Context(), history.CronListQuery{})
			if d := cmp.Diff(crons, page.CronJobs); err == nil && d != "" {
				t.Fatalf("CronJobs without an error (-whole +page):\n%.2000s", d)
			}
			return err
		},
		"keeper": func(c joblist.Config) error {
			c.Dir = t.TempDir()
			err := joblist.NewKeeper(c, nil).Finish(t.Context())
			if f, ok := c.Log.(*failing); ok {
				c.Log = f.Reader
			}
			if err := joblist.NewKeeper(c, nil).Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			page, unread := joblist.New(c).Page(t.Context(), history.ListQuery{})
			if unread != nil {
				t.Fatal(unread)
			}
			same(t, "the lists after a failure", jobs, page.Jobs)
			return err
		},
	} {
		whole := &failing{Reader: config.Log, places: map[string]int{}}
		c := config
		c.Log = whole
		if err := ask(c); err != nil {
			t.Fatal(name, err)
		}
		for place, n := range whole.places {
			for _, with := range []error{errRead, store.ErrCorrupt} {
				if name == "keeper" && with == store.ErrCorrupt { //nolint:errorlint // it is that one
					continue // what a list lacks beside damage is another question
				}
				f := &failing{Reader: config.Log, n: n, with: with}
				c.Log = f
				err := ask(c)
				tried[name]++
				if f.where != 0 && !errors.Is(err, with) {
					t.Errorf("%s: the read of %s fails at record %d with %v, and the error is %v", name, place, f.where, with, err)
				}
				if f.where == 0 && err != nil {
					t.Errorf("%s: nothing fails, and the error is %v", name, err)
				}
			}
		}
	}
	for _, name := range strings.Fields("jobs one cronjobs keeper") {
		if tried[name] < 2 {
			t.Errorf("%s: only %d reads failed", name, tried[name])
		}
	}
}
