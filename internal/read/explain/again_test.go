package explain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestAPodThatIsSeenAgainAfterTheEnd: the watch shows an older version of a pod after the account of its Job was
// closed, and then that it is gone. What the Job came to stays known.
func TestAPodThatIsSeenAgainAfterTheEnd(t *testing.T) {
	src := observed(t)
	for _, dir := range logs(t) {
		if strings.HasSuffix(dir, "delegated") {
			src = openRecorded(t, dir)
		}
	}
	s := src.job(t, "failure-policy/schema-migrate")
	whole, err := job.Read(t.Context(), src, s, history.Point{})
	if err != nil {
		t.Fatal(err)
	}
	var pod *events.PodSeen
	retired := events.Sequence(0)
	var late []*events.Record // of other Jobs, behind its end
	src.records = slices.Clone(src.records)
	src.without = map[events.Sequence]bool{}
	for i := range src.records {
		r := &src.records[i]
		if f, ok := r.Facts.(*events.PodSeen); ok && r.Stream == s {
			pod = f
		}
		if r.Stream == s && r.Kind == events.KindJobRetired {
			retired = r.Sequence
		}
		src.without[r.Sequence] = r.Stream == s && retired != 0 && r.Sequence > retired // its deletion
		if retired != 0 && r.Stream != s && r.Stream.Kind == events.StreamJob && len(late) < 2 {
			late = append(late, r)
		}
	}
	again := *pod
	again.Tracked = true
	late[0].Stream, late[0].Kind, late[0].Facts = s, events.KindPodAdded, &again
	late[1].Stream, late[1].Kind, late[1].Facts = s, events.KindPodDeleted, &events.PodGone{UID: pod.UID, Version: pod.Version + 1}
	for _, at := range []events.Sequence{retired, late[0].Sequence, late[1].Sequence, 0} {
		c, err := job.Read(t.Context(), src, s, history.Point{Sequence: at})
		if err != nil {
			t.Fatal(err)
		}
		if a := c.Answer(); a.State != "Failed" || a.Verdict.Text != whole.Answer().Verdict.Text {
			t.Errorf("as of %d: %s: %s", at, a.State, a.Verdict.Text)
		}
	}
}
