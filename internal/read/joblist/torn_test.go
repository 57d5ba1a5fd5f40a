package joblist_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
)

// TestWhateverIsAskedOfADamagedList: pages of Jobs, of one Job and of CronJobs are right, a comparison names the list,
// and a Keeper that goes on from it, or finds it at its start, makes it anew.
func TestWhateverIsAskedOfADamagedList(t *testing.T) {
	config, crons, jobs := hardCrons(t)
	right := func(what string) {
		t.Helper()
		lists := joblist.New(config)
		all, _ := pages(t, lists, history.ListQuery{Limit: 9})
		same(t, what, jobs, all)
		for _, i := range []int{len(jobs) / 2} {
			page, err := lists.Page(t.Context(), history.ListQuery{UID: jobs[i].UID})
			if err != nil {
				t.Fatal(what, err)
			}
			same(t, what+", one Job", jobs[i:i+1], page.Jobs)
		}
		if d := cmp.Diff(crons, cronPages(t, lists, history.CronListQuery{CronJobsQuery: history.CronJobsQuery{Limit: 2}})); d != "" {
			t.Fatalf("%s (-whole fold +pages):\n%.2000s", what, d)
		}
	}
	for how, keep := range map[string]func() error{
		"lists that go on": func() error { return joblist.NewKeeper(config, nil).CatchUp(t.Context()) },
		"whole lists":      func() error { return joblist.NewKeeper(config, nil).Finish(t.Context()) },
	} {
		config.Dir = t.TempDir()
		if err := keep(); err != nil {
			t.Fatal(err)
		}
		lists, err := filepath.Glob(filepath.Join(config.Dir, "*.jobs"))
		if err != nil || len(lists) < 2 {
			t.Fatal(lists, err)
		}
		for i, path := range []string{lists[0], lists[len(lists)-1]} {
			sound, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for n := range 5 {
				bad := slices.Clone(sound)
				at := n * (len(bad) - 1) / 4
				bad[at] ^= 1 << n
				if err := os.WriteFile(path, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%s, byte %d of list %d damaged", how, at, i)
				right(what)
				checked, err := joblist.Check(t.Context(), config)
				if err != nil || len(checked.Notes) != 1 || len(checked.Wrong) > 0 {
					t.Errorf("%s: compared, %d are not used, %v are wrong, %v", what, len(checked.Notes), checked.Wrong, err)
				}
				if n%3 > 0 {
					continue
				}
				if err := joblist.NewKeeper(config, nil).Finish(t.Context()); err != nil {
					t.Fatal(what, err)
				}
				right(what + ", made again")
				if checked, err := joblist.Check(t.Context(), config); err != nil || len(checked.Notes)+len(checked.Wrong) > 0 {
					t.Errorf("%s, made again: %v %v, %v", what, checked.Notes, checked.Wrong, err)
				}
			}
			if err := os.WriteFile(path, sound, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
