package joblist_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
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

// hardCrons is the log of CronJobs and their Jobs, in files, and what a fold of the whole of it says of them, the
// newest first.
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

// TestPagesOfCronJobsAreWhatAFoldOfTheWholeLogGives: however far the lists have come, whichever of them are missing,
// and whatever is asked.
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

// TestCronJobsOfAPrunedLog: wherever the log begins, and whenever its lists were made, the pages are the same. A
// CronJob whose first record is no longer kept comes behind all others, by its creation, and is what the whole log says
// but for that record.
func TestCronJobsOfAPrunedLog(t *testing.T) {
	config, whole, _ := hardCrons(t)
	all, err := config.Files()
	if err != nil {
		t.Fatal(err)
	}
	before := config.Dir
	if err := joblist.NewKeeper(config, nil).Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	past := 0
	for k := 1; k < len(all); k++ {
		c := config
		c.Log, c.Files = historytest.Pruned{Reader: config.Log, First: all[k].First}, func() ([]store.File, error) { return all[k:], nil }
		var want []history.CronSummary
		for _, dir := range []string{"", before, t.TempDir()} {
			if c.Dir = dir; dir != "" && dir != before {
				if err := joblist.NewKeeper(c, nil).Finish(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, limit := range []int{0, 1} {
				got := cronPages(t, joblist.New(c), history.CronListQuery{CronJobsQuery: history.CronJobsQuery{Limit: limit}})
				if want == nil {
					want = got
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("from file %d on, lists in %q, pages of %d:\n%.2000s", k, dir, limit, d)
				}
			}
		}
		for i, s := range want {
			j := slices.IndexFunc(whole, func(o history.CronSummary) bool { return o.UID == s.UID })
			if w := whole[j]; w.State != s.State || w.Last != s.Last || w.LastRun != s.LastRun || (s.First == 0) != (w.First < uint64(all[k].First)) || s.First != 0 && s.First != w.First {
				t.Errorf("from file %d on, %s is %s since %d, want %s since %d", k, s.Name, s.State, s.First, w.State, w.First)
			}
			if s.First == 0 {
				past++
			} else if i > 0 && want[i-1].First == 0 {
				t.Errorf("from file %d on, %s comes behind one whose first record is not kept", k, s.Name)
			}
			if i > 0 && s.First == 0 && want[i-1].First == 0 && want[i-1].Created < s.Created {
				t.Errorf("from file %d on, %s comes behind an older one", k, s.Name)
			}
		}
	}
	if past < 3 {
		t.Errorf("only %d CronJobs had begun before", past)
	}
}
