package projector

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestByWhichSpecAJobEnded: an edit after the end changes the spec, and not the one by which the Job ended. If an
// observation shows both an edit and the end, nobody knows which came first.
func TestByWhichSpecAJobEnded(t *testing.T) {
	type seen struct {
		spec string
		end  string // type of the condition that is true; "" for none
	}
	for _, row := range []struct {
		name       string
		generation int64 // when it is first seen
		seen       []seen
		spec       string
		known      bool
	}{
		{"it goes on", 1, []seen{{"1", ""}, {"2", ""}}, "2", true},
		{"it ends", 1, []seen{{"1", ""}, {"1", status.Failed}}, "1", true},
		{"it is edited after its end", 1, []seen{{"1", ""}, {"1", status.Failed}, {"2", status.Failed}}, "1", true},
		{"it is edited twice after its end", 1, []seen{{"1", ""}, {"1", status.Failed}, {"2", status.Failed}, {"3", status.Failed}}, "1", true},
		{"it is edited and ends", 1, []seen{{"1", ""}, {"2", ""}, {"2", status.Complete}}, "2", true},
		{"it is edited when it is about to end", 1, []seen{{"1", ""}, {"1", status.FailureTarget}, {"2", status.FailureTarget}, {"2", status.Failed}}, "1", true},
		{"the edit and the end are seen as one", 1, []seen{{"1", ""}, {"2", status.Failed}}, "2", false},
		{"they are, and it is edited once more", 1, []seen{{"1", ""}, {"2", status.Failed}, {"3", status.Failed}}, "3", false},
		{"it has ended when it is first seen", 1, []seen{{"1", status.Complete}}, "1", true},
		{"it had been edited, too", 2, []seen{{"1", status.Complete}}, "1", false},
		{"it is edited since it was first seen", 1, []seen{{"1", status.Complete}, {"2", status.Complete}}, "1", true},
		{"its end is taken back", 1, []seen{{"1", ""}, {"1", status.Failed}, {"2", status.Failed}, {"2", ""}}, "2", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRandomJob(0)
			r.world, r.job = NewWorld(), nil
			for i, s := range row.seen {
				r.apply(events.JobStream("job"), events.KindSpecStored, &events.JobSpec{Hash: s.spec, Parallelism: new(int32(i))})
				f := &events.JobSeen{Version: uint64(i + 1), Generation: row.generation + int64(i), Spec: s.spec, Managed: true, Status: &events.JobStatus{}}
				if s.end != "" {
					f.Status.Conditions = []events.JobCondition{{Type: s.end, Status: "True"}}
				}
				r.apply(events.JobStream("job"), events.KindJobChanged, f)
			}
			spec, terms, known := r.world.Job(events.JobStream("job")).LastSpec()
			if spec == nil || spec.Hash != row.spec || known != row.known || terms.Parallelism != *spec.Parallelism {
				t.Errorf("it ended by %+v, %+v, known %v", spec, terms, known)
			}
		})
	}
}
