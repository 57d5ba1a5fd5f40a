package explain_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestWhoSuspendedAJob: of a recorded Job that a user suspended the verdict says who that was, and in which queue of
// Kueue it is if it is in one. Of one that was never resumed, as a queue holds them from the beginning, it says since
// when.
func TestWhoSuspendedAJob(t *testing.T) {
	var src *recorded
	for _, dir := range logs(t) {
		if filepath.Base(dir) == "delegated" {
			src = openRecorded(t, dir)
		}
	}
	s := src.job(t, "suspended/ingest")
	whole, err := job.Read(t.Context(), src, s, history.Point{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(src.records, func(r events.Record) bool {
		return r.Stream == s && r.Evidence.Edit != nil && r.Evidence.Edit.Manager == "kubectl-patch"
	})
	if i < 0 || !strings.HasPrefix(whole.Answer().Verdict.Text, "COMPLETE") {
		t.Fatalf("nobody suspended the Job: %s", whole.Answer().Verdict.Text)
	}
	in := func(queue string) func(*events.Record) {
		return func(r *events.Record) {
			if r.Kind == events.KindJobAdded {
				r.Evidence.Origin = &events.Origin{Labels: []events.ObjectLabel{{Name: "app", Value: "any"}, {Name: "kueue.x-k8s.io/queue-name", Value: queue}}}
			}
		}
	}
	held := spec(func(s *events.JobSpec) { s.Suspend = true })
	for _, row := range []struct {
		name   string
		change func(*events.Record)
		want   string
	}{
		{"by a user", func(*events.Record) {}, ", by kubectl-patch"},
		{"in a queue", in("team-a"), ", by kubectl-patch; it is in the queue team-a of Kueue"},
		{"from the beginning", held, ", since it was created, and never resumed"},
		{"from the beginning, in a queue", func(r *events.Record) {
			held(r)
			in("team-a")(r)
		}, ", since it was created, and never resumed; it is in the queue team-a of Kueue"},
	} {
		t.Run(row.name, func(t *testing.T) {
			other := *src
			other.records = slices.Clone(src.records)
			for i := range other.records {
				if other.records[i].Stream == s {
					row.change(&other.records[i])
				}
			}
			later := history.Point{Time: src.records[i].Time.Add(3 * time.Second)}
			c, err := job.Read(t.Context(), &other, s, later)
			if err != nil {
				t.Fatal(err)
			}
			keepJob(t, &other, s, later)
			if got := c.Answer().Verdict.Text; !strings.HasPrefix(got, "SUSPENDED for ") || !strings.HasSuffix(got, row.want) {
				t.Errorf("it says %q, want that it ends with %q", got, row.want)
			}
		})
	}
}
