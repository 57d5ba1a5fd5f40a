package words

import (
	"iter"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestExitsAreTold: what made a pod end, and what its containers ended with before they ran again.
func TestExitsAreTold(t *testing.T) {
	oom := []events.ContainerEnd{{Name: "main", ExitCode: 137, Reason: "OOMKilled"}}
	for want, r := range map[string]events.Record{
		"Failed, main exit 137 (OOMKilled)": {
			Facts:    &events.PodSeen{Phase: events.PodFailed, Exits: []events.ContainerExit{{Name: "main", Code: 137}}},
			Evidence: events.Evidence{Containers: oom},
		},
		"Failed, main exit 3": {
			Facts:    &events.PodSeen{Phase: events.PodFailed, Exits: []events.ContainerExit{{Name: "main", Code: 3}}},
			Evidence: events.Evidence{Containers: []events.ContainerEnd{{Name: "main", ExitCode: 3, Reason: "Error"}}},
		},
		"Running, restarted 4 times, main exit 137 (OOMKilled) before": {
			Facts: &events.PodSeen{Phase: events.PodRunning, Restarts: 4}, Evidence: events.Evidence{Containers: oom},
		},
		"Succeeded, restarted once": {
			Facts:    &events.PodSeen{Phase: events.PodSucceeded, Restarts: 1},
			Evidence: events.Evidence{Containers: []events.ContainerEnd{{Name: "main", Reason: "Completed"}}},
		},
	} {
		f := r.Facts.(*events.PodSeen)
		f.Index, f.Tracked = events.NoIndex, true
		var names Names
		r.Header = events.Header{Stream: namedJob, Kind: events.KindPodChanged}
		if got := names.Detail(&r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestEditsAreToldInWords: also of a spec that another record stored before, and when only the end of the log is read.
func TestEditsAreToldInWords(t *testing.T) {
	three, five := int32(3), int32(5)
	spec := func(hash string, suspend bool, parallelism *int32) *events.JobSpec {
		return &events.JobSpec{Hash: hash, Suspend: suspend, Parallelism: parallelism, Template: "t"}
	}
	seen := func(hash string, at events.Sequence) *events.JobSeen {
		return &events.JobSeen{Generation: 2, Spec: hash, SpecAt: at}
	}
	log := []events.Record{
		{Facts: spec("a", true, &three)},
		{Facts: seen("a", 1)},
		{Facts: spec("b", false, &five)},
		{Facts: seen("b", 3)},
		{Facts: seen("b", 3)},
		{Facts: seen("a", 1)},
	}
	for i := range log {
		kind := events.KindJobChanged
		switch {
		case i == 1:
			kind = events.KindJobAdded
		case i == 0 || i == 2:
			kind = events.KindSpecStored
		}
		log[i].Header = events.Header{Sequence: events.Sequence(i + 1), Stream: namedJob, Previous: events.Sequence(i), Kind: kind}
	}
	want := map[events.Sequence]string{
		4: "suspend: true → false; parallelism: 3 → 5",
		5: "generation 2, version 0",
		6: "suspend: false → true; parallelism: 5 → 3",
	}
	for from := range log {
		n := Names{
			Record: func(at events.Sequence) (events.Record, error) { return log[at-1], nil },
			Back: func(_ events.Stream, at events.Sequence) iter.Seq2[events.Record, error] {
				return func(yield func(events.Record, error) bool) {
					for _, r := range slices.Backward(log[:at]) {
						if !yield(r, nil) {
							return
						}
					}
				}
			},
		}
		for i := from; i < len(log); i++ {
			n.Learn(&log[i])
			if w := want[log[i].Sequence]; w != "" && n.Detail(&log[i]) != w {
				t.Errorf("read from record %d, record %d says %q, want %q", from+1, log[i].Sequence, n.Detail(&log[i]), w)
			}
		}
	}
}
