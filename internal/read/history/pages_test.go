package history_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
)

// TestPagesOfEachSizeAreTheWhole: pages of two and of seven have together what one page has, wherever the log
// begins. Jobs whose first records are pruned come last, and their pages go on too.
func TestPagesOfEachSizeAreTheWhole(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	all := filesOf(t, log)
	past := 0
	for _, kept := range []int{0, len(all) / 2} {
		files := all[kept:]
		pruned := historytest.Pruned{Reader: log, First: files[0].First}
		for _, dir := range []string{"", t.TempDir()} {
			config := joblist.Config{Log: pruned, Files: func() ([]store.File, error) { return files, nil }, Dir: dir, Every: 60}
			if dir != "" {
				if err := joblist.NewKeeper(config, nil).Finish(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			src := history.Local{Log: pruned, Lists: joblist.New(config)}
			for _, name := range []string{"", "cron-1"} {
				whole, err := src.Jobs(t.Context(), history.JobsQuery{Name: name})
				if err != nil || whole.Continue != "" || (whole.PrunedBefore != nil) != (kept > 0) {
					t.Fatal(whole.Continue, whole.PrunedBefore, err)
				}
				for _, size := range []int{2, 7} {
					var got []history.Summary
					for q := (history.JobsQuery{Limit: size, Name: name}); ; {
						page, err := src.Jobs(t.Context(), q)
						if err != nil || len(page.Items) > size || page.Continue != "" && len(page.Items) < size {
							t.Fatalf("a page of %d, and the next is %q: %v", len(page.Items), page.Continue, err)
						}
						if got = append(got, page.Items...); page.Continue == "" {
							break
						}
						if q.Continue = page.Continue; strings.HasPrefix(q.Continue, "past/") {
							past++
						}
					}
					same(t, fmt.Sprintf("Jobs from file %d on, in pages of %d", kept, size), whole.Items, got)
				}
			}
			crons, err := src.CronJobs(t.Context(), history.CronJobsQuery{})
			if err != nil || crons.Continue != "" || (crons.PrunedBefore != nil) != (kept > 0) {
				t.Fatal(crons.Continue, crons.PrunedBefore, err)
			}
			for _, size := range []int{2, 7} {
				var got []history.CronSummary
				for q := (history.CronJobsQuery{Limit: size}); ; {
					page, err := src.CronJobs(t.Context(), q)
					if err != nil || len(page.Items) > size {
						t.Fatalf("a page of %d: %v", len(page.Items), err)
					}
					if got = append(got, page.Items...); page.Continue == "" {
						break
					}
					q.Continue = page.Continue
				}
				same(t, fmt.Sprintf("CronJobs from file %d on, in pages of %d", kept, size), crons.Items, slices.Clip(got))
			}
		}
	}
	if past == 0 {
		t.Error("no page ended among Jobs whose first records are pruned")
	}
}
