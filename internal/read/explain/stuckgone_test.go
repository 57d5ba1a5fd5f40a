package explain_test

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
)

// TestWhatWasStuckUntilItWasDeleted: a Job that was stuck beyond its bound, or was failing, and was deleted in the time
// that is asked for stands in the list of trouble, whether the list ends with a time or not. What was deleted before it
// could be called stuck does not.
func TestWhatWasStuckUntilItWasDeleted(t *testing.T) {
	unschedulable := func(j *sceneJob) *scenePod {
		return j.pod("09:00:02", "x1", waits("Unschedulable", "", "0/1 nodes are available: 1 Insufficient cpu."))
	}
	for name, row := range map[string]struct {
		play  func(l *scene, j *sceneJob)
		since string
		says  []string // none for no trouble
	}{
		"unschedulable": {func(_ *scene, j *sceneJob) {
			unschedulable(j)
			j.gone("09:10:00")
		}, "", []string{
			"stuck for 9m58s: x1: cannot be scheduled; then deleted after 10m by an API client",
		}},
		"an image that is not there": {func(_ *scene, j *sceneJob) {
			j.pod("09:00:02", "x1", waits("ImagePullBackOff", "main", "not found"))
			j.gone("09:10:00")
		}, "", []string{"stuck for 9m58s: x1: the image cannot be pulled (ImagePullBackOff)"}},
		"its pods went with it": {func(_ *scene, j *sceneJob) {
			p := unschedulable(j)
			j.gone("09:10:00")
			p.deleted("09:10:01", 0)
			p.gone("09:10:02")
		}, "", []string{"stuck for 9m58s: x1: cannot be scheduled"}},
		"it is being deleted": {func(_ *scene, j *sceneJob) {
			p := unschedulable(j)
			j.seen.Deleted = cronClock("09:10:00")
			j.see("09:10:00", events.KindJobChanged)
			p.gone("09:10:01")
		}, "", []string{"stuck for 9m58s: x1: cannot be scheduled; then being deleted"}},
		"sooner than anybody waits": {func(_ *scene, j *sceneJob) {
			unschedulable(j)
			j.gone("09:00:30")
		}, "", nil},
		"its pod ran": {func(_ *scene, j *sceneJob) {
			unschedulable(j).runs("09:05:00", "node-1")
			j.gone("09:10:00")
		}, "", nil},
		"deleted before that": {func(l *scene, j *sceneJob) {
			unschedulable(j)
			j.gone("09:10:00")
			l.node("09:30:00", "node-1", func(*events.NodeSeen) {})
		}, "09:20:00", nil},
		"deleted after that": {func(l *scene, j *sceneJob) {
			unschedulable(j)
			j.gone("09:10:00")
			l.node("09:30:00", "node-1", func(*events.NodeSeen) {})
		}, "09:09:00", []string{"stuck for 9m58s"}},
		"nobody watched": {func(l *scene, j *sceneJob) {
			unschedulable(j)
			l.unwatched("09:05:00", "09:10:00", func() {
				l.tell("09:10:00", j.of, events.KindJobDeleted, &events.JobGone{Version: 900, Missed: true}, j.e)
			})
		}, "", []string{"stuck for 4m58s: x1: cannot be scheduled; then deleted, found gone 09:10:00: "}},
	} {
		for mode, ours := range map[string]bool{"ours": true, "observed": false} {
			t.Run(name+", "+mode, func(t *testing.T) {
				l := newScene(t, ours)
				j := l.job("09:00:00", "etl", "{}", nil)
				j.starts("09:00:01")
				row.play(l, j)
				q := failures.Query{}
				if row.since != "" {
					q.Since = cronClock(row.since)
				}
				src := l.source()
				for _, until := range []events.Time{0, l.newest} {
					q.Until = until
					f, err := failures.Find(t.Context(), src, q)
					if err != nil {
						t.Fatal(err)
					}
					if (len(f.Items) > 0) != (row.says != nil) {
						t.Fatalf("the list has %+v", f.Items)
					}
					for _, x := range f.Items {
						for _, want := range row.says {
							if x.Sort != failures.SortDeleted || !strings.Contains(x.Why, want) {
								t.Errorf("%s: %q, want %s: %q", x.Sort, x.Why, failures.SortDeleted, want)
							}
						}
					}
				}
				l.judged()
			})
		}
	}
}
