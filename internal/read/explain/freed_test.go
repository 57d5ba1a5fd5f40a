package explain_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// TestWhatFreedOthers: a Job is stuck, and the answer says how others fared that waited for the same: what freed them
// may free it. hotfix waits for room until pods of lower priority make it; here its record says so in the scheduler's
// word.
func TestWhatFreedOthers(t *testing.T) {
	var src *recorded
	for _, dir := range logs(t) {
		if strings.HasSuffix(dir, "delegated") {
			src = openRecorded(t, dir)
		}
	}
	stuck, hotfix, quota := src.job(t, "unschedulable/gpu-train"), src.job(t, "preempted/hotfix"), src.job(t, "quota/invoice")
	var unschedulable, refused events.Time
	var says string
	for i := range src.records {
		switch r := &src.records[i]; f := r.Facts.(type) {
		case *events.PodSeen:
			if r.Stream == stuck && f.Waiting == "Unschedulable" && unschedulable == 0 {
				unschedulable, says = r.Time, words.WaitMessage(f, &r.Evidence)
			}
		case *events.CommandEnded:
			if r.Stream == quota && f.Class == events.RefusedQuota && refused == 0 {
				refused = r.Time
			}
		}
	}
	waits := func(until bool, says string) func(*events.Record) {
		return func(r *events.Record) {
			if f, ok := r.Facts.(*events.PodSeen); ok && r.Stream == hotfix && (!until || r.Kind == events.KindPodAdded) {
				seen := *f
				seen.Waiting = "Unschedulable"
				r.Facts = &seen
				r.Evidence.Conditions = []events.ConditionText{{Type: "PodScheduled", Status: "False", Reason: "Unschedulable", Message: says}}
			}
		}
	}
	hour := func(r *events.Record) {
		if r.Stream == hotfix {
			waits(true, says)(r)
			r.Time = r.Time.Add(-2 * time.Hour)
		}
	}
	for _, row := range []struct {
		name   string
		of     events.Stream
		at     events.Time
		change func(*events.Record)
		says   string // how the sentence begins; empty for none
	}{
		{
			"one that found room", stuck, unschedulable.Add(2 * time.Second), waits(true, says),
			"1 other Job waited for the same in the hour before, 1 went on: last preempted/hotfix at ",
		},
		{"one that did not", stuck, unschedulable.Add(2 * time.Second), waits(false, says), "1 other Job waited for the same in the hour before, and none went on"},
		{"one that waited for something else", stuck, unschedulable.Add(2 * time.Second), waits(true, "0/5 nodes are available: 5 Insufficient cpu."), ""},
		{"of a Job that has ended nothing is said", hotfix, 0, nil, ""},
		{"two hours ago", stuck, unschedulable.Add(2 * time.Second), hour, ""},
		{"as recorded, nobody else waited", stuck, unschedulable.Add(2 * time.Second), nil, ""},
		{"a quota holds in its namespace alone", quota, refused.Add(2 * time.Second), func(r *events.Record) {
			if f, ok := r.Facts.(*events.CommandEnded); ok && r.Stream != quota && f.Class != 0 {
				ended := *f
				ended.Class = events.RefusedQuota
				r.Facts = &ended
			}
		}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			other := *src
			other.records = slices.Clone(src.records)
			for i := range other.records {
				if row.change != nil {
					row.change(&other.records[i])
				}
			}
			keepJob(t, &other, row.of, history.Point{Time: row.at})
			c, err := job.Read(t.Context(), &other, row.of, history.Point{Time: row.at})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Compare(t.Context()); err != nil {
				t.Fatal(err)
			}
			a := c.Answer()
			var said []string
			for _, x := range all(&a) {
				if strings.Contains(x.Text, "in the hour before") {
					said = append(said, x.Text)
					if len(x.Records) == 0 {
						t.Errorf("%q names no record", x.Text)
					}
				}
			}
			if got := strings.Join(said, "; "); !strings.HasPrefix(got, row.says) || row.says == "" && got != "" {
				t.Errorf("the answer says %q, want %q", got, row.says)
			}
		})
	}
}
