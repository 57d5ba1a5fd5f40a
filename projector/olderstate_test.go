package projector_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// TestStatesOfFold1AreCompared: the controller's state has another form since fold 2, in a snapshot and at the beginning of a file. What
// fold 1 stored of the same log is no difference under fold 1, and any other number is one.
func TestStatesOfFold1AreCompared(t *testing.T) {
	settings := events.SettingsToWire(&events.Settings{Mode: events.ModeAll})
	world := func(fold uint32) *projector.World {
		w, _, err := projector.Restore([]projector.StreamAt{{Stream: events.Controller, AsOf: 90, Facts: controllerState(t, &pb.WorldState{
			LogId: "l", Epoch: 1, Fold: fold, Filed: 50, Newest: map[uint32]uint64{1: 7}, Settings: settings,
			Specs:     []*pb.SpecState{{Spec: &pb.JobSpec{Hash: "b"}}, {Spec: &pb.JobSpec{Hash: "a"}, At: 60}},
			RivalActs: []*pb.RivalAct{{At: 5}},
		})}})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	older := func(change func(*pb.WorldState)) []byte {
		s := &pb.WorldState{
			LogId: "l", Epoch: 1, Fold: 1, Filed: 50, Newest: map[uint32]uint64{1: 7}, Settings: settings,
			Specs: []*pb.SpecState{{Spec: &pb.JobSpec{Hash: "b"}, At: 40}, {Spec: &pb.JobSpec{Hash: "a"}, At: 60}},
		}
		change(s)
		return controllerState(t, s)
	}
	for _, row := range []struct {
		name     string
		change   func(*pb.WorldState)
		snapshot bool
		want     []string
	}{
		{"a snapshot", func(*pb.WorldState) {}, true, nil},
		{"a snapshot with another spec", func(s *pb.WorldState) { s.Specs[0].Spec.Hash = "c" }, true, []string{"specs"}},
		{"a snapshot with a spec of this file in another record", func(s *pb.WorldState) { s.Specs[1].At++ }, true, []string{"specs"}},
		{"a snapshot with a spec less", func(s *pb.WorldState) { s.Specs = s.Specs[1:] }, true, []string{"specs"}},
		{"a snapshot with another version", func(s *pb.WorldState) { s.Newest[1]++ }, true, []string{"newest"}},
		{"the state of a file", func(s *pb.WorldState) { s.Specs = nil }, false, nil},
		{"the state of a file, in another epoch", func(s *pb.WorldState) { s.Specs, s.Epoch = nil, 2 }, false, []string{"epoch"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			stored := older(row.change)
			if got := world(1).Differs(events.Controller, stored, nil, row.snapshot); !slices.Equal(got, row.want) {
				t.Errorf("under fold 1 it differs in %v, want %v", got, row.want)
			}
			if got := world(2).Differs(events.Controller, stored, nil, row.snapshot); len(got) <= len(row.want) {
				t.Errorf("under fold 2 it differs in %v only", got)
			}
		})
	}
}

func controllerState(t *testing.T, s *pb.WorldState) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
