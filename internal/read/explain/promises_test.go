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

// TestTheNextTryIsNotPromisedTooLate: as of the record that counted a failure, attempts says when the next try may come.
// In the recorded incidents it came no earlier, but where a success ended the backoff of all. Each index of a Job with a
// limit per index has a backoff of its own, which others' failures do not prolong and others' successes do not end.
func TestTheNextTryIsNotPromisedTooLate(t *testing.T) {
	promised := 0
	for _, dir := range append(logs(t), generated(t)...) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			src := openRecorded(t, dir)
			jobs, _ := streams(src.records, events.StreamJob, 1)
			for _, s := range jobs {
				whole, err := job.Read(t.Context(), src, s, history.Point{})
				if err != nil {
					t.Fatal(err)
				}
				for _, try := range whole.Tries {
					came := nextOf(whole, try)
					perIndex := whole.Spec.BackoffLimitPerIndex != nil
					if try.Again == 0 || came == 0 || !perIndex && succeededBetween(whole, try.CountAt.At, came) {
						continue
					}
					before, err := job.Read(t.Context(), src, s, history.Point{Sequence: try.CountAt.Record})
					if err != nil {
						t.Fatal(err)
					}
					rows, _ := before.Attempts(false, 0, 0)
					for i := range rows {
						if rows[i].UID != string(try.UID) || rows[i].Next == 0 {
							continue
						}
						promised++
						next := events.Time(rows[i].Next)
						if next.Sub(came) > time.Second { // the built-in counts from another second
							t.Errorf("%s %s: as of record %d the next try comes after %v; it came at %v",
								whole.Job.Name, rows[i].Pod, try.CountAt.Record, next.Go(), came.Go())
						}
					}
				}
			}
		})
	}
	if t.Logf("%d promises", promised); promised < 25 {
		t.Errorf("%d promises: this tests little", promised)
	}
}

// nextOf is when the next try of the same index was first seen, after one had been counted; 0 for none.
func nextOf(c *job.Case, t *try.Try) (at events.Time) {
	for _, x := range c.Tries {
		if x != t && x.Index == t.Index && x.Seen.Record > t.CountAt.Record && (at == 0 || x.Seen.At < at) {
			at = x.Seen.At
		}
	}
	return at
}

func succeededBetween(c *job.Case, from, to events.Time) bool {
	return slices.ContainsFunc(c.Tries, func(t *try.Try) bool {
		return t.Phase == events.PodSucceeded && t.Ended.At >= from && t.Ended.At <= to
	})
}
