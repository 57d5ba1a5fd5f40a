package history_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestAJobDoesNotRunByAPodThatIsGone: a pod under deletion counts as failed while it still runs, and its object goes
// while the write of the status that counts it is in flight. The projection keeps the pod, in its last phase, until
// the write has ended. The Job waits for its new pod meanwhile.
func TestAJobDoesNotRunByAPodThatIsGone(t *testing.T) {
	at := func(n int) events.Time { return events.At(time.Date(2026, 3, 2, 9, n, 0, 0, time.UTC)) }
	of := events.JobStream("uid-demo")
	fold, n := history.NewFold(), events.Sequence(0)
	tell := func(s events.Stream, kind events.Kind, f events.Facts) {
		n++
		fold.Apply(&events.Record{
			Header: events.Header{Sequence: n, Time: at(int(n)), Stream: s, Kind: kind, Last: true}, Facts: f,
			Evidence: events.Evidence{Namespace: "batch", Name: "demo"},
		})
	}
	state := func(when string, want history.State) {
		t.Helper()
		a := fold.Account(of)
		if got := history.JobOf(fold, a, n, at(int(n))).State; got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
		if got := history.SummaryOf(a).State; got != want {
			t.Errorf("%s, in brief: %s, want %s", when, got, want)
		}
	}
	spec := &events.JobSpec{Hash: "h", Parallelism: new(int32(1)), Completions: new(int32(1)), BackoffLimit: new(int32(6)), RestartPolicy: "Never"}
	tell(of, events.KindSpecStored, spec)
	tell(of, events.KindJobAdded, &events.JobSeen{
		Version: 1, Generation: 1, Created: at(1), Managed: true, Spec: "h", SpecAt: 1, Status: &events.JobStatus{StartTime: at(1), HasUncounted: true},
	})
	old := events.PodSeen{
		UID: "old", Version: 2, Owner: "uid-demo", Created: at(2), Phase: events.PodRunning, Scheduled: true, Ready: true, Tracked: true, Selected: true, Index: events.NoIndex,
	}
	tell(of, events.KindPodAdded, &old)
	state("its pod runs", history.StateRunning)
	leaving := old
	leaving.Version, leaving.Ready, leaving.Deleted = 3, false, at(4)
	tell(of, events.KindPodChanged, &leaving)
	state("its pod stops", history.StateRunning)
	tell(of, events.KindPodAdded, &events.PodSeen{
		UID: "new", Version: 4, Owner: "uid-demo", Created: at(5), Phase: events.PodPending, Tracked: true, Selected: true, Index: events.NoIndex,
	})
	tell(of, events.KindDecided, &events.Decision{Steps: []events.Step{{Commands: []events.Command{
		&events.WriteStatus{Base: 1, Change: events.StatusChange{AddFailed: []types.UID{"old"}}},
	}}}})
	state("its status is being written", history.StateRunning)
	tell(of, events.KindPodDeleted, &events.PodGone{UID: "old", Version: 5})
	state("its pod is gone", history.StateWaiting)
}
