package explain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// waitingFor is a wait of a pod from a record on, to another one.
func waitingFor(reason, says string, from, until Mark) Waiting {
	return Waiting{Reason: reason, Message: says, From: from, Said: from, Until: until}
}

// TestWhatHeldUpAtADeadline: the pods that waited then, where none ran: with a word with which nothing goes on, or for
// long.
func TestWhatHeldUpAtADeadline(t *testing.T) {
	at := seen(20, 60)
	waits := func(reason, says string, from, until Mark) *Try {
		return &Try{Pod: reason, Seen: seen(1, 1), Waits: []Waiting{waitingFor(reason, says, from, until)}}
	}
	runs := &Try{Seen: seen(1, 1), Started: seen(3, 3)}
	for _, row := range []struct {
		name  string
		tries []*Try
		want  int
	}{
		{"none", nil, 0},
		{"one, stuck", []*Try{waits("ImagePullBackOff", "m", seen(5, 59), Mark{})}, 1},
		{"one, whose wait ends with it", []*Try{waits("ImagePullBackOff", "m", seen(5, 59), seen(20, 60))}, 1},
		{"one, whose wait was over", []*Try{waits("ImagePullBackOff", "m", seen(5, 59), seen(19, 60))}, 0},
		{"one, whose wait begins then", []*Try{waits("ImagePullBackOff", "m", seen(20, 60), Mark{})}, 0},
		{"one, for 5 s", []*Try{waits("ContainerCreating", "", seen(5, 55), Mark{})}, 1},
		{"one, for less", []*Try{waits("ContainerCreating", "", seen(5, 55.1), Mark{})}, 0},
		{"two alike", []*Try{waits("ErrImagePull", "m", seen(5, 59), Mark{}), waits("ErrImagePull", "m", seen(6, 59), Mark{})}, 2},
		{"two with other words", []*Try{waits("ErrImagePull", "m", seen(5, 59), Mark{}), waits("ErrImagePull", "n", seen(6, 59), Mark{})}, 1},
		{"two with other reasons", []*Try{waits("ErrImagePull", "m", seen(5, 59), Mark{}), waits("Unschedulable", "m", seen(6, 59), Mark{})}, 1},
		{"beside one that runs", []*Try{waits("ErrImagePull", "m", seen(5, 59), Mark{}), runs}, 0},
		{"beside one that had ended", []*Try{waits("ErrImagePull", "m", seen(5, 59), Mark{}), {Seen: seen(1, 1), Started: seen(3, 3), Ended: seen(19, 59)}}, 1},
		{"beside one that ends with it", []*Try{waits("ErrImagePull", "m", seen(5, 59), Mark{}), {Seen: seen(1, 1), Started: seen(3, 3), Ended: seen(20, 60)}}, 0},
		{"beside one that starts then", []*Try{waits("ErrImagePull", "m", seen(5, 59), Mark{}), {Seen: seen(1, 1), Started: seen(20, 60)}}, 1},
		{"beside one that came later", []*Try{waits("ErrImagePull", "m", seen(5, 59), Mark{}), {Seen: seen(20, 60), Started: seen(21, 61)}}, 1},
		{"it had gone", []*Try{{Seen: seen(1, 1), Gone: seen(19, 59), Waits: []Waiting{waitingFor("ErrImagePull", "m", seen(5, 5), Mark{})}}}, 0},
		{"it goes with it", []*Try{{Seen: seen(1, 1), Gone: seen(20, 60), Waits: []Waiting{waitingFor("ErrImagePull", "m", seen(5, 5), Mark{})}}}, 1},
	} {
		c := &Case{Tries: row.tries}
		if got := c.heldAt(at); len(got) != row.want {
			t.Errorf("%s: %d held up", row.name, len(got))
		}
	}
}

// TestWhichPastWaitsAreTold: of a pod that never started those that took long; of another one those with which nothing
// goes on, before its start.
func TestWhichPastWaitsAreTold(t *testing.T) {
	for _, row := range []struct {
		name   string
		try    Try
		reason string
		from   Mark
		until  Mark
		want   bool
	}{
		{"stuck before it started", Try{Started: seen(9, 20)}, "Unschedulable", seen(3, 3), seen(9, 20), true},
		{"stuck behind its start", Try{Started: seen(9, 20)}, "CrashLoopBackOff", seen(10, 21), seen(12, 30), false},
		{"with a word that passes", Try{Started: seen(9, 20)}, "ContainerCreating", seen(3, 3), seen(9, 20), false},
		{"it never started, and was there for 5 s", Try{Seen: seen(2, 2)}, "ContainerCreating", seen(3, 3), seen(9, 7), true},
		{"it never started, and was there for less", Try{Seen: seen(2, 2)}, "ContainerCreating", seen(3, 3), seen(9, 6.9), false},
		{"it never started, and was stuck", Try{Seen: seen(2, 2)}, "Unschedulable", seen(3, 3), seen(9, 4), true},
		{"for no time", Try{Seen: seen(2, 2)}, "Unschedulable", seen(3, 3), seen(4, 3), false},
		{"as its node clears up", Try{Seen: seen(2, 2), AskedSeen: seen(3, 3)}, "ContainerCreating", seen(3, 3), seen(9, 20), false},
		{"before it is asked to go", Try{Seen: seen(2, 2), AskedSeen: seen(4, 4)}, "ContainerCreating", seen(3, 3), seen(9, 20), true},
		{"to the end", Try{Seen: seen(2, 2)}, "Unschedulable", seen(3, 3), Mark{}, true},
	} {
		c := &Case{settled: &settling{Over: seen(30, 50), Stored: seen(29, 49)}}
		c.Job.State = history.StateFailed
		w := waitingFor(row.reason, "", row.from, row.until)
		past, told := c.pastWait(&row.try, &w)
		if told != row.want {
			t.Errorf("%s: told: %t", row.name, told)
		}
		if want := (Mark{29, sec(50)}); row.until.Record == 0 && past.until != want {
			t.Errorf("%s: until %v", row.name, past.until)
		}
	}
}

// TestWhatATryCountsAs: the tries of a Job that has ended come to what its status counts, where it is known which.
func TestWhatATryCountsAs(t *testing.T) {
	verdict := &settling{Failure: true, Seen: seen(20, 20), Stored: seen(20, 20), Over: seen(21, 21)}
	failed := func(record events.Sequence, as Counted) *Try {
		return &Try{Phase: events.PodFailed, Ended: seen(record, float64(record)), Counted: as, Containers: []events.ContainerEnd{exit("main", 1, nil)}}
	}
	by := func(x *Try, who By) *Try {
		x.ended = &Ending{By: who}
		return x
	}
	const is, not, unknown = CountedFailed, CountedNot, CountedUnknown
	for _, row := range []struct {
		name  string
		want  int
		tries []*Try
		as    []Counted
	}{
		{"as counted", 1, []*Try{failed(5, is)}, []Counted{is}},
		{"one more than known, and one is open", 1, []*Try{failed(5, not)}, []Counted{is}},
		{"one more than known, and two are open before the verdict", 1, []*Try{failed(5, not), failed(6, not)}, []Counted{unknown, unknown}},
		{"one more than known, and one of the open ended behind the verdict", 1, []*Try{failed(5, not), failed(22, not)}, []Counted{is, not}},
		{"one more than known, and one of the open was stopped by us", 1, []*Try{failed(5, not), by(failed(6, not), ByUs)}, []Counted{is, not}},
		{"by its controller", 1, []*Try{failed(5, not), by(failed(6, not), ByController)}, []Counted{is, not}},
		{"by the Job's deletion", 1, []*Try{failed(5, not), by(failed(6, not), ByJobDeleted)}, []Counted{is, not}},
		{"by a client", 1, []*Try{failed(5, not), by(failed(6, not), ByClient)}, []Counted{unknown, unknown}},
		{"all that are open", 2, []*Try{failed(5, not), failed(22, not)}, []Counted{is, is}},
		{"none is open", 2, []*Try{failed(5, is)}, []Counted{is}},
		{"one that went on elsewhere", 1, []*Try{{Moved: true, Gone: seen(5, 5)}}, []Counted{not}},
		{"one that goes on", 1, []*Try{{}}, []Counted{not}},
		{"one that succeeded", 1, []*Try{{Phase: events.PodSucceeded, Ended: seen(5, 5)}}, []Counted{not}},
		{"one less than known, and one ended behind the verdict", 1, []*Try{failed(5, is), failed(22, is)}, []Counted{is, not}},
		{"one less than known, and two ended behind the verdict", 2, []*Try{failed(5, is), failed(22, is), failed(23, is)}, []Counted{is, unknown, unknown}},
		{"one less than known, and none ended behind the verdict", 1, []*Try{failed(5, is), failed(6, is)}, []Counted{is, is}},
		{"none is counted", 0, []*Try{failed(5, is), failed(6, is)}, []Counted{not, not}},
		{"with the verdict", 0, []*Try{failed(20, is)}, []Counted{not}},
	} {
		c := &Case{Tries: row.tries, settled: verdict}
		c.agree(CountedFailed, row.want, func(x *Try) bool { return x.Phase != events.PodSucceeded })
		var got []Counted
		for _, x := range row.tries {
			if got = append(got, x.Counted); x.Counted == CountedUnknown && x.CountAt != verdict.Over {
				t.Errorf("%s: unknown since %v", row.name, x.CountAt)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(row.as) {
			t.Errorf("%s: %q, want %q", row.name, got, row.as)
		}
	}
	for _, row := range []struct {
		s        *settling
		record   events.Sequence
		want     bool
		end, has Mark
	}{
		{nil, 30, false, Mark{}, Mark{}},
		{&settling{}, 30, false, Mark{}, Mark{}},
		{&settling{Seen: seen(20, 20)}, 19, false, seen(20, 20), seen(20, 20)},
		{&settling{Seen: seen(20, 20)}, 20, true, seen(20, 20), seen(20, 20)},
		{&settling{Decided: seen(18, 18), Seen: seen(20, 20)}, 18, true, seen(20, 20), seen(20, 20)},
		{&settling{Decided: seen(18, 18), Stored: seen(19, 19), Over: seen(21, 21)}, 17, false, seen(21, 21), seen(19, 19)},
	} {
		c := &Case{settled: row.s}
		if got := c.afterVerdict(failed(row.record, not)); got != row.want || c.conclusion() != row.end {
			t.Errorf("%+v, %d: behind the verdict: %t, which is shown by %v", row.s, row.record, got, c.conclusion())
		}
		if row.s != nil && row.s.stored() != row.has {
			t.Errorf("%+v is stored by %v", row.s, row.s.stored())
		}
	}
}

// TestWhatLedToAVerdict: the newest end of a try before it, of those that the decision names.
func TestWhatLedToAVerdict(t *testing.T) {
	ended := func(record events.Sequence, counted int32, at events.Sequence) *Try {
		x := &Try{Ended: seen(record, float64(record)), Failure: counted, CountAt: seen(at, 1)}
		if counted > 0 {
			x.Counted = CountedFailed
		}
		return x
	}
	tries := []*Try{ended(5, 1, 6), ended(9, 2, 10), ended(30, 3, 31), {}}
	for _, row := range []struct {
		name   string
		s      settling
		by     events.Sequence
		failed int
	}{
		{"our decision", settling{Decided: seen(12, 12), Causes: []events.Sequence{5, 9}}, 9, 2},
		{"for the first of them", settling{Decided: seen(12, 12), Causes: []events.Sequence{5}}, 5, 2},
		{"for none of them", settling{Decided: seen(12, 12), Causes: []events.Sequence{7}}, 0, 2},
		{"at once with the count", settling{Decided: seen(10, 12), Causes: []events.Sequence{5, 9}}, 9, 2},
		{"before the count", settling{Decided: seen(9, 12), Causes: []events.Sequence{5, 9}}, 9, 1},
		{"its status", settling{Seen: seen(12, 12)}, 9, 2},
		{"its status, seen with an end", settling{Seen: seen(9, 9)}, 9, 1},
		{"its deadline", settling{Seen: seen(12, 12), Reason: "DeadlineExceeded"}, 0, 2},
		{"its deadline, by us", settling{Decided: seen(12, 12), Causes: []events.Sequence{9}, Reason: "DeadlineExceeded"}, 9, 2},
		{"our rules agree", settling{Seen: seen(12, 12), Same: true, Evidence: seen(8, 8)}, 8, 2},
		{"nothing bounds it", settling{}, 30, 3},
	} {
		c := &Case{Tries: tries, settled: &row.s}
		by := events.Sequence(0)
		if m := c.trigger(&row.s); len(m) > 0 {
			by = m[0].Record
		}
		if by != row.by || c.failedBy(&row.s) != row.failed {
			t.Errorf("%s: by %d with %d failures, want %d with %d", row.name, by, c.failedBy(&row.s), row.by, row.failed)
		}
		if x := c.settledBy(); (x != nil) != (by != 0 && by != 8) || x != nil && x.end().Record != by {
			t.Errorf("%s: settled by %v", row.name, x)
		}
	}
}

// TestWhatAPodWaitsForNow: whether nothing goes on by itself, since when, and what is missing to know more.
func TestWhatAPodWaitsForNow(t *testing.T) {
	c := &Case{misses: &misses{}}
	c.Job.AsOf.Time = recorded(1000)
	for _, row := range []struct {
		reason  string
		from    float64
		stuck   bool
		missing string
	}{
		{"Unschedulable", 999, true, ""}, {"RunContainerError", 999, true, ""}, {"Odd", 1, false, ""}, {"ContainerCreating", 700, true, "a volume, a Secret"},
		{"ContainerCreating", 701, false, ""}, {"PodInitializing", 100, true, "which of its init containers"}, {"PodInitializing", 101, false, "which of its init containers"},
	} {
		w := waitingFor(row.reason, "", seen(3, row.from), Mark{})
		if got := c.tooLong(&w); got != row.stuck || !strings.Contains(c.unsaid(&w), row.missing) || (c.unsaid(&w) != "") != (row.missing != "") {
			t.Errorf("%s since %v: stuck: %t%s", row.reason, row.from, got, c.unsaid(&w))
		}
	}
	for _, row := range []struct {
		sandbox events.Sandbox
		from    float64
		want    string
	}{
		{events.SandboxNone, 990, "volumes are mounted before"}, {events.SandboxNone, 991, ""},
		{events.SandboxReady, 990, "images are pulled"}, {events.SandboxReady, 991, ""},
		{events.SandboxNoAddress, 100, ""}, {events.SandboxOther, 100, ""},
	} {
		w := waitingFor("ContainerCreating", "", seen(3, row.from), Mark{})
		w.sandbox = row.sandbox
		if got := c.unsaid(&w); !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("sandbox %d since %v: %q", row.sandbox, row.from, got)
		}
	}
	pull := func(reasons ...string) *Try {
		x := &Try{}
		for i, reason := range reasons {
			x.Waits = append(x.Waits, waitingFor(reason, "", seen(events.Sequence(i+3), 1), seen(events.Sequence(i+4), 1)))
		}
		return x
	}
	apart := pull("ErrImagePull", "ImagePullBackOff")
	apart.Waits[0].Until = seen(3, 1)
	crashed := pull("CrashLoopBackOff")
	crashed.CrashedAt = seen(2, 1)
	for i, row := range []struct {
		try  *Try
		want events.Sequence
	}{
		{pull("ErrImagePull"), 3}, {pull("ErrImagePull", "ImagePullBackOff", "ErrImagePull"), 3}, {pull("ContainerCreating", "ErrImagePull"), 4},
		{pull("ErrImagePull", "ContainerCreating", "ErrImagePull"), 5}, {apart, 4}, {crashed, 2},
	} {
		if got := row.try.stuckFrom(); got.Record != row.want {
			t.Errorf("row %d: since %d, want %d", i+1, got.Record, row.want)
		}
	}
}

// TestWhatHoldsOthersUpLikewise: the same message; of an image any message, since images are compared.
func TestWhatHoldsOthersUpLikewise(t *testing.T) {
	for reason, pulls := range map[string]bool{"ImagePullBackOff": true, "ErrImagePull": true, "InvalidImageName": true, "ErrImageNeverPull": true, "Unschedulable": false} {
		h := hold{reason: reason, says: "# nodes"}
		if h.pulls() != pulls || h.same("7 pods", "j") != pulls || !h.same("7 nodes", "j") {
			t.Errorf("%s: an image is waited for: %t", reason, h.pulls())
		}
	}
}

// TestWhatAPodIsFoundBy: its name, of several the newest, its UID, or how that begins.
func TestWhatAPodIsFoundBy(t *testing.T) {
	a, b, other := &Try{Pod: "demo", UID: "abcd-1"}, &Try{Pod: "demo", UID: "abce-2"}, &Try{Pod: "abcd", UID: "x"}
	c := &Case{Tries: []*Try{a, b, other}}
	for text, want := range map[string]*Try{"demo": b, "abcd-1": a, "abcd-": a, "abce": b, "abc": nil, "x": other, "abcd": other, "": nil} {
		if got := c.try(text); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// TestRunsOfTheSameWork: by the CronJob, by what names are made of, by a number at the end, or by the name.
func TestRunsOfTheSameWork(t *testing.T) {
	for _, row := range []struct {
		name      string
		origin    *events.Origin
		what      string
		same, not string
	}{
		{"etl", nil, "the same name", "etl", "etl-2"},
		{"etl-12", nil, "name etl-*", "etl-7", "etl2-7"},
		{"etl-x7k2p", &events.Origin{GenerateName: "etl-"}, "name etl-*", "etl-aaaaa", "etl-aaaaaa"},
		{"etl-29", &events.Origin{Kind: "CronJob", Name: "etl"}, "CronJob etl", "etl-30", "etl-30-1"},
		{"etl-29", &events.Origin{Kind: "Workflow", Name: "etl"}, "name etl-*", "etl-30", "etx-30"},
	} {
		c := &compared{Case: &Case{origin: row.origin}}
		c.Job.Name, c.Job.Namespace = row.name, "ns"
		is, what := c.lineage()
		if what != row.what || !is(row.same) || is(row.not) || !is(row.name) {
			t.Errorf("%+v: %s", row, what)
		}
	}
}

// TestNamesOfWork: the owner's, or what the name is made of, or the name.
func TestNamesOfWork(t *testing.T) {
	for _, row := range []struct {
		name   string
		origin *events.Origin
		work   string
	}{
		{"etl", nil, "ns/etl"},
		{"etl-12", nil, "ns/etl-12"},
		{"etl-x7k2p", &events.Origin{GenerateName: "etl-"}, "ns/etl-"},
		{"etl-29", &events.Origin{Kind: "CronJob", Name: "etl"}, "ns/CronJob/etl"},
		{"etl-29", &events.Origin{Kind: "Workflow", Name: "etl"}, "ns/Workflow/etl"},
	} {
		c := &Case{origin: row.origin}
		if c.Job.Name, c.Job.Namespace = row.name, "ns"; c.work() != row.work {
			t.Errorf("%+v: %s", row, c.work())
		}
	}
}

// TestHowTheEndOfAJobWasSettled: the first condition that is an end and true, of a decision; and of a status.
func TestHowTheEndOfAJobWasSettled(t *testing.T) {
	write := func(kinds ...string) []events.Step {
		w := &events.WriteStatus{}
		for _, k := range kinds {
			kind, is, _ := strings.Cut(k, "=")
			w.Change.Conditions = append(w.Change.Conditions, events.JobCondition{Type: kind, Status: is, Reason: "R" + kind, Message: "m"})
		}
		return []events.Step{{Rule: "other", Commands: []events.Command{&events.CreatePod{}}}, {Rule: "rule", Commands: []events.Command{w}}}
	}
	for want, steps := range map[string][]events.Step{
		"":                              write(status.Suspended + "=True"),
		"RFailed true":                  write(status.Suspended+"=True", status.Failed+"=True"),
		"RFailureTarget true":           write(status.FailureTarget+"=True", status.Failed+"=True"),
		"RComplete false":               write(status.Failed+"=False", status.Complete+"=True"),
		"RSuccessCriteriaMet false":     write(status.SuccessCriteriaMet + "=True"),
		"RSuccessCriteriaMet false\x00": write(status.SuccessCriteriaMet+"=True", status.Failed+"=Unknown"),
	} {
		got := ""
		if s := settlingOf(steps, seen(3, 3)); s != nil {
			if got = fmt.Sprintf("%s %t", s.Reason, s.Failure); s.Rule != "rule" || s.Message != "m" || s.Decided != seen(3, 3) {
				t.Errorf("%+v", s)
			}
		}
		if got != strings.TrimSuffix(want, "\x00") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if settlingOf(nil, seen(3, 3)) != nil {
		t.Error("no step settles it")
	}
}

// TestHearFromAKubelet: what shows that the kubelet of a pod's node has said something of it.
func TestHearFromAKubelet(t *testing.T) {
	for name, row := range map[string]struct {
		placed bool
		f      events.PodSeen
		ends   int
		want   bool
	}{
		"nothing":                    {true, events.PodSeen{Phase: events.PodPending}, 0, false},
		"no phase":                   {true, events.PodSeen{}, 0, false},
		"it runs":                    {true, events.PodSeen{Phase: events.PodRunning}, 0, true},
		"a container ended":          {true, events.PodSeen{Phase: events.PodPending}, 1, true},
		"it makes containers":        {true, events.PodSeen{Phase: events.PodPending, Waiting: "ContainerCreating"}, 0, true},
		"that word without a node":   {false, events.PodSeen{Phase: events.PodPending, Waiting: "ContainerCreating"}, 0, false},
		"the scheduler's word":       {true, events.PodSeen{Phase: events.PodPending, Waiting: "Unschedulable"}, 0, false},
		"a gate":                     {true, events.PodSeen{Phase: events.PodPending, Waiting: "SchedulingGated"}, 0, false},
		"a condition of the kubelet": {true, events.PodSeen{Phase: events.PodPending, Conditions: []events.PodCondition{{Type: "Initialized"}}}, 0, true},
		"a condition of another one": {true, events.PodSeen{Phase: events.PodPending, Conditions: []events.PodCondition{{Type: "PodScheduled"}}}, 0, false},
	} {
		x := &Try{}
		if row.placed {
			x.Placed = seen(1, 1)
		}
		r := &events.Record{Evidence: events.Evidence{Containers: make([]events.ContainerEnd, row.ends)}}
		if x.hear(r, &row.f); x.heard != row.want {
			t.Errorf("%s: heard: %t", name, x.heard)
		}
	}
}

// TestAStoredStateOfAPod: what it says is known of the pod, since the record of the state.
func TestAStoredStateOfAPod(t *testing.T) {
	r := &events.Record{Header: events.Header{Sequence: 7, Time: sec(7)}}
	at := seen(7, 7)
	for name, row := range map[string]struct {
		f                      events.PodSeen
		placed, started, ended Mark
		disrupted              bool
	}{
		"pending":   {events.PodSeen{Phase: events.PodPending}, Mark{}, Mark{}, Mark{}, false},
		"bound":     {events.PodSeen{Phase: events.PodPending, Scheduled: true}, at, Mark{}, Mark{}, false},
		"running":   {events.PodSeen{Phase: events.PodRunning, Scheduled: true}, at, at, Mark{}, false},
		"succeeded": {events.PodSeen{Phase: events.PodSucceeded}, Mark{}, Mark{}, at, false},
		"disrupted": {events.PodSeen{Phase: events.PodFailed, Conditions: []events.PodCondition{{Type: "DisruptionTarget", Status: "True"}}}, Mark{}, Mark{}, at, true},
		"not":       {events.PodSeen{Phase: events.PodFailed, Conditions: []events.PodCondition{{Type: "DisruptionTarget", Status: "False"}, {Type: "Ready", Status: "True"}}}, Mark{}, Mark{}, at, false},
	} {
		row.f.UID, row.f.Index, row.f.Created, row.f.Finished, row.f.Restarts = "u", 3, sec(1), sec(5), 2
		row.f.Exits = []events.ContainerExit{{Name: "main", Code: 4}}
		x := &Try{}
		x.restore(r, &projector.Pod{PodSeen: row.f, Name: "demo-a", Node: "n"})
		if x.Placed != row.placed || x.Started != row.started || x.Ended != row.ended || (x.Disrupted != nil) != row.disrupted || (x.disrupted == at) != row.disrupted {
			t.Errorf("%s: %+v", name, x)
		}
		if !x.Stated || x.Pod != "demo-a" || x.Node != "n" || x.Index != 3 || x.Created != sec(1) || x.Finished != sec(5) || x.Restarts != 2 || x.Phase != row.f.Phase ||
			x.Seen != at || x.Newest != at || x.Shown != at || len(x.Containers) != 1 || x.Containers[0].Name != "main" || x.Containers[0].ExitCode != 4 {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

// TestRefusalsOfAKind: one lasts until such a command is done, and another reason follows it.
func TestRefusalsOfAKind(t *testing.T) {
	c := &Case{misses: &misses{}}
	tell := func(record events.Sequence, kind events.CommandKind, how events.Ending, class events.RefusalClass) {
		r := &events.Record{Header: events.Header{Sequence: record, Time: sec(float64(record))}}
		c.ended(r, &events.CommandEnded{Type: kind, Ending: how, Class: class})
	}
	create, write := events.CommandCreatePod, events.CommandWriteStatus
	tell(1, create, events.Refused, events.RefusedQuota)
	tell(2, create, events.Refused, events.RefusedQuota)
	tell(3, write, events.Refused, events.RefusedQuota)
	tell(4, create, events.Refused, events.RefusedForbidden)
	tell(5, create, events.Done, 0)
	tell(6, create, events.Refused, events.RefusedQuota)
	tell(7, create, events.OutcomeUnknown, 0)
	tell(8, create, events.Withdrawn, 0)
	tell(9, create, events.Refused, events.RefusedNamespaceTerminating)
	tell(10, create, events.Refused, events.RefusedNamespaceTerminating)
	var got []string
	for _, x := range c.refusals {
		then := events.Sequence(0)
		if x.Then != nil {
			then = x.Then.First.Record
		}
		got = append(got, fmt.Sprintf("%s %s %d-%d over %d then %d", x.Kind, x.Class, x.First.Record, x.Last.Record, x.Over.Record, then))
	}
	want := []string{
		"CreatePod Quota 1-2 over 5 then 4", "WriteStatus Quota 3-3 over 0 then 0", "CreatePod Forbidden 4-4 over 5 then 0", "CreatePod Quota 6-6 over 0 then 9",
		"CreatePod NamespaceTerminating 9-10 over 0 then 0",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || c.namespaceGoing != seen(9, 9) {
		t.Errorf("%s\nnamespace going %v", strings.Join(got, "\n"), c.namespaceGoing)
	}
	if x := c.refusedNow(create); x == nil || x.First.Record != 9 || c.refusedNow(events.CommandDeletePod) != nil || c.refusedNow(write) == nil {
		t.Errorf("now %+v", c.refusedNow(create))
	}
}
