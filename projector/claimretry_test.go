package projector

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// TestTheNextClaimIsOfAPodThatIsToBeClaimed: users are shown the next claim of a Job. It is the same each time, even if
// several pods wait equally long, and its pod still waits (J-175).
func TestTheNextClaimIsOfAPodThatIsToBeClaimed(t *testing.T) {
	w, s := NewWorld(), events.JobStream("job")
	seq, now := events.Sequence(0), events.Time(1e18)
	apply := func(stream events.Stream, kind events.Kind, facts events.Facts) {
		seq++
		w.Apply(&events.Record{Header: events.Header{Sequence: seq, Time: now, Stream: stream, Kind: kind}, Facts: facts})
	}
	settings := events.DefaultSettings()
	settings.Mode = events.ModeAll
	apply(events.Controller, events.KindControllerStarted, &events.ControllerStarted{RulesVersion: 1, Settings: settings})
	apply(s, events.KindSpecStored, &events.JobSpec{Hash: "h", Template: "t"})
	apply(s, events.KindJobAdded, &events.JobSeen{Version: 1, Managed: true, Spec: "h", SpecAt: seq})
	see := func(uid, owner types.UID) {
		apply(s, events.KindPodChanged, &events.PodSeen{
			UID: uid, Version: uint64(seq) + 2, Phase: events.PodRunning, Owner: owner, Selected: owner != "", Candidates: []types.UID{"job"},
		})
	}
	adopt := func(ends map[types.UID]events.CommandEnded) {
		for _, uid := range []types.UID{"a", "b", "c"} {
			if end, ok := ends[uid]; ok {
				apply(s, events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{Commands: []events.Command{
					&events.AdoptPod{Pod: uid, Version: w.Job(s).Pod(uid).Version},
				}}}})
				end.Command = events.CommandID{Decided: seq}
				apply(s, events.KindCommandEnded, &end)
			}
		}
	}
	see("a", "")
	see("b", "")
	see("c", "")
	adopt(map[types.UID]events.CommandEnded{
		"a": {Ending: events.OutcomeUnknown},
		"b": {Ending: events.Refused, Class: events.RefusedForbidden},
		"c": {Ending: events.Refused, Class: events.RefusedInvalid},
	})
	for range 20 {
		if got := w.Job(s).NextClaim(now); got.Class != 0 || got.Until == 0 {
			t.Fatalf("the next claim is %+v, want that of the first pod", got)
		}
	}
	see("a", "job") // its adoption took effect
	for range 20 {
		if got := w.Job(s).NextClaim(now); got.Class != events.RefusedForbidden {
			t.Fatalf("the next claim is %+v, want that of the second pod: the first is the Job's", got)
		}
	}
}
