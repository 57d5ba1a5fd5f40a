package events

import (
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// TestAnEndSaysWhatTheCommandWas reads and writes the ends of commands of all kinds. The UID of the resulting pod is
// stored once, even if the command names it, too.
func TestAnEndSaysWhatTheCommandWas(t *testing.T) {
	asked := map[CommandKind]Command{
		CommandCreatePod: &CreatePod{Ordinal: 3}, CommandReadPod: &ReadPod{Ordinal: 3}, CommandDeletePod: &DeletePod{Pod: "uid-3"},
		CommandDropFinalizer: &DropFinalizer{Pod: "uid-3"}, CommandAdoptPod: &AdoptPod{Pod: "uid-3"}, CommandReleasePod: &ReleasePod{Pod: "uid-3"},
	}
	for traits := range AllTraits() {
		command := asked[traits.Kind]
		if command == nil {
			command = traits.New()
		}
		task := Task{Name: CommandID{Decided: 41, Place: 2}, Command: command}
		for _, ended := range []CommandEnded{task.Ended(Refused), task.Ended(Done)} {
			if ended.Ending == Done {
				ended.UID, ended.Version = "uid-3", 7
			}
			w := endedToWire(&ended)
			if twice := ended.Ending == Done && len(w.GetPod()) > 0; twice {
				t.Errorf("%s: the pod is said twice: %v", traits.Name, w)
			}
			if got := endedFromWire(w); *got != ended {
				t.Errorf("%s: got %+v, want %+v", traits.Name, got, ended)
			}
			about := ended.Ordinal == 3 && ended.Pod == "" || ended.Ordinal == 0 && ended.Pod == "uid-3"
			if ended.Type != traits.Kind || (asked[traits.Kind] != nil) != about {
				t.Errorf("%s: the end says %+v", traits.Name, ended)
			}
		}
	}
}

// TestAnEndOfAnOlderProgramStaysAsItIs: an older record of an end does not have the command. Written again, it has the
// same bytes.
func TestAnEndOfAnOlderProgramStaysAsItIs(t *testing.T) {
	old := &pb.CommandEnded{Command: &pb.CommandName{Decided: 41}, Ending: pb.Ending_ENDING_DONE, Uid: uidToWire("uid-3"), Version: 7, Sent: true}
	f := endedFromWire(old)
	if f.Type != 0 || f.Ordinal != 0 || f.Pod != "" {
		t.Errorf("it says %+v", f)
	}
	if again := endedToWire(f); !proto.Equal(old, again) {
		t.Errorf("it is written as %v, was %v", again, old)
	}
}
