package explain_test

import (
	"cmp"
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// recorded is a log as a slice of records, of which some may be taken away.
type recorded struct {
	history.Source // of the whole log: for what lists Jobs
	records        []events.Record
	without        map[events.Sequence]bool
}

// openRecorded reads a log whole. It is closed at the end of the test.
func openRecorded(t *testing.T, dir string) *recorded {
	t.Helper()
	log, err := open.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() }) // it was only read
	r := &recorded{Source: history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log, Files: store.FilesOf(log)})}}
	for rec, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		r.records = append(r.records, rec)
	}
	return r
}

func (r *recorded) ReadStream(_ context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for i := range r.records {
			rec := &r.records[i]
			if dir == store.Backward {
				rec = &r.records[len(r.records)-1-i]
				if from != 0 && rec.Sequence > from {
					continue
				}
			} else if rec.Sequence < from {
				continue
			}
			if rec.Stream == s && !r.without[rec.Sequence] && !yield(*rec, nil) {
				return
			}
		}
	}
}

// jobs are the streams of all Jobs of the log, in the order of their first records.
func (r *recorded) jobs() []events.Stream {
	var out []events.Stream
	known := map[events.Stream]bool{}
	for i := range r.records {
		if s := r.records[i].Stream; s.Kind == events.StreamJob && !known[s] {
			known[s] = true
			out = append(out, s)
		}
	}
	return out
}

// logs are copies of the recorded incidents, that of delegated Jobs first: opening a log may write beside it.
func logs(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("../../../examples/incidents/*/log")
	if err != nil || len(found) == 0 {
		t.Fatalf("no recorded incidents: %v", err)
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(ofCronJobs(a), ofCronJobs(b)) })
	var out []string
	for _, from := range found {
		to := filepath.Join(t.TempDir(), filepath.Base(filepath.Dir(from)))
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		out = append(out, to)
	}
	return out
}

// generated are copies of the logs of generated situations.
func generated(t *testing.T) (out []string) {
	t.Helper()
	for _, mode := range []string{"run", "observe"} {
		dir := filepath.Join(t.TempDir(), "generated-"+mode)
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "..", "test", "incidents", "testdata", "generated", mode, "log"))); err != nil {
			t.Fatal(err)
		}
		out = append(out, dir)
	}
	return out
}

// ofCronJobs is 1 for a log of CronJobs alone, and else 0.
func ofCronJobs(log string) int {
	return strings.Count(log, "/cronjobs-")
}
