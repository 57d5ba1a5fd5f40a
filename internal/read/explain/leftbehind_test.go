package explain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestAPodWhoseEndIsNotRecorded: a Job is deleted while its pod is there, and the log ends with that, as do those of a
// controller that ended then. Garbage collection takes the pod, and the answer says that the record of its end is
// missing. Only of a Job that was seen to be deleted first it is not certain: it may have been deleted with its pods
// orphaned.
func TestAPodWhoseEndIsNotRecorded(t *testing.T) {
	for _, name := range []string{"unschedulable/gpu-train", "image-pull/badimage"} {
		t.Run(name, func(t *testing.T) {
			src := observed(t)
			s := src.job(t, name)
			src.without = map[events.Sequence]bool{}
			gone := events.Sequence(0)
			for i := range src.records {
				r := &src.records[i]
				if r.Stream == s && gone != 0 {
					src.without[r.Sequence] = true
				}
				if r.Stream == s && r.Kind == events.KindJobDeleted {
					gone = r.Sequence
				}
			}
			by, text := ended(t, src, s)
			const want = "the Job was deleted, so garbage collection takes it; missing: the record of its end"
			if by != try.ByJobDeleted || !strings.Contains(text, want) {
				t.Errorf("it was ended by %q: %s", by, text)
			}
			src.records = slices.Clone(src.records)
			for i := range src.records {
				r := &src.records[i]
				if f, ok := r.Facts.(*events.JobSeen); ok && r.Stream == s && r.Kind == events.KindJobChanged {
					seen := *f
					seen.Deleted = r.Time // such a Job waits until its pods are orphaned
					r.Facts = &seen
				}
			}
			if by, text := ended(t, src, s); by != try.ByUnknown || !strings.Contains(text, "unless they were orphaned") {
				t.Errorf("of a Job that was seen to be deleted first: it was ended by %q: %s", by, text)
			}
		})
	}
}

// ended is who ended the only try of a Job, and what the answer says of its pods.
func ended(t *testing.T, src history.Source, s events.Stream) (try.By, string) {
	t.Helper()
	c, err := job.Read(t.Context(), src, s, history.Point{})
	if err != nil {
		t.Fatal(err)
	}
	keepJob(t, src, s, history.Point{})
	rows, _ := c.Attempts(false, 0, 0)
	if len(rows) != 1 {
		t.Fatalf("the Job has %d tries", len(rows))
	}
	a := c.Answer()
	var said []string
	for _, section := range a.Sections {
		for _, x := range section.Sentences {
			said = append(said, section.Head+" "+x.Text)
		}
	}
	return rows[0].EndedBy, strings.Join(said, "\n")
}
