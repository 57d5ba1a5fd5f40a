package explain

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// TestWhoDeletedARun: what the records of a CronJob tell of the deletion of one of its Jobs, j, which was seen with
// record 50 in second 50.
func TestWhoDeletedARun(t *testing.T) {
	deletion := seen(50, 50)
	type told struct {
		record events.Sequence
		n      float64
		facts  events.Facts
	}
	replace := func(f *events.CronJobSeen) { f.Policy = "Replace" }
	cron := func(record events.Sequence, change func(*events.CronJobSeen)) told {
		f := &events.CronJobSeen{Policy: "Forbid", KeepSucceeded: new(int32(1)), KeepFailed: new(int32(0))}
		if change != nil {
			change(f)
		}
		return told{record, float64(record), f}
	}
	run := func(record events.Sequence, created float64, uid types.UID, r events.JobResult) told {
		return told{record, float64(record),
			&events.RunSeen{Job: uid, Name: "run-" + string(uid), Created: sec(created), Result: r}}
	}
	order := func(record events.Sequence, uid types.UID, replacing bool) told {
		return told{record, float64(record), &events.Decision{Steps: []events.Step{{Commands: []events.Command{
			&events.CreateJob{}, &events.DeleteRun{Job: uid, Replacing: replacing},
		}}}}}
	}
	ended := func(record, decided events.Sequence, uid types.UID, how events.Ending) told {
		return told{record, float64(record),
			&events.CommandEnded{Command: events.CommandID{Decided: decided}, Run: uid, Ending: how}}
	}
	complete, failed, none := events.ResultComplete, events.ResultFailed, events.ResultNone
	const (
		inferredLimit = "by the built-in CronJob controller, to judge by its limit: " +
			"more Jobs had ended than successfulJobsHistoryLimit 1 keeps"
		inferredNext = "by the built-in CronJob controller, to judge by what followed: run-k came "
	)
	for _, row := range []struct {
		name string
		ours bool
		told []told
		want string
		from int
	}{
		{"nothing tells", false, []told{cron(10, nil)}, "", 0},
		{"we replaced it", true, []told{order(40, "j", true), run(51, 51, "k", none)},
			"by Jobledger: replaced by run-k (concurrencyPolicy Replace)", 2},
		{"we are about to replace it", true, []told{order(40, "j", true)},
			"by Jobledger: to be replaced by the next one (concurrencyPolicy Replace)", 1},
		{"we replaced another one", true, []told{order(40, "x", true)}, "", 0},
		{"we did so behind its deletion", true, []told{order(51, "j", true)}, "", 0},
		{"that was refused", true, []told{order(40, "j", true), ended(41, 40, "j", events.Refused)}, "", 0},
		{"that was withdrawn", true, []told{order(40, "j", true), ended(41, 40, "j", events.Withdrawn)}, "", 0},
		{"that was done", true, []told{order(40, "j", true), ended(41, 40, "j", events.Done)},
			"by Jobledger: to be replaced by the next one (concurrencyPolicy Replace)", 1},
		{"that of another one was refused", true, []told{order(40, "j", true), ended(41, 40, "x", events.Refused)},
			"by Jobledger: to be replaced by the next one (concurrencyPolicy Replace)", 1},
		{"an order of before was refused", true, []told{order(40, "j", true), ended(41, 30, "j", events.Refused)},
			"by Jobledger: to be replaced by the next one (concurrencyPolicy Replace)", 1},
		{"over the limit of those that succeeded", true,
			[]told{cron(10, nil), run(20, 1, "j", complete), order(40, "j", false)},
			"by Jobledger: more Jobs had ended than successfulJobsHistoryLimit 1 keeps", 1},
		{"over the limit of those that failed", true, []told{cron(10, nil), run(20, 1, "j", failed), order(40, "j", false)},
			"by Jobledger: more Jobs had ended than failedJobsHistoryLimit 0 keeps", 1},
		{"over a limit that is not known", true, []told{run(20, 1, "j", failed), order(40, "j", false)},
			"by Jobledger: more Jobs had ended than the CronJob's history limits keep", 1},
		{"over a limit that is not set", true,
			[]told{cron(10, func(f *events.CronJobSeen) { f.KeepFailed = nil }), run(20, 1, "j", failed),
				order(40, "j", false)}, "by Jobledger: more Jobs had ended than the CronJob's history limits keep", 1},
		{"with its CronJob", false, []told{{45, 45, &events.CronJobGone{}}}, "with its CronJob c, which was deleted", 1},
		{"with its CronJob, which waits", false, []told{cron(45, func(f *events.CronJobSeen) { f.Deleted = sec(45) })},
			"with its CronJob c, which was deleted", 1},
		{"a second before its CronJob is seen to go", false, []told{{51, 51, &events.CronJobGone{}}},
			"with its CronJob c, which was deleted", 1},
		{"two seconds before", false, []told{{52, 52, &events.CronJobGone{}}}, "", 0},
		{"two minutes behind its CronJob", false, []told{{10, 50 - 120, &events.CronJobGone{}}}, "", 0},
		{"almost two minutes behind it", false, []told{{10, 50 - 119, &events.CronJobGone{}}},
			"with its CronJob c, which was deleted", 1},
		{"ours, and the log has no order", true, []told{cron(10, replace), run(51, 51, "k", none)}, "", 0},
		{"the next one came at once", false, []told{cron(10, replace), run(51, 51, "k", none)},
			inferredNext + "1s later (concurrencyPolicy Replace)", 1},
		{"it came 9 s later", false, []told{cron(10, replace), run(59, 59, "k", none)},
			inferredNext + "9s later (concurrencyPolicy Replace)", 1},
		{"it came 10 s later", false, []told{cron(10, replace), run(60, 60, "k", none)}, "", 0},
		{"it was made 1 s before", false, []told{cron(10, replace), run(51, 49, "k", none)},
			inferredNext + "1s later (concurrencyPolicy Replace)", 1},
		{"it was made 2 s before", false, []told{cron(10, replace), run(51, 48, "k", none)}, "", 0},
		{"it was seen before", false, []told{cron(10, replace), run(49, 49, "k", none)}, "", 0},
		{"the next one of two", false, []told{cron(10, replace), run(51, 51, "k", none), run(52, 52, "l", none)},
			inferredNext + "1s later (concurrencyPolicy Replace)", 1},
		{"it had ended", false, []told{cron(10, replace), run(20, 1, "j", complete), run(51, 51, "k", none)}, "", 0},
		{"the policy is another", false, []told{cron(10, nil), run(51, 51, "k", none)}, "", 0},
		{"the policy was Replace later", false, []told{cron(10, nil), cron(51, replace), run(52, 52, "k", none)}, "", 0},
		{"one too many that succeeded", false, []told{cron(10, nil), run(20, 1, "j", complete), run(21, 1, "i", complete)},
			inferredLimit, 0},
		{"as many as it keeps", false, []told{cron(10, nil), run(20, 1, "j", complete)}, "", 0},
		{"the other one was gone by then", false,
			[]told{cron(10, nil), run(20, 1, "j", complete), run(21, 1, "i", complete), {30, 30, &events.RunGone{Job: "i"}}},
			"", 0},
		{"the other one goes later", false,
			[]told{cron(10, nil), run(20, 1, "j", complete), run(21, 1, "i", complete), {51, 51, &events.RunGone{Job: "i"}}},
			inferredLimit, 0},
		{"it is gone itself", false,
			[]told{cron(10, nil), run(20, 1, "j", complete), run(21, 1, "i", complete), {50, 50, &events.RunGone{Job: "j"}}},
			inferredLimit, 0},
		{"the other one ended later", false, []told{cron(10, nil), run(20, 1, "j", complete), run(51, 1, "i", complete)}, "",
			0},
		{"the other one failed", false, []told{cron(10, nil), run(20, 1, "j", complete), run(21, 1, "i", failed)}, "", 0},
	} {
		w := &owner{job: "j", ends: map[types.UID]events.JobResult{}, ours: row.ours}
		for _, x := range row.told {
			kind := events.KindCronJobChanged
			if _, is := x.facts.(*events.Decision); is {
				kind = events.KindDecided
			}
			w.learn(&events.Record{Header: events.Header{Sequence: x.record, Time: sec(x.n), Kind: kind}, Facts: x.facts},
				deletion)
		}
		if by, from := w.removedBy("c", deletion); by != row.want || len(from) != row.from {
			t.Errorf("%s: %q by %d records, want %q", row.name, by, len(from), row.want)
		}
	}
}

// TestWhoRunsAJob: who ran it when, of those that ran it one after the other.
func TestWhoRunsAJob(t *testing.T) {
	c := &Case{reigns: []reign{{seen(5, 5), otherHands}, {seen(10, 10), ourHands}, {seen(20, 20), unseenHands}}}
	for at, want := range map[events.Sequence]bool{1: false, 5: false, 9: false, 10: true, 19: true, 20: false,
		30: false} {
		if got := c.oursAt(seen(at, 0)); got != want {
			t.Errorf("ours at %d: %t", at, got)
		}
	}
	if (&Case{}).hands() != ourHands || c.hands() != unseenHands || c.ours() || !(&Case{}).oursAt(seen(3, 3)) {
		t.Error("nobody has it")
	}
	ours := &Case{reigns: []reign{{seen(5, 5), ourHands}, {seen(10, 10), otherHands}, {seen(20, 20), ourHands}}}
	for at, want := range map[events.Sequence]bool{1: true, 10: true, 11: false, 30: false} {
		if got := ours.oursUntil(seen(at, 0)); got != want {
			t.Errorf("ours until %d: %t", at, got)
		}
	}
	if c.oursUntil(seen(1, 1)) { // the first reign is that from its beginning on
		t.Error("another's from its beginning is ours")
	}
	if m, is := c.unseen(); !is || m != seen(20, 20) {
		t.Errorf("not looked at since %v, %t", m, is)
	}
	if _, is := ours.unseen(); is {
		t.Error("ours is not looked at")
	}
	if _, is := (&Case{reigns: []reign{{seen(5, 5), unseenHands}}}).unseen(); is {
		t.Error("one that was never looked at is so since some time")
	}
	c.gone = seen(40, 40)
	if _, is := c.unseen(); is {
		t.Error("one that is gone is not looked at")
	}
}

// TestHowANodeWas: the newest that is known of a node when something befell a pod, if it was out of order by then and
// the pod was there.
func TestHowANodeWas(t *testing.T) {
	ready, bad := &events.NodeSeen{Name: "n", Ready: events.NodeReady},
		&events.NodeSeen{Name: "n", Ready: events.NodeReady, Cordoned: true}
	for _, row := range []struct {
		name    string
		nodes   []nodeAt
		created float64
		want    bool
		record  events.Sequence
	}{
		{"nothing is known", nil, 0, false, 0},
		{"it is well", []nodeAt{{seen(1, 1), ready}}, 0, false, 0},
		{"it is out of order", []nodeAt{{seen(1, 1), bad}}, 0, true, 1},
		{"it was, before", []nodeAt{{seen(1, 1), bad}, {seen(2, 2), ready}}, 0, false, 0},
		{"it is, within the 5 s that watches differ", []nodeAt{{seen(1, 1), ready}, {seen(2, 15), bad}}, 0, true, 2},
		{"it is, later", []nodeAt{{seen(1, 1), ready}, {seen(2, 15.5), bad}}, 0, false, 0},
		{"it is gone", []nodeAt{{seen(1, 6), nil}}, 5, true, 1},
		{"it went as the pod was made", []nodeAt{{seen(1, 5), nil}}, 5, true, 1},
		{"another of that name was gone", []nodeAt{{seen(1, 4), nil}}, 5, false, 0},
		{"gone, and when the pod was made is not known", []nodeAt{{seen(1, 4), nil}}, 0, true, 1},
	} {
		c := &Case{around: surroundings{nodes: map[string][]nodeAt{"n": row.nodes}}}
		x := &Try{Node: "n"}
		if row.created != 0 {
			x.Created = sec(row.created)
		}
		if n, ok := c.nodeOf(x, seen(9, 10)); ok != row.want || n.Record != row.record {
			t.Errorf("%s: %v, %t", row.name, n, ok)
		}
	}
}

// TestWhatIsWatched: the newest record before that says it, and what has to be given for more.
func TestWhatIsWatched(t *testing.T) {
	at := func(record events.Sequence, n events.Watching) lookAt {
		return lookAt{seen(record, float64(record)), events.ClusterWatched{Namespaces: n}}
	}
	c := &Case{around: surroundings{looks: []lookAt{at(5, events.WatchingOff), at(10, events.WatchingDenied),
		at(20, events.WatchingOn)}}}
	for record, want := range map[events.Sequence]string{
		4: "a watch of namespaces", 5: "a watch of namespaces (--watch-cluster)",
		9:  "a watch of namespaces (--watch-cluster)",
		10: "the right to list and watch namespaces (deploy/watch-cluster)", 20: "a watch of namespaces",
	} {
		if got := c.look(seen(record, 0)).toWatch(); got != want {
			t.Errorf("at %d: %s", record, got)
		}
	}
	var s surroundings
	s.learn(&events.Record{Header: events.Header{Sequence: 3, Time: sec(3)},
		Facts: &events.ClusterWatched{Namespaces: events.WatchingOn}})
	s.learn(&events.Record{Header: events.Header{Sequence: 4, Time: sec(4)}, Facts: &events.ControllerStarted{}})
	if len(s.looks) != 2 || s.looks[1].Namespaces != 0 || s.looks[1].Record != 4 {
		t.Errorf("behind a start: %+v", s.looks)
	}
}

// TestANamespaceThatIsDeleted: it takes a pod, or the Job, that is asked to go after it, within what clocks and
// watches differ.
func TestANamespaceThatIsDeleted(t *testing.T) {
	for _, row := range []struct {
		name           string
		deleted        float64 // 0 for not
		created, asked float64
		exact          bool
		jobDeleted     float64
		pod, job       bool
	}{
		{"it is not", 0, 1, 10, true, 0, false, false},
		{"before", 9, 1, 10, true, 10, true, true},
		{"5 s behind", 15, 1, 15, true, 0, true, true},
		{"more than 5 s behind", 15.5, 1, 15, true, 0, false, false},
		{"2 s behind the pod", 12, 1, 10, true, 0, true, true},
		{"3 s behind the pod", 13, 1, 10, true, 0, false, true},
		{"3 s behind the pod, which is not exact", 13, 1, 10, false, 0, true, true},
		{"a second behind the Job", 11, 1, 10, true, 10, true, true},
		{"two seconds behind the Job", 12, 1, 10, true, 10, true, false},
		{"a second before the Job was made", 5, 6, 10, true, 0, true, true},
		{"another of that name, before", 5, 7, 10, true, 0, false, false},
	} {
		f := &events.NamespaceSeen{Name: "ns"}
		if row.deleted != 0 {
			f.Deleted = sec(row.deleted)
		}
		c := &Case{around: surroundings{namespaces: map[string][]namespaceAt{"ns": {{seen(1, 1), f}}}},
			deletedSeen: seen(9, 10)}
		c.Job.Namespace, c.Job.Created = "ns", recorded(row.created)
		if row.jobDeleted != 0 {
			c.jobDeleted = sec(row.jobDeleted)
		}
		_, pod := c.namespaceEnd(&Try{Asked: sec(row.asked), AskedExact: row.exact}, seen(9, 10))
		if _, job := c.namespaceRemoval(); pod != row.pod || job != row.job {
			t.Errorf("%s: took the pod: %t, the Job: %t", row.name, pod, job)
		}
	}
}

// TestLivingPods: those that were there at a record, had not ended, and were not asked to.
func TestLivingPods(t *testing.T) {
	c := &Case{Tries: []*Try{
		{Seen: seen(1, 1)},
		{Seen: seen(10, 1)},
		{Seen: seen(11, 1)},
		{Seen: seen(1, 1), Ended: seen(9, 1)},
		{Seen: seen(1, 1), Ended: seen(10, 1)},
		{Seen: seen(1, 1), AskedSeen: seen(9, 1)},
		{Seen: seen(1, 1), AskedSeen: seen(10, 1)},
		{Seen: seen(1, 1), Gone: seen(9, 1)},
	}}
	if n := c.living(seen(10, 10)); n != 4 {
		t.Errorf("%d live", n)
	}
}

// TestOneFailureTooMany: whether a Job that failed had failures enough without the pod whose deletion is seen.
func TestOneFailureTooMany(t *testing.T) {
	failed := func(record events.Sequence) *Try { return &Try{Phase: events.PodFailed, Ended: seen(record, 1)} }
	restarted := &Try{Phase: events.PodRunning, Restarts: 1}
	for _, row := range []struct {
		name   string
		reason string
		limit  *int32
		tries  []*Try
		want   bool
	}{
		{"without it none", "BackoffLimitExceeded", new(int32(0)), nil, true},
		{"without it enough", "BackoffLimitExceeded", new(int32(0)), []*Try{failed(9)}, false},
		{"with what fails with it", "BackoffLimitExceeded", new(int32(0)), []*Try{failed(10)}, true},
		{"as many as are allowed", "BackoffLimitExceeded", new(int32(1)), []*Try{failed(9)}, true},
		{"with restarts", "BackoffLimitExceeded", new(int32(1)), []*Try{failed(9), restarted}, false},
		{"for another reason", "DeadlineExceeded", new(int32(0)), nil, false},
		{"without a limit", "BackoffLimitExceeded", nil, nil, false},
	} {
		c := &Case{settled: &settling{Reason: row.reason}, Spec: &events.JobSpec{BackoffLimit: row.limit}, Tries: row.tries}
		if got := c.oneTooMany(seen(10, 10)); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
	if (&Case{settled: &settling{Reason: "BackoffLimitExceeded"}}).oneTooMany(seen(1, 1)) {
		t.Error("without a spec")
	}
}

// TestALackBeginsAndEnds: short ones are forgotten.
func TestALackBeginsAndEnds(t *testing.T) {
	var w wanting
	w.end(seen(1, 1))
	w.begin(seen(2, 10), 3)
	w.begin(seen(3, 11), 4)
	if x := w.open(); len(w.lacks) != 1 || x == nil || x.From != seen(2, 10) || x.Pods != 3 {
		t.Fatalf("%+v", w.lacks)
	}
	w.end(seen(4, 14.9))
	if len(w.lacks) != 0 || w.open() != nil {
		t.Errorf("one of less than 5 s is kept: %+v", w.lacks)
	}
	w.begin(seen(5, 20), 1)
	w.end(seen(6, 25))
	if len(w.lacks) != 1 || w.open() != nil || w.lacks[0].Until != seen(6, 25) {
		t.Errorf("one of 5 s: %+v", w.lacks)
	}
	w.begin(seen(7, 30), 1)
	if len(w.lacks) != 2 {
		t.Errorf("the next: %+v", w.lacks)
	}
}

// TestSpansOfTries: the shortest and the longest, if of each it is known for how long it ran.
func TestSpansOfTries(t *testing.T) {
	ran := func(d float64) *Try { return &Try{Started: seen(1, 0), Ended: seen(2, d)} }
	lo, hi, known := spans([]*Try{ran(5), ran(3), ran(9)})
	if !known || lo != 3*time.Second || hi != 9*time.Second {
		t.Errorf("%s to %s, %t", lo, hi, known)
	}
	for _, tries := range [][]*Try{nil, {ran(5), {}}, {{Started: seen(1, 0), Gone: seen(2, 5)}, ran(5)}} {
		if _, _, known := spans(tries); known {
			t.Errorf("%v is known", tries)
		}
	}
}
