package words

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// lookingUp is Names that look things up in a log.
func lookingUp(t *testing.T, log store.Reader) *Names {
	return &Names{
		Stream: func(s events.Stream) iter.Seq2[events.Record, error] {
			return log.ReadStream(t.Context(), s, 0, store.Forward)
		},
		Back: func(s events.Stream, at events.Sequence) iter.Seq2[events.Record, error] {
			return log.ReadStream(t.Context(), s, at, store.Backward)
		},
		Record: func(at events.Sequence) (events.Record, error) {
			for r, err := range log.Read(t.Context(), at) {
				return r, err
			}
			return events.Record{}, store.ErrPruned
		},
	}
}

// TestWhoBeginsLateSaysTheSame: of recorded incidents a record is told alike by who was shown all before and forgets
// what is over, by who forgets nothing, and by who was shown it alone and looks up what it does not know.
func TestWhoBeginsLateSaysTheSame(t *testing.T) {
	for _, name := range []string{"delegated", "cronjobs-run"} {
		dir := t.TempDir() // opening a log may write beside it
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("../../../examples/incidents", name, "log"))); err != nil {
			t.Fatal(err)
		}
		log, err := open.Archive(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = log.Close() }() // it was only read
		var all, forgets Names
		n, over := 0, map[events.Stream]events.Sequence{}
		for r, err := range log.Read(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			all.Learn(&r)
			forgets.Learn(&r)
			says := func(n *Names) [4]string {
				return [4]string{n.Detail(&r), n.DetailWide(&r), n.Object(&r), n.Namespace(&r)}
			}
			want := says(&all)
			if got := says(&forgets); got != want {
				t.Errorf("%s, record %d (%s) is told as %q by who forgets, want %q", name, r.Sequence, r.Kind, got, want)
			}
			if forgets.Forget(&r); r.Kind == events.KindJobRetired {
				over[r.Stream] = r.Sequence
			}
			if n++; n%7 == 0 && r.Stream.Kind == events.StreamJob {
				late := lookingUp(t, log)
				late.Learn(&r)
				if got := says(late); got != want && r.Kind != events.KindTemplateStored && r.Kind != events.KindSpecStored && r.Kind != events.KindPoliciesStored {
					t.Errorf("%s, record %d (%s) is told as %q by who begins there, want %q", name, r.Sequence, r.Kind, got, want)
				}
			}
		}
		for s, known := range forgets.streams {
			if s.Kind == events.StreamJob && over[s] != 0 {
				t.Errorf("%s: %s is over with record %d, and %+v is kept of it", name, s, over[s], *known)
			}
		}
		if len(over) == 0 {
			t.Errorf("%s: no Job is over", name)
		}
	}
}

// scene is records of one Job that Names are shown one after the other; what each ends is forgotten.
type scene struct {
	n     Names
	at    events.Sequence
	keeps bool // nothing is forgotten
}

func (s *scene) show(f events.Facts, e events.Evidence) *events.Record {
	s.at++
	r := &events.Record{Header: events.Header{Sequence: s.at, Previous: s.at - 1, Stream: namedJob, Kind: events.KindPodChanged}, Facts: f, Evidence: e}
	s.n.Learn(r)
	if !s.keeps {
		s.n.Forget(r)
	}
	return r
}

func (s *scene) decide(commands ...events.Command) events.CommandID {
	s.show(&events.Decision{Steps: []events.Step{{Commands: commands}}}, events.Evidence{})
	return events.CommandID{Decided: s.at}
}

// TestWhatIsForgottenWhen: a Job with its retirement, or with the last of its object, its pods and its commands; a
// command with its last end.
func TestWhatIsForgottenWhen(t *testing.T) {
	known := func(s *scene) bool { return s.n.streams[namedJob] != nil }
	begin := func() *scene {
		s := &scene{}
		s.show(&events.JobSeen{}, events.Evidence{Namespace: "ns", Name: "demo"})
		s.show(&events.PodSeen{UID: "p"}, events.Evidence{Namespace: "ns", Name: "demo-p"})
		return s
	}
	s := begin()
	if s.show(&events.JobRetired{}, events.Evidence{}); known(s) {
		t.Error("a Job that is retired is kept")
	}
	s = begin()
	if s.show(&events.JobGone{}, events.Evidence{}); !known(s) || s.n.Pod(namedJob, "p") != "demo-p" {
		t.Error("a Job that has a pod is forgotten")
	}
	if s.show(&events.PodGone{UID: "other"}, events.Evidence{}); !known(s) {
		t.Error("a Job goes with a pod of another name")
	}
	if s.show(&events.PodGone{UID: "p"}, events.Evidence{}); known(s) {
		t.Error("a Job without a pod is kept")
	}
	s = begin()
	if s.show(&events.PodGone{UID: "p"}, events.Evidence{}); !known(s) {
		t.Error("a Job that is there is forgotten with its last pod")
	}
	for _, row := range []struct {
		sentence string
		command  events.Command
		ended    events.CommandEnded
		kept     bool
	}{
		{"it is done", &events.CreatePod{Ordinal: 1}, events.CommandEnded{Ending: events.Done}, false},
		{"it is withdrawn", &events.CreatePod{Ordinal: 1}, events.CommandEnded{Ending: events.Withdrawn}, false},
		{"it is refused for now, and tried again", &events.CreatePod{Ordinal: 1}, events.CommandEnded{Ending: events.Refused, Class: events.RefusedQuota}, true},
		{"it is refused for good", &events.CreatePod{Ordinal: 1}, events.CommandEnded{Ending: events.Refused, Class: events.RefusedTemplate}, false},
		{"its outcome is unknown", &events.CreatePod{Ordinal: 1}, events.CommandEnded{Ending: events.OutcomeUnknown}, true},
		{"it is of a kind that is not tried again", &events.WriteStatus{}, events.CommandEnded{Ending: events.Refused, Class: events.RefusedQuota}, false},
	} {
		s := begin()
		s.show(&events.PodGone{UID: "p"}, events.Evidence{})
		row.ended.Command = s.decide(row.command)
		if s.show(&events.JobGone{}, events.Evidence{}); !known(s) {
			t.Errorf("%s: the Job is forgotten while a command goes on", row.sentence)
		}
		if s.show(&row.ended, events.Evidence{}); known(s) != row.kept {
			t.Errorf("%s: the Job is kept: %t", row.sentence, known(s))
		}
		if is := known(s) && s.n.streams[namedJob].commands[row.ended.Command] != nil; is != row.kept {
			t.Errorf("%s: the command is kept: %t", row.sentence, is)
		}
	}
	s = begin()
	other := events.CommandID{Decided: 99}
	id := s.decide(&events.DeletePod{Pod: "p"})
	if s.show(&events.CommandEnded{Command: other, Ending: events.Refused, Class: events.RefusedQuota}, events.Evidence{}); s.n.streams[namedJob].commands[id] == nil {
		t.Error("the end of a command that is not known ends another one")
	}
	s.n.Forget(&events.Record{Header: events.Header{Stream: events.JobStream("never seen")}, Facts: &events.JobRetired{}})
	if len(s.n.streams) != 1 {
		t.Errorf("%d streams", len(s.n.streams))
	}
}

// TestWhichRecordsNameWhat: which facts say what a Job and a pod are called, and which do not.
func TestWhichRecordsNameWhat(t *testing.T) {
	both := events.Evidence{Namespace: "ns", Name: "x", Owner: "demo"}
	state, err := proto.Marshal(&pb.JobState{Pods: []*pb.PodState{{Facts: events.PodToWire(&events.PodSeen{UID: "p"})}}})
	if err != nil {
		t.Fatal(err)
	}
	names := func(n *pb.StateNames) events.Evidence {
		text, err := proto.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		return events.Evidence{State: text}
	}
	stored := &events.StoredState{Encoded: state}
	for _, row := range []struct {
		sentence string
		f        events.Facts
		e        events.Evidence
		job, pod string // namespace/name of the Job, name of the pod p
	}{
		{"the Job", &events.JobSeen{}, both, "ns/x", "p"},
		{"the Job without a name", &events.JobSeen{}, events.Evidence{Namespace: "ns"}, "/", "p"},
		{"its end", &events.JobGone{}, both, "ns/x", "p"},
		{"a CronJob", &events.CronJobSeen{}, both, "ns/x", "p"},
		{"the end of a CronJob", &events.CronJobGone{}, both, "ns/x", "p"},
		{"a pod, which names its owner", &events.PodSeen{UID: "p"}, both, "ns/demo", "x"},
		{"a pod without a name", &events.PodSeen{UID: "p"}, events.Evidence{Namespace: "ns"}, "ns/", "p"},
		{"a pod without a UID", &events.PodSeen{}, both, "ns/demo", "p"},
		{"the end of a create", &events.CommandEnded{Type: events.CommandCreatePod, UID: "p"}, both, "ns/", "x"},
		{"the end of another command", &events.CommandEnded{Type: events.CommandDeletePod, UID: "p"}, both, "/", "p"},
		{"a timer", &events.TimerFired{}, both, "/", "p"},
		{"a state", stored, names(&pb.StateNames{Namespace: "ns", Name: "demo", Pods: []*pb.PodNames{{Name: "demo-p"}}}), "ns/demo", "demo-p"},
		{"a state without the Job's name", stored, names(&pb.StateNames{Namespace: "ns", Pods: []*pb.PodNames{{Name: "demo-p"}}}), "/", "demo-p"},
		{"a state without names of pods", stored, names(&pb.StateNames{Namespace: "ns", Name: "demo"}), "ns/demo", "p"},
		{"a state whose names are damaged", stored, events.Evidence{State: []byte("\xff")}, "/", "p"},
		{
			"a state that is damaged", &events.StoredState{Encoded: append(slices.Clone(state), 0xff)},
			names(&pb.StateNames{Namespace: "ns", Name: "demo", Pods: []*pb.PodNames{{Name: "demo-p"}}}), "ns/demo", "p",
		},
	} {
		s := &scene{keeps: true}
		s.show(row.f, row.e)
		job := s.n.Job(namedJob)
		if got := job.Namespace + "/" + job.Name; got != row.job || s.n.Pod(namedJob, "p") != row.pod || job.UID != types.UID(namedJob.ID) {
			t.Errorf("%s: the Job is %q of UID %s, the pod %q, want %q and %q", row.sentence, got, job.UID, s.n.Pod(namedJob, "p"), row.job, row.pod)
		}
		if s.n.Pod(namedJob, "") != "" {
			t.Errorf("%s: a pod without a UID is called %q", row.sentence, s.n.Pod(namedJob, ""))
		}
	}
	s := &scene{}
	s.show(&events.JobSeen{}, events.Evidence{Namespace: "ns", Name: "demo"})
	if s.show(&events.PodSeen{UID: "p"}, events.Evidence{Namespace: "other", Name: "x", Owner: "owner"}); s.n.Job(namedJob).Name != "demo" || s.n.Job(namedJob).Namespace != "ns" {
		t.Errorf("a pod names the Job anew: %+v", s.n.Job(namedJob))
	}
	namespace := events.Stream{Kind: events.StreamNamespace, ID: "ci"}
	if job := lookingUpNothing(t).Job(namespace); job != (events.JobRef{Namespace: "ci"}) {
		t.Errorf("the stream of a namespace is that of %+v", job)
	}
	if pod := lookingUpNothing(t).Pod(namespace, "p"); pod != "p" {
		t.Errorf("a pod of a namespace is %q", pod)
	}
}

// lookingUpNothing are Names that must not look anything up.
func lookingUpNothing(t *testing.T) *Names {
	none := func(events.Stream) iter.Seq2[events.Record, error] {
		t.Error("something is looked up")
		return func(func(events.Record, error) bool) {}
	}
	return &Names{Stream: none, Back: func(s events.Stream, _ events.Sequence) iter.Seq2[events.Record, error] { return none(s) }}
}

// TestTheEndOfACommandThatIsKnown: it is told by what was asked for, a status write by its verb alone, and a refusal
// with its class.
func TestTheEndOfACommandThatIsKnown(t *testing.T) {
	s := &scene{}
	s.show(&events.PodSeen{UID: "p"}, events.Evidence{Namespace: "ns", Name: "demo-p"})
	id := s.decide(&events.DeletePod{Pod: "p"}, &events.WriteStatus{})
	for want, f := range map[string]events.CommandEnded{
		"delete pod demo-p: done":                             {Ending: events.Done, Class: events.RefusedQuota},
		"delete pod demo-p: refused (Quota), the words":       {Ending: events.Refused, Class: events.RefusedQuota},
		"write status: done":                                  {Command: events.CommandID{Place: 1}, Ending: events.Done, Type: events.CommandWriteStatus},
		"command 3 of record 2: done":                         {Command: events.CommandID{Place: 2}, Ending: events.Done},
		"delete pod demo-p: done (of a type that is not set)": {Ending: events.Done, Type: events.MaxCommandKind + 1},
	} {
		f.Command.Decided = id.Decided
		e := events.Evidence{}
		if f.Ending == events.Refused {
			e.Message = "the words"
		}
		r := &events.Record{Header: events.Header{Sequence: 9, Stream: namedJob, Kind: events.KindCommandEnded}, Facts: &f, Evidence: e}
		if got := s.n.Detail(r); got != want && got+" (of a type that is not set)" != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTheEndOfACommandNamesItsPod: also one whose object went before, and whose name is forgotten. Of a command about
// another pod, and of a record without a name, what the pod is called is known from before, or not at all.
func TestTheEndOfACommandNamesItsPod(t *testing.T) {
	s := &scene{}
	s.show(&events.JobSeen{}, events.Evidence{Namespace: "ns", Name: "demo"})
	s.show(&events.PodSeen{UID: "p"}, events.Evidence{Namespace: "ns", Name: "demo-p"})
	id := s.decide(&events.DropFinalizer{Pod: "p"})
	s.show(&events.PodGone{UID: "p"}, events.Evidence{Namespace: "ns", Name: "demo-p"})
	for want, r := range map[string]events.Record{
		"remove finalizer of pod demo-p: done": {
			Facts: &events.CommandEnded{Command: id, Ending: events.Done, Type: events.CommandDropFinalizer, Pod: "p"}, Evidence: events.Evidence{Name: "demo-p"},
		},
		"remove finalizer demo-p: done": {
			Facts: &events.CommandEnded{Ending: events.Done, Type: events.CommandDropFinalizer, Pod: "p"}, Evidence: events.Evidence{Name: "demo-p"},
		},
		"remove finalizer of pod p: done": {
			Facts: &events.CommandEnded{Command: id, Ending: events.Done, Type: events.CommandDropFinalizer}, Evidence: events.Evidence{Name: "demo-p"},
		},
		"remove finalizer p: done": {Facts: &events.CommandEnded{Ending: events.Done, Type: events.CommandDropFinalizer, Pod: "p"}},
	} {
		r.Header = events.Header{Sequence: 9, Stream: namedJob, Kind: events.KindCommandEnded}
		if got := s.n.Detail(&r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
