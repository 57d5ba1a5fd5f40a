package projector

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// TestAStateIsTheSameAfterTheWire: after every record of random Jobs the state of a world is restored into another
// world. The other world holds the same, in unexported fields, too. Every other step goes on with the restored world,
// and must lead to the same states (design §2, invariant 5).
func TestAStateIsTheSameAfterTheWire(t *testing.T) {
	for seed := range uint64(40) {
		r := newRandomJob(seed)
		for step := range 60 {
			what := r.step()
			again, _, err := Restore(stateOf(r.world))
			if err != nil {
				t.Fatal(err)
			}
			again.Recovered()
			kept, other := inside(r), *r
			other.world, other.job = again, again.Job(r.job.Stream)
			if got := inside(&other); kept != got {
				t.Fatalf("seed %d, step %d, %s (-kept +restored):\n%s", seed, step, what,
					cmp.Diff(strings.Split(kept, "\n"), strings.Split(got, "\n")))
			}
			if step%2 == 0 {
				r.world, r.job = other.world, other.job
			}
		}
	}
}

// stateOf returns a snapshot of everything as of one record.
func stateOf(w *World) []StreamAt {
	all := []StreamAt{{Stream: events.Controller, AsOf: w.Head, Facts: w.ControllerState()}}
	for _, s := range w.Streams() {
		facts, names, _ := w.StreamState(s)
		all = append(all, StreamAt{Stream: s, AsOf: w.Head, Facts: facts, Names: names})
	}
	return all
}

// inside writes the fields on which the counts rest.
func inside(r *randomJob) string {
	j := r.job
	var b strings.Builder
	b.WriteString(r.counts())
	fmt.Fprintf(&b, "first %d, arrival %d, ticks %d, ends %v, flights %v\n", j.first, j.arrival, j.ticks, j.ends, flightsOf(j))
	if spec, terms, known := j.LastSpec(); spec != nil {
		fmt.Fprintf(&b, "last spec %s %+v, %v\n", spec.Hash, terms, known)
	}
	for _, p := range j.Pods() {
		fmt.Fprintf(&b, "%s %+v, arrived %d, written %v, noted %v, ended %d, entered %d, seen %v, gone %v, done %v %v, vanished %v, doomed %v, "+
			"waived %v, counted %v, fell %v, lives in %s\n", p.UID, p.PodSeen, p.arrived, p.written, p.noted, p.ended, p.entered, p.Seen, p.Gone,
			p.DroppedIn, p.DeleteDone, p.Vanished, p.Surplus, p.NeverCounted, p.Counted, p.FailedBeforeDeletion, j.homes[p.UID])
	}
	for _, c := range j.creates {
		fmt.Fprintf(&b, "create %+v\n", c.CreatePod)
	}
	for p := range j.Unlisted() {
		fmt.Fprintf(&b, "fresh %s\n", p.UID)
	}
	return b.String()
}

// TestAStateThatCannotBeReadIsRefused: bytes that are no state, or that hold a command of unknown kind, give an error,
// and nothing is made of them.
func TestAStateThatCannotBeReadIsRefused(t *testing.T) {
	unknown := &pb.Flight{Command: &pb.Command{}}
	for _, tt := range []struct {
		sentence     string
		facts, names []byte
	}{
		{"facts are no message", []byte{0xff}, nil},
		{"facts end in what is no message", append(marshal(&pb.JobState{Base: &pb.JobStatus{}}), 0xff), nil},
		{"names are no message", marshal(&pb.JobState{Base: &pb.JobStatus{}}), []byte{0xff}},
		{"there is no status", marshal(&pb.JobState{Head: 1}), nil},
		{"a status write in flight is a command of no kind", marshal(&pb.JobState{Base: &pb.JobStatus{}, Write: unknown}), nil},
		{"a pod's deletion in flight is a command of no kind", marshal(&pb.JobState{Base: &pb.JobStatus{}, Pods: []*pb.PodState{{Facts: events.PodToWire(&events.PodSeen{UID: "pod"}), Delete: unknown}}}), nil},
	} {
		w := NewWorld()
		if err := w.RestoreStream(events.JobStream("job"), tt.facts, tt.names); err == nil || w.Len() > 0 {
			t.Errorf("%s: error %v, %d Jobs", tt.sentence, err, w.Len())
		}
		if _, _, err := Restore([]StreamAt{{Stream: events.JobStream("job"), AsOf: 1, Facts: tt.facts, Names: tt.names}}); err == nil {
			t.Errorf("%s: a snapshot with it is restored", tt.sentence)
		}
	}
	if _, _, err := Restore([]StreamAt{{Stream: events.Controller, AsOf: 1, Facts: []byte{0xff}}}); err == nil {
		t.Error("a controller's state that is no message is restored")
	}
}

// TestPartsOfAStateAreKept: a world restored from a part of a state keeps a copy of the part, as the caller uses the
// bytes again.
func TestPartsOfAStateAreKept(t *testing.T) {
	facts := marshal(&pb.JobState{Base: &pb.JobStatus{}, Part: 1, Head: 7})
	names := marshal(&pb.StateNames{Namespace: "batch", Name: "etl"})
	buffer, called := bytes.Clone(facts), bytes.Clone(names)
	w, s := NewWorld(), events.JobStream("job")
	if err := w.RestoreStream(s, buffer, called); err != nil || !w.Collecting(s) {
		t.Fatal(err)
	}
	clear(buffer)
	clear(called)
	if f, n := w.Collected(s); !bytes.Equal(f, facts) || !bytes.Equal(n, names) {
		t.Errorf("it keeps %x and %q", f, n)
	}
}

// flightsOf writes the contents of a Job's book.
func flightsOf(j *Job) string {
	var b strings.Builder
	for _, f := range j.book.InOrder() {
		fmt.Fprintf(&b, "%v %+v since %d, cancelled %v", f.Name(), f.Command, f.Since, f.Cancelled)
		if f.InBackoff() {
			fmt.Fprintf(&b, ", refused %+v", *f.Refused)
		}
		b.WriteString("; ")
	}
	for of := events.BackoffOwn + 1; of <= events.MaxBackoff; of++ {
		fmt.Fprint(&b, *j.book.Shared(of))
	}
	for slot := range events.MaxSlot + 1 {
		fmt.Fprint(&b, " ", j.book.Count(slot))
	}
	return b.String()
}
