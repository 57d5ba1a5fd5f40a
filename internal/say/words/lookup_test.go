package words

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// told is a log of one Job, and Names that look things up in it.
type told struct {
	records []events.Record
	broken  events.Sequence // this record cannot be read
	reads   int
}

var errBroken = errors.New("broken")

func (l *told) add(kind events.Kind, f events.Facts, e events.Evidence) {
	n := events.Sequence(len(l.records) + 1)
	l.records = append(l.records, events.Record{Header: events.Header{Sequence: n, Previous: n - 1, Stream: namedJob, Kind: kind}, Facts: f, Evidence: e})
}

func (l *told) names() *Names {
	each := func(all iter.Seq2[int, events.Record]) iter.Seq2[events.Record, error] {
		return func(yield func(events.Record, error) bool) {
			for _, r := range all {
				l.reads++
				if r.Sequence == l.broken {
					yield(r, errBroken) // what comes with an error is not used
					return
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
	return &Names{
		Stream: func(events.Stream) iter.Seq2[events.Record, error] { return each(slices.All(l.records)) },
		Back: func(_ events.Stream, at events.Sequence) iter.Seq2[events.Record, error] {
			return each(slices.Backward(l.records[:at]))
		},
		Record: func(at events.Sequence) (events.Record, error) {
			if at == l.broken {
				return l.records[at-1], errBroken
			}
			return l.records[at-1], nil
		},
	}
}

func aLog() *told {
	l := &told{}
	l.add(events.KindJobAdded, &events.JobSeen{Managed: true}, events.Evidence{Namespace: "ns", Name: "demo"})
	l.add(events.KindPodAdded, &events.PodSeen{UID: "old"}, events.Evidence{Namespace: "ns", Name: "demo-old"})
	create := &events.CreatePod{Ordinal: 7, Index: events.NoIndex}
	l.add(events.KindDecided, &events.Decision{Steps: []events.Step{{Commands: []events.Command{create, &events.DeletePod{Pod: "old"}}}}}, events.Evidence{})
	l.add(events.KindPodAdded, &events.PodSeen{UID: "new"}, events.Evidence{Namespace: "ns", Name: "demo-new"})
	l.add(events.KindTimerFired, &events.TimerFired{}, events.Evidence{})
	return l
}

// TestNamesAreLookedUp: whoever is shown the last record only knows what those before it call things, and reads no more
// than it must.
func TestNamesAreLookedUp(t *testing.T) {
	l := aLog()
	n := l.names()
	n.Learn(&l.records[4])
	if got := n.Job(namedJob); got.Name != "demo" || got.Namespace != "ns" || l.reads != 1 {
		t.Errorf("the Job is %+v, after %d reads", got, l.reads)
	}
	n = l.names()
	n.Learn(&l.records[4])
	l.reads = 0
	if got := n.Pod(namedJob, "new"); got != "demo-new" || l.reads != 1 {
		t.Errorf("the pod is %q, after %d reads", got, l.reads)
	}
	if got := n.Pod(namedJob, "old"); got != "demo-old" || l.reads != 3 {
		t.Errorf("the older pod is %q, after %d reads", got, l.reads)
	}
	if got := n.Pod(namedJob, "never"); got != "never" || l.reads != 4 {
		t.Errorf("a pod without a record is %q, after %d reads", got, l.reads)
	}
	if got := n.Pod(namedJob, "neither"); got != "neither" || l.reads != 4 {
		t.Errorf("the stream is read again for a pod that it does not have: %q, %d reads", got, l.reads)
	}
	n = l.names()
	n.Learn(&l.records[4])
	if job, pod := n.Job(namedJob), n.Pod(namedJob, "old"); job.Name != "demo" || pod != "demo-old" {
		t.Errorf("whoever looked up the Job, %q, is told that the pod is %q", job.Name, pod)
	}
	for place, want := range map[uint32]string{0: "create pod #7", 1: "delete pod demo-old"} {
		if got := n.Phrase(namedJob, n.Command(namedJob, events.CommandID{Decided: 3, Place: place})); got != want {
			t.Errorf("command %d is %q, want %q", place, got, want)
		}
	}
	for _, id := range []events.CommandID{{Decided: 3, Place: 2}, {Decided: 4}} {
		if got := n.Command(namedJob, id); got != nil {
			t.Errorf("command %+v is %v, and there is none", id, got)
		}
	}
	if (&Names{}).Command(namedJob, events.CommandID{Decided: 3}) != nil || (&Names{}).Pod(namedJob, "old") != "old" || (&Names{}).Phrase(namedJob, nil) != "command" {
		t.Error("without a log something is known")
	}
}

// TestWhatCannotBeReadHasNoName: and it is not tried again and again.
func TestWhatCannotBeReadHasNoName(t *testing.T) {
	for broken := events.Sequence(1); broken <= 4; broken++ {
		l := aLog()
		l.broken = broken
		n := l.names()
		n.Learn(&l.records[4])
		wantJob, wantPod, wantCommand := "demo", "demo-old", true
		if broken == 1 {
			wantJob = ""
		}
		if broken > 1 {
			wantPod = "old"
		}
		if broken == 3 {
			wantCommand = false
		}
		pod := n.Pod(namedJob, "old")
		before := l.reads
		n.Pod(namedJob, "other")
		again := l.reads - before
		if broken == 1 {
			again-- // what is before the pod was not looked at yet
		}
		job, command := n.Job(namedJob), n.Command(namedJob, events.CommandID{Decided: 3})
		if pod != wantPod || job.Name != wantJob || (command != nil) != wantCommand || again != 0 {
			t.Errorf("record %d is broken: pod %q, Job %q, command %v, read again %d times", broken, pod, job.Name, command, again)
		}
	}
}

// TestNamesOfAStoredState: a file of the log begins with a state, and its names with it.
func TestNamesOfAStoredState(t *testing.T) {
	names, err := proto.Marshal(&pb.StateNames{Namespace: "ns", Name: "demo", Pods: []*pb.PodNames{{Name: "demo-a"}, {Name: "demo-b"}}})
	if err != nil {
		t.Fatal(err)
	}
	state, err := proto.Marshal(&pb.JobState{Pods: []*pb.PodState{
		{Facts: events.PodToWire(&events.PodSeen{UID: "a"})}, {Facts: events.PodToWire(&events.PodSeen{UID: "b"})}, {Facts: events.PodToWire(&events.PodSeen{UID: "c"})},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for what, f := range map[string]*events.StoredState{"whole": {Encoded: state}, "damaged": {Encoded: []byte("x")}} {
		var n Names
		n.Learn(&events.Record{
			Header: events.Header{Sequence: 9, Stream: namedJob, Kind: events.KindStateStored}, Facts: f, Evidence: events.Evidence{State: names},
		})
		want := []string{"demo-a", "demo-b", "c"}
		if what == "damaged" {
			want = []string{"a", "b", "c"}
		}
		got := []string{n.Pod(namedJob, "a"), n.Pod(namedJob, "b"), n.Pod(namedJob, "c")}
		if job := n.Job(namedJob); job.Name != "demo" || job.Namespace != "ns" || !slices.Equal(got, want) {
			t.Errorf("%s: the Job is %+v, its pods %v, want %v", what, job, got, want)
		}
	}
}

// TestNamesThatCannotBeRead: of a stored state whose names are damaged no part is believed.
func TestNamesThatCannotBeRead(t *testing.T) {
	names, err := proto.Marshal(&pb.StateNames{Namespace: "ns", Name: "demo", Pods: []*pb.PodNames{{Name: "demo-a"}}})
	if err != nil {
		t.Fatal(err)
	}
	state, err := proto.Marshal(&pb.JobState{Pods: []*pb.PodState{{Facts: events.PodToWire(&events.PodSeen{UID: "a"})}}})
	if err != nil {
		t.Fatal(err)
	}
	var n Names
	n.Learn(&events.Record{
		Header: events.Header{Sequence: 9, Stream: namedJob, Kind: events.KindStateStored},
		Facts:  &events.StoredState{Encoded: state}, Evidence: events.Evidence{State: append(names, 0xff)},
	})
	if job := n.Job(namedJob); job.Name != "" || job.Namespace != "" || n.Pod(namedJob, "a") != "a" {
		t.Errorf("the Job is %+v, its pod %s", job, n.Pod(namedJob, "a"))
	}
}

// TestOnlyStreamsOfJobsNamePods: no other stream is read back for the name of a pod.
func TestOnlyStreamsOfJobsNamePods(t *testing.T) {
	for _, s := range []events.Stream{namedJob, events.CronJobStream("c"), events.NamespaceStream("ns")} {
		l := aLog()
		n := l.names()
		n.Learn(&events.Record{Header: events.Header{Sequence: 5, Previous: 4, Stream: s}, Facts: &events.TimerFired{}})
		want := map[bool]string{true: "demo-new", false: "new"}[s == namedJob]
		if got := n.Pod(s, "new"); got != want || (l.reads > 0) != (s == namedJob) {
			t.Errorf("%s: the pod is %q, want %q, and %d records were read", s, got, want, l.reads)
		}
	}
}

// TestGroupsAreTold: what was found of the Workload and the PodGroup of a gang, each its own sentence.
func TestGroupsAreTold(t *testing.T) {
	for want, f := range map[string]*events.GroupSeen{
		"the server has no Workloads for us":              {Unavailable: true, Delegated: true},
		"the Job's owner delegates its PodGroup, and has": {Delegated: true},
		"of the Job's owner has no template":              {Delegated: true, Workloads: 1, Workload: "w"},
		"Workload w is not the Job's own":                 {Workload: "w"},
		"no Workload is for this Job":                     {},
		"2 Workloads are for this Job":                    {Workloads: 2},
		"Workload w is not the Job's own: pods are made":  {Workloads: 1, Workload: "w"},
	} {
		if got := groupText(f); !strings.Contains(got, want) {
			t.Errorf("%+v: %q, want %q", *f, got, want)
		}
	}
}

// TestWhoIsWhose: the name of a record's object, of its namespace, and of a Job that something else named.
func TestWhoIsWhose(t *testing.T) {
	n := aLog().names()
	for want, r := range map[string]events.Record{
		"pod ns":     {Header: events.Header{Stream: namedJob}, Evidence: events.Evidence{Name: "pod", Namespace: "ns"}},
		"controller": {Header: events.Header{Stream: events.Controller}},
		"demo ns":    {Header: events.Header{Stream: namedJob}},
	} {
		if got := n.Object(&r); got != want && got+" "+n.Namespace(&r) != want {
			t.Errorf("%q of %q, want %q", got, n.Namespace(&r), want)
		}
	}
	other := events.JobStream("other")
	var bare Names
	if got := bare.Object(&events.Record{Header: events.Header{Stream: other}}); got != other.String() {
		t.Errorf("an unknown Job is %q", got)
	}
	bare.Call(other, events.JobRef{Namespace: "ns"})
	if bare.Job(other).Namespace != "" {
		t.Error("a Job is called by no name")
	}
	bare.Call(other, events.JobRef{Namespace: "ns", Name: "called"})
	if job := bare.Job(other); job.Name != "called" || job.Namespace != "ns" || job.UID != "other" {
		t.Errorf("a Job that was called something is %+v", job)
	}
	bare.Call(events.Controller, events.JobRef{Name: "x"})
	bare.Learn(&events.Record{Header: events.Header{Stream: events.Controller, Sequence: 3}, Evidence: events.Evidence{Name: "x"}})
	if job := bare.Job(events.Controller); job != (events.JobRef{}) {
		t.Errorf("the controller is the Job %+v", job)
	}
}

// TestEditsOfWhichNotAllIsKept: a spec that is not kept any more is said to be edited, without what.
func TestEditsOfWhichNotAllIsKept(t *testing.T) {
	one, two := int32(1), int32(2)
	l := &told{}
	l.add(events.KindSpecStored, &events.JobSpec{Hash: "a", Parallelism: &one}, events.Evidence{})
	l.add(events.KindJobAdded, &events.JobSeen{Spec: "a", SpecAt: 1, Generation: 1}, events.Evidence{})
	l.add(events.KindSpecStored, &events.JobSpec{Hash: "b", Parallelism: &two}, events.Evidence{})
	l.add(events.KindJobChanged, &events.JobSeen{Spec: "b", SpecAt: 3, Generation: 2}, events.Evidence{Edit: &events.Edit{Manager: "kubectl"}})
	for broken, want := range []string{
		"parallelism: 1 → 2, by kubectl", "spec edited, by kubectl", "generation 2, version 0", "generation 2, version 0",
	} {
		l.broken = events.Sequence(broken)
		n := l.names()
		n.Learn(&l.records[3])
		if got := n.Detail(&l.records[3]); got != want {
			t.Errorf("record %d is broken: %q, want %q", broken, got, want)
		}
	}
	for _, n := range []*Names{{}, l.names()} {
		r := l.records[3]
		r.Previous = 0
		n.Learn(&r)
		if got := n.Detail(&r); got != "generation 2, version 0" {
			t.Errorf("nothing is known of before: %q", got)
		}
	}
}

// TestCommandsOfOneKindAreToldTogether: and in a wide text each by itself, with its reason's sentence.
func TestCommandsOfOneKindAreToldTogether(t *testing.T) {
	create := func(n uint64, again bool) events.Command {
		return &events.CreatePod{Ordinal: n, Again: again, Index: events.NoIndex}
	}
	var n Names
	for _, row := range []struct {
		commands   []events.Command
		text, wide string
	}{
		{[]events.Command{create(1, false)}, "create pod #1 (X)", "create pod #1 (X: since y)"},
		{[]events.Command{create(1, false), create(2, false)}, "create 2 pods (X)", "create pod #1, create pod #2 (X: since y)"},
		{[]events.Command{create(1, true), create(2, true)}, "create 2 pods again (X)", "create pod #1, again, create pod #2, again (X: since y)"},
		{
			[]events.Command{create(1, false), &events.DeletePod{Pod: "p"}, create(2, false)}, "create pod #1, delete pod p, create pod #2 (X)",
			"create pod #1, delete pod p, create pod #2 (X: since y)",
		},
	} {
		d := &events.Decision{Steps: []events.Step{{Commands: row.commands, Reason: "X", Sentence: "since y"}}}
		r := events.Record{Header: events.Header{Stream: namedJob, Kind: events.KindDecided}, Facts: d}
		if n.Detail(&r) != row.text || n.DetailWide(&r) != row.wide {
			t.Errorf("%q and %q, want %q and %q", n.Detail(&r), n.DetailWide(&r), row.text, row.wide)
		}
		d.Steps[0].Sentence = ""
		if got := n.DetailWide(&r); got != fmt.Sprintf("%s (X)", row.wide[:len(row.wide)-len(" (X: since y)")]) {
			t.Errorf("without a sentence: %q", got)
		}
	}
	if got := n.DetailWide(&events.Record{Header: events.Header{Stream: namedJob}, Facts: &events.TimerFired{}}); got != "a wait is over" {
		t.Errorf("a record that is no decision: %q", got)
	}
}

// TestStatusWritesAreToldByWhatMatters: the condition, then who ended, then the rest.
func TestStatusWritesAreToldByWhatMatters(t *testing.T) {
	var n Names
	three := int32(3)
	for want, c := range map[string]events.StatusChange{
		"write status Failed":                {Conditions: []events.JobCondition{{Type: "FailureTarget", Status: "True"}, {Type: "Failed", Status: "True"}}},
		"write status Suspended=False":       {Conditions: []events.JobCondition{{Type: "Suspended", Status: "False"}}},
		"write status: 1 more succeeded pod": {AddSucceeded: []types.UID{"a"}},
		"write status: 2 more failed pods":   {AddFailed: []types.UID{"a", "b"}},
		"write status Failed: 1 more succeeded pod, 1 more failed pod": {
			Conditions: []events.JobCondition{{Type: "Failed", Status: "True"}}, AddSucceeded: []types.UID{"a"}, AddFailed: []types.UID{"b"},
		},
		"write status: 2 pods counted": {Counted: []types.UID{"a", "b"}},
		"write status: active 3":       {Active: &three, Counted: []types.UID{"a"}},
	} {
		if got := n.Phrase(namedJob, &events.WriteStatus{Change: c}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDueTimesAreTold: whether one or a range, by whom, into which, and as which Job.
func TestDueTimesAreTold(t *testing.T) {
	at := func(minutes int) events.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	var n Names
	for want, tick := range map[string]events.Tick{
		"2026-03-02 12:00 started as a":                                     {Fate: events.TickStarted, Name: "a"},
		"2026-03-02 12:00 started by another controller as a":               {Fate: events.TickStarted, Name: "a", Observed: true},
		"2026-03-02 12:00 started again by another controller":              {Fate: events.TickAgain, Observed: true},
		"2026-03-02 12:00 refused, as a is that of another due time":        {Fate: events.TickRefused, Name: "a"},
		"2026-03-02 12:00 too late":                                         {Fate: events.TickTooLate, Observed: true},
		"2026-03-02 12:00 to 2026-03-02 12:05 merged into 2026-03-02 12:06": {Fate: events.TickMerged, Last: at(5), Into: at(6)},
		"2026-03-02 12:00 merged into a later one":                          {Fate: events.TickMerged},
		"2026-03-02 12:00 not started, 2026-03-02 12:06 was":                {Fate: events.TickSkipped, Into: at(6)},
		"2026-03-02 12:00 not started":                                      {Fate: events.TickSkipped},
		"2026-03-02 12:00 triggered, that of 2026-03-02 12:06":              {Fate: events.TickTriggered, Into: at(6)},
		"2026-03-02 12:00 unknown: not watched to 2026-03-02 12:02:00Z":     {Fate: events.TickUnknown, UnwatchedUntil: at(2)},
		"2026-03-02 12:00 unknown: not watched from 2026-03-02 12:01:00Z to 2026-03-02 12:02:00Z": {
			Fate: events.TickUnknown, UnwatchedFrom: at(1), UnwatchedUntil: at(2),
		},
	} {
		if tick.First = noon; tick.Last == 0 {
			tick.Last = noon
		}
		if got := n.TickText(&tick); got != want {
			t.Errorf("%+v is told as %q, want %q", tick, got, want)
		}
	}
	step := func(c events.CronStep) string { return n.cronStep(&c) }
	for want, got := range map[string]string{
		"":                            n.cronStep(nil),
		"the ledger goes on":          step(events.CronStep{Ledger: &events.TickLedger{}}),
		"a Job is active no longer":   step(events.CronStep{Left: []types.UID{"a"}}),
		"2 Jobs are active no longer": step(events.CronStep{Left: []types.UID{"a", "b"}}),
		"2026-03-02 12:00 is due, held back: suspended": step(events.CronStep{Ledger: &events.TickLedger{Open: noon, Hold: events.HeldSuspended}}),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if WaitText(events.NotHeld) == HoldText(events.NotHeld) || WaitText(events.HeldForbid) != HoldText(events.HeldForbid) {
		t.Error("what another controller waits for is told as if we started it, or a hold otherwise than ours")
	}
	for want, by := range map[string]string{"anna (field manager kubectl)": "anna by kubectl", "anna": "anna", "a by b (field manager c)": "a by b by c"} {
		if got := Asker(by); got != want {
			t.Errorf("%q is told as %q, want %q", by, got, want)
		}
	}
}

// TestEachFateAndHoldHasItsWords: no two are told alike.
func TestEachFateAndHoldHasItsWords(t *testing.T) {
	fates, holds := map[string]events.TickFate{}, map[string]events.TickHold{}
	for f := events.TickFate(1); f <= events.TickUnknown; f++ {
		if other, is := fates[FateText(f)]; is {
			t.Errorf("%v and %v are both %q", f, other, FateText(f))
		}
		fates[FateText(f)] = f
	}
	for h := events.NotHeld; h <= events.HeldNoCreate; h++ {
		if other, is := holds[HoldText(h)]; is {
			t.Errorf("%v and %v are both %q", h, other, HoldText(h))
		}
		holds[HoldText(h)] = h
	}
	if FateText(200) != "unknown" || HoldText(200) != "unknown" {
		t.Error("of a newer program's fate something is known")
	}
}

// TestSpecChangesTellEachField: one at a time, with both values.
func TestSpecChangesTellEachField(t *testing.T) {
	one, two, long := int32(1), int32(2), int64(3)
	for want, now := range map[string]events.JobSpec{
		"suspend: false → true": {Suspend: true}, "parallelism: unset → 1": {Parallelism: &one}, "completions: unset → 2": {Completions: &two},
		"completionMode: unset → Indexed": {CompletionMode: "Indexed"}, "activeDeadlineSeconds: unset → 3": {ActiveDeadlineSeconds: &long},
		"backoffLimit: unset → 1": {BackoffLimit: &one}, "backoffLimitPerIndex: unset → 1": {BackoffLimitPerIndex: &one},
		"maxFailedIndexes: unset → 1": {MaxFailedIndexes: &one}, "ttlSecondsAfterFinished: unset → 1": {TTLSecondsAfterFinished: &one},
		"podReplacementPolicy: unset → Failed": {PodReplacementPolicy: "Failed"}, "restartPolicy: unset → Never": {RestartPolicy: "Never"},
		"manualSelector: false → true": {ManualSelector: true}, "selector or policies edited": {Policies: "p"}, "pod template edited": {Template: "t"},
		"scheduling policy: unset → Gang": {SchedulingPolicy: events.PolicyGang}, "scheduling minCount: unset → 2": {MinCount: &two},
		"scheduling edited": {Scheduling: "s"},
	} {
		if got := SpecChanges(&events.JobSpec{}, &now); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
		if same := now; len(SpecChanges(&same, &now)) > 0 {
			t.Errorf("%q is a change of what stays", SpecChanges(&same, &now))
		}
		if now.Key = "k"; (now.Policies != "" || now.Template != "" || now.Scheduling != "") != (len(SpecChanges(&events.JobSpec{}, &now)) == 0) {
			t.Errorf("with another key of the hashes: %q", SpecChanges(&events.JobSpec{}, &now))
		}
	}
	zone := "Europe/Berlin"
	for want, now := range map[string]events.CronJobSeen{
		`schedule "" → "* * * * *"`: {Schedule: "* * * * *"}, "timeZone unset → Europe/Berlin": {TimeZone: &zone},
		"concurrencyPolicy  → Forbid": {Policy: "Forbid"}, "suspend false → true": {Suspend: true}, "startingDeadlineSeconds unset → 3": {Deadline: &long},
		"successfulJobsHistoryLimit unset → 1": {KeepSucceeded: &one}, "failedJobsHistoryLimit unset → 2": {KeepFailed: &two},
		"jobTemplate edited": {Template: "t"},
	} {
		if got := CronChanges(&events.CronJobSeen{}, &now); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := CronChanges(&events.CronJobSeen{Redacted: "a"}, &events.CronJobSeen{Redacted: "b"}); len(got) != 0 {
		t.Errorf("the same template, told by a program that knows more of its fields: %q", got)
	}
	if got := CronChanges(&events.CronJobSeen{}, &events.CronJobSeen{}); len(got) > 0 {
		t.Errorf("%q is a change of what stays", got)
	}
}
