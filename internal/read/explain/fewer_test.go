package explain_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestAnEditThatIsOverDeletesNoPod: of a Job that the built-in controller runs, and that was suspended and resumed, or
// scaled, a user deletes a pod later. An edit that no longer holds, or that the pods fit by then, is not why.
func TestAnEditThatIsOverDeletesNoPod(t *testing.T) {
	var src *recorded
	for _, dir := range logs(t) {
		if filepath.Base(dir) == "observed" {
			src = openRecorded(t, dir)
		}
	}
	for _, row := range []struct {
		job string
		try int // the one that is deleted instead of its success
	}{
		{"suspended/ingest", 2},
		{"suspended/ingest", 3},
		{"autoscaled/resize-images", 3}, // the one that was left when the others were deleted
		{"autoscaled/resize-images", 4},
		{"autoscaled/resize-images", 7},
	} {
		s := src.job(t, row.job)
		c, err := job.Read(t.Context(), src, s, history.Point{})
		if err != nil {
			t.Fatal(err)
		}
		one := c.Tries[row.try]
		other := *src
		other.records = slices.Clone(src.records)
		for i := range other.records {
			r := &other.records[i]
			if r.Stream != s || r.Evidence.Name != one.Pod || r.Sequence < one.Ended.Record {
				continue
			}
			pod(func(f *events.PodSeen, _ *events.Evidence) {
				f.Phase, f.Finished, f.Deleted = events.PodFailed, 0, one.Ended.At.Add(30*time.Second)
				f.DeletionGracePeriodSeconds = grace(30)
			})(r)
		}
		c, err = job.Read(t.Context(), &other, s, history.Point{Sequence: one.Ended.Record})
		if err != nil {
			t.Fatal(err)
		}
		keepJob(t, &other, s, history.Point{Sequence: one.Ended.Record})
		rows, _ := c.Attempts(false, 0, 100)
		if got := rows[row.try]; got.EndedBy != try.ByClient {
			t.Errorf("%s: %s was deleted by a user, and it says %q", row.job, got.Pod, got.EndedBy)
		}
	}
}
