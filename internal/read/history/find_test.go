package history_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
)

// TestEveryPodLeadsToItsJob: each pod that a record of a Job names is found by its name, and no other name is.
func TestEveryPodLeadsToItsJob(t *testing.T) {
	log := historytest.Hard(t, 3)
	src := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}
	pods := map[string]events.Stream{}
	for _, r := range historytest.Records(t, log) {
		if _, is := r.Facts.(*events.PodSeen); is && r.Stream.Kind == events.StreamJob {
			pods[r.Evidence.Name] = r.Stream
		}
	}
	if len(pods) < 15 {
		t.Fatalf("only %d pods", len(pods))
	}
	for pod, want := range pods {
		if got, ok, err := history.JobOfPod(t.Context(), src, "default", pod); got != want || !ok || err != nil {
			t.Errorf("%s: %s, %t, %v, want %s", pod, got, ok, err, want)
		}
		for _, other := range []string{pod + "x", pod[:len(pod)-1], "no-" + pod} {
			if s, ok, err := history.JobOfPod(t.Context(), src, "default", other); ok || err != nil {
				t.Errorf("%s: %s, %v, want none", other, s, err)
			}
		}
		if s, ok, err := history.JobOfPod(t.Context(), src, "elsewhere", pod); ok || err != nil {
			t.Errorf("%s elsewhere: %s, %v, want none", pod, s, err)
		}
	}
}
