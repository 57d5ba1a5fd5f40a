package explain_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestFailuresUntilATimeAreToldAsOfThen: a list of trouble that ends with a time names as stuck and as failed what
// explain says to be so at that time, of Jobs and of CronJobs, whatever came of them later. So is each recorded
// incident asked about, at moments of all its time.
func TestFailuresUntilATimeAreToldAsOfThen(t *testing.T) {
	const moments = 9
	stuck, later, crons := 0, 0, 0
	for _, dir := range logs(t) {
		src := openRecorded(t, dir)
		first, last := src.records[0].Time, src.records[len(src.records)-1].Time
		now := troubleAt(t, src, last)
		for i := range moments {
			at := first.Add(last.Sub(first) * time.Duration(2*i+1) / (2 * moments))
			want := troubleAt(t, src, at)
			f, err := failures.Find(t.Context(), src, failures.Query{Until: at})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, x := range f.Items {
				if x.Kind == "Job" {
					got[x.Kind+" "+x.UID] = x.Sort
					continue
				}
				crons++
				c, err := cron.Read(t.Context(), src, events.CronJobStream(types.UID(x.UID)), history.Point{Time: at})
				if err != nil {
					t.Fatalf("%s until %s: CronJob %s: %v", dir, at.Go(), x.Name, err)
				}
				if says := c.Answer().Verdict.Text; says != x.Why {
					t.Errorf("%s until %s: CronJob %s: %q, and explain says at that time %q", dir, at.Go(), x.Name, x.Why, says)
				}
			}
			for _, id := range slices.Sorted(maps.Keys(want)) {
				if got[id] != want[id] {
					t.Errorf("%s until %s: %s is %q, and explain says at that time %q", dir, at.Go(), id, got[id], want[id])
				}
				if want[id] == failures.SortStuck {
					if stuck++; now[id] != failures.SortStuck {
						later++
					}
				}
			}
			for id, sort := range got {
				if want[id] == "" {
					t.Errorf("%s until %s: %s is %s, and explain says nothing of that at that time", dir, at.Go(), id, sort)
				}
			}
		}
	}
	if crons == 0 {
		t.Error("no CronJob was in trouble at any of the moments")
	}
	if t.Logf("%d stuck, of which %d are not at the end", stuck, later); later == 0 {
		t.Error("nothing that was stuck got on later: the incidents do not tell the two apart")
	}
}

// troubleAt is what explain says of each Job that had begun by a time.
func troubleAt(t *testing.T, src *recorded, at events.Time) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, s := range src.jobs() {
		c, err := job.Read(t.Context(), src, s, history.Point{Time: at})
		if c == nil {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		switch v := c.Answer().Verdict.Text; {
		case strings.Contains(v, "STUCK for"):
			out[fmt.Sprint("Job ", s.ID)] = failures.SortStuck
		case strings.HasPrefix(v, "FAILED"), strings.HasPrefix(v, "FAILING"):
			out[fmt.Sprint("Job ", s.ID)] = failures.SortFailed
		case strings.Contains(v, "DELETED after"):
			if goneAfter(t, src, s, at) {
				out[fmt.Sprint("Job ", s.ID)] = failures.SortDeleted
			}
		}
	}
	return out
}

// goneAfter reports whether explain says of a Job, as of the moment before the record that showed its deletion, that it
// had been stuck for long, or that it failed.
func goneAfter(t *testing.T, src *recorded, s events.Stream, at events.Time) bool {
	t.Helper()
	for i := range src.records {
		r := &src.records[i]
		f, seen := r.Facts.(*events.JobSeen)
		if _, gone := r.Facts.(*events.JobGone); r.Stream != s || r.Time > at || !gone && (!seen || f.Deleted == 0) {
			continue
		}
		c, err := job.Read(t.Context(), src, s, history.Point{Time: r.Time - 1})
		if err != nil {
			t.Fatal(err)
		}
		v := c.Answer().Verdict.Text
		_, rest, stuck := strings.Cut(v, "STUCK for ")
		span, _, _ := strings.Cut(rest, ":")
		long, _ := time.ParseDuration(span)
		return stuck && long >= 30*time.Second || strings.HasPrefix(v, "FAILING")
	}
	return false
}
