package explain

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// sec is an instant so many seconds behind a beginning.
func sec(n float64) events.Time { return events.Time(1_780_000_000e9 + int64(n*1e9)) }

// recorded is the same instant as answers have it.
func recorded(n float64) recordjson.Instant { return recordjson.Instant(sec(n)) }

// seen is a record, and what it says is of that second.
func seen(record events.Sequence, n float64) Mark { return Mark{record, sec(n)} }

func exit(name string, code int32, change func(*events.ContainerEnd)) events.ContainerEnd {
	k := events.ContainerEnd{Name: name, ExitCode: code}
	if change != nil {
		change(&k)
	}
	return k
}

// TestForHowLongATryRan: by our clock where both ends were seen at once, else by the node's, else no more than was
// seen.
func TestForHowLongATryRan(t *testing.T) {
	failed := []events.ContainerEnd{exit("main", 1, nil)}
	for _, row := range []struct {
		name        string
		try         Try
		d           time.Duration
		known, most bool
	}{
		{"never started", Try{Ended: seen(5, 9), Containers: failed}, 0, false, false},
		{"seen to begin and to end", Try{Started: seen(3, 2), Ended: seen(5, 9), Containers: failed}, 7 * time.Second, true,
			false},
		{"it goes on", Try{Started: seen(3, 2)}, 0, false, false},
		{"it went without an end", Try{Started: seen(3, 2), Gone: seen(6, 12)}, 10 * time.Second, true, true},
		{"its end was seen 5 s late",
			Try{Started: seen(3, 2), Running: sec(1), Ended: seen(5, 14), Finished: sec(9), Containers: failed},
			12 * time.Second, true, false},
		{"its end was seen 6 s late",
			Try{Started: seen(3, 2), Running: sec(1), Ended: seen(5, 15), Finished: sec(9), Containers: failed},
			8 * time.Second, true, false},
		{"late, and its node does not say since when", Try{Started: seen(3, 2), Ended: seen(5, 15), Finished: sec(9)},
			13 * time.Second, true, true},
		{"its node says both", Try{Running: sec(1), Ended: seen(5, 3), Finished: sec(2), Containers: failed}, time.Second,
			true, false},
		{"it ended as it began", Try{Running: sec(2), Ended: seen(5, 3), Finished: sec(2), Containers: failed}, 0, true,
			false},
		{"its node says that it ended before it began",
			Try{Running: sec(3), Ended: seen(5, 3), Finished: sec(2), Containers: failed}, 0, false, false},
		{"failed, and of no container it is known how", Try{Phase: events.PodFailed, Started: seen(3, 2), Ended: seen(5, 9)},
			7 * time.Second, true, true},
		{"likewise by its node's clock", Try{Phase: events.PodFailed, Running: sec(1), Ended: seen(5, 9), Finished: sec(8)},
			7 * time.Second, true, true},
	} {
		if d, known, most := row.try.ran(); d != row.d || known != row.known || most != row.most {
			t.Errorf("%s: ran %s, known: %t, at most: %t; want %s, %t, %t", row.name, d, known, most, row.d, row.known, row.most)
		}
	}
}

// TestWhenATryBegan: with the first of its regular containers whose program could be started, unless that was started
// again.
func TestWhenATryBegan(t *testing.T) {
	at := func(n float64, change func(*events.ContainerEnd)) events.ContainerEnd {
		return exit("main", 1, func(k *events.ContainerEnd) {
			if n != 0 {
				k.Started = sec(n)
			}
			if change != nil {
				change(k)
			}
		})
	}
	for _, row := range []struct {
		name       string
		running    events.Time
		containers []events.ContainerEnd
		want       events.Time
	}{
		{"nothing is known", 0, nil, 0},
		{"the pod says since when it runs", sec(3), nil, sec(3)},
		{"a container began later", sec(3), []events.ContainerEnd{at(5, nil)}, sec(3)},
		{"a container began before", sec(3), []events.ContainerEnd{at(2, nil), at(4, nil)}, sec(2)},
		{"only containers say it", 0, []events.ContainerEnd{at(7, nil), at(4, nil)}, sec(4)},
		{"its container does not say when", 0, []events.ContainerEnd{at(0, nil)}, 0},
		{"an init container began first", 0,
			[]events.ContainerEnd{at(1, func(k *events.ContainerEnd) { k.Kind = events.InitContainer }), at(4, nil)}, sec(4)},
		{"its program could not be started", 0,
			[]events.ContainerEnd{at(4, func(k *events.ContainerEnd) { k.Reason = "StartError" })}, 0},
		{"nor could this one", 0,
			[]events.ContainerEnd{at(4, func(k *events.ContainerEnd) { k.Reason = "ContainerCannotRun" })}, 0},
		{"it was started again", 0, []events.ContainerEnd{at(4, func(k *events.ContainerEnd) { k.Restarts = 1 })}, 0},
	} {
		if got := (&Try{Running: row.running, Containers: row.containers}).began(); got != row.want {
			t.Errorf("%s: began at %d, want %d", row.name, got, row.want)
		}
	}
}

// TestWhatEndedFirst: a pod's containers, or its deletion, or its disruption.
func TestWhatEndedFirst(t *testing.T) {
	done := func(n float64) []events.ContainerEnd {
		return []events.ContainerEnd{exit("main", 1, func(k *events.ContainerEnd) { k.Finished = sec(n) })}
	}
	disrupted := &events.ConditionText{Type: "DisruptionTarget", Status: "True", Reason: "EvictionByEvictionAPI"}
	for _, row := range []struct {
		name  string
		try   Try
		again bool
		want  bool
	}{
		{"it goes on", Try{}, false, false},
		{"it ended", Try{Ended: seen(9, 9)}, false, true},
		{"it was asked to before",
			Try{Ended: seen(9, 9), AskedSeen: seen(8, 8), Asked: sec(8), AskedExact: true, Containers: done(9)}, false, false},
		{"it was asked to behind its end", Try{Ended: seen(9, 9), AskedSeen: seen(10, 10), Asked: sec(10), AskedExact: true},
			false, true},
		{"both are seen at once",
			Try{Ended: seen(9, 9), AskedSeen: seen(9, 9), Asked: sec(8), AskedExact: true, Containers: done(8)}, false, false},
		{"at once, and the node says that it ended a second before",
			Try{Ended: seen(9, 9), AskedSeen: seen(9, 9), Asked: sec(8), AskedExact: true, Containers: done(7)}, false, false},
		{"at once, and the node says that it ended two seconds before",
			Try{Ended: seen(9, 9), AskedSeen: seen(9, 9), Asked: sec(8), AskedExact: true, Containers: done(6)}, false, true},
		{"likewise, but it would have been started again",
			Try{Ended: seen(9, 9), AskedSeen: seen(9, 9), Asked: sec(8), AskedExact: true, Containers: done(6)}, true, false},
		{"likewise, but when it was asked to is not known",
			Try{Ended: seen(9, 9), AskedSeen: seen(9, 9), Asked: sec(8), Containers: done(6)}, false, false},
		{"at once, and the node does not say when it ended",
			Try{Ended: seen(9, 9), AskedSeen: seen(9, 9), Asked: sec(8), AskedExact: true,
				Containers: []events.ContainerEnd{exit("main", 1, nil)}}, false, false},
		{"it was disrupted before", Try{Ended: seen(9, 9), Disrupted: disrupted, disrupted: seen(8, 8)}, false, false},
		{"its disruption is seen with its end", Try{Ended: seen(9, 9), Disrupted: disrupted, disrupted: seen(9, 9)}, false,
			false},
		{"it was disrupted behind its end", Try{Ended: seen(9, 9), Disrupted: disrupted, disrupted: seen(10, 10)}, false,
			true},
		{"we had it deleted before", Try{Ended: seen(9, 9), Deleted: seen(8, 8)}, false, false},
		{"we had it deleted behind its end", Try{Ended: seen(9, 9), Deleted: seen(10, 10)}, false, true},
		{"behind its end, which its deletion led to", Try{Ended: seen(9, 9), Deleted: seen(10, 10), AskedSeen: seen(8, 8)},
			false, false},
		{"behind its end, which its disruption led to",
			Try{Ended: seen(9, 9), Deleted: seen(10, 10), Disrupted: disrupted, disrupted: seen(8, 8)}, false, false},
	} {
		if got := row.try.endedFirst(row.again); got != row.want {
			t.Errorf("%s: %t, want %t", row.name, got, row.want)
		}
	}
	for _, row := range []struct {
		reason           string
		asked, disrupted events.Sequence
		want             bool
	}{
		{"EvictionByEvictionAPI", 5, 6, true},
		{"PreemptionByScheduler", 5, 6, true},
		{"DeletionByTaintManager", 5, 6, true},
		{"DeletionByDeviceTaintManager", 5, 6, true},
		{"DeletionByTheMoon", 5, 6, true},
		{"DeletionByPodGC", 5, 6, false},
		{"TerminationByKubelet", 5, 6, false},
		{"EvictionByEvictionAPI", 6, 6, false},
		{"EvictionByEvictionAPI", 0, 6, false},
	} {
		x := Try{Disrupted: &events.ConditionText{Reason: row.reason}, disrupted: seen(row.disrupted, 6),
			AskedSeen: seen(row.asked, 5)}
		if got := x.deletedFirst(); got != row.want {
			t.Errorf("%+v: deleted first: %t", row, got)
		}
	}
	if (&Try{AskedSeen: seen(5, 5)}).deletedFirst() {
		t.Error("a pod that was not disrupted was deleted before it was")
	}
}

// TestWhenTheLastContainerEnded: as its node says of each of them, and not at all where it does not.
func TestWhenTheLastContainerEnded(t *testing.T) {
	end := func(n float64, change func(*events.ContainerEnd)) events.ContainerEnd {
		return exit("main", 0, func(k *events.ContainerEnd) {
			k.Finished = sec(n)
			if change != nil {
				change(k)
			}
		})
	}
	for name, row := range map[string]struct {
		containers []events.ContainerEnd
		want       events.Time
	}{
		"none is known":         {nil, 0},
		"the later of two":      {[]events.ContainerEnd{end(5, nil), end(3, nil)}, sec(5)},
		"one does not say when": {[]events.ContainerEnd{end(5, nil), exit("b", 0, nil)}, 0},
		"one is started again":  {[]events.ContainerEnd{end(5, func(k *events.ContainerEnd) { k.Again = true })}, 0},
		"an init container later": {[]events.ContainerEnd{end(5, nil),
			end(7, func(k *events.ContainerEnd) { k.Kind = events.InitContainer })}, sec(5)},
	} {
		if got := (&Try{Containers: row.containers}).containersEnded(); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}

// TestWhoEndsAPodThatNobodyDeleted: its program, a limit of its own, its node, or nobody who is known.
func TestWhoEndsAPodThatNobodyDeleted(t *testing.T) {
	killed := exit("main", 137, func(k *events.ContainerEnd) { k.Reason = "Error" })
	oom := exit("main", 137, func(k *events.ContainerEnd) { k.Reason = "OOMKilled" })
	lost := exit("main", 137, func(k *events.ContainerEnd) { k.Reason = "ContainerStatusUnknown" })
	one := func(k events.ContainerEnd) []events.ContainerEnd { return []events.ContainerEnd{k} }
	for _, row := range []struct {
		name     string
		try      Try
		by       By
		why      string
		disturbs bool
	}{
		{"it succeeded", Try{Phase: events.PodSucceeded}, ByItself, "success", false},
		{"it succeeded, whatever its status says", Try{Phase: events.PodSucceeded, Reason: "Evicted", Placed: seen(1, 1)},
			ByItself, "success", false},
		{"its program failed", Try{Containers: one(exit("main", 3, nil))}, ByItself, "main exit 3", false},
		{"it was killed", Try{Containers: one(killed)}, BySignal, "main exit 137", false},
		{"it was killed, and its node says why", Try{Containers: one(oom)}, ByItself, "main OOMKilled (137)", false},
		{"its own deadline", Try{Reason: "DeadlineExceeded", Placed: seen(1, 1)}, ByDeadline,
			"the pod's own activeDeadlineSeconds passed", false},
		{"more than its volume may hold",
			Try{Reason: "Evicted", Message: "Usage of EmptyDir volume \"x\" exceeds the limit \"1Gi\". ", Placed: seen(1, 1)},
			ByOwnLimit,
			"over its own limit: Usage of EmptyDir volume \"x\" exceeds the limit \"1Gi\"", false},
		{"more than its node has",
			Try{Reason: "Evicted", Message: "The node was low on resource: memory.", Placed: seen(1, 1)}, ByKubelet,
			"Evicted: The node was low on resource: memory.", true},
		{"its node stopped it, beside an exit code",
			Try{Reason: "NodeShutdown", Placed: seen(1, 1), Containers: one(exit("main", 143, nil))}, ByKubelet, "NodeShutdown",
			true},
		{"a word of its status, beside an exit code",
			Try{Reason: "Odd", Placed: seen(1, 1), Containers: one(exit("main", 143, nil))}, ByItself, "main exit 143", false},
		{"a word of its status alone", Try{Reason: "Odd", Placed: seen(1, 1)}, ByKubelet, "Odd", true},
		{"a word of its status alone, of a pod without a node", Try{Reason: "Odd"}, ByUnknown,
			"its status says that it failed: Odd", false},
		{"nothing says how", Try{Placed: seen(1, 1)}, ByUnknown, "its status says that it failed: no exit code is known",
			false},
		{"its node found no trace", Try{Placed: seen(1, 1), Containers: one(lost)}, ByUnknown,
			"how main ended is unknown (ContainerStatusUnknown): its node found no trace of it", false},
	} {
		e := itself(&row.try)
		if e.By != row.by || e.Why != row.why || e.By.Disruption() != row.disturbs {
			t.Errorf("%s: by %q: %q, want by %q: %q", row.name, e.By, e.Why, row.by, row.why)
		}
		if lacks := e.Missing != ""; lacks != strings.HasPrefix(row.why, "its status") {
			t.Errorf("%s: missing: %q", row.name, e.Missing)
		}
	}
}

// TestHowLongAPodWasGivenToStop: the first record of its deletion says it, while its containers run.
func TestHowLongAPodWasGivenToStop(t *testing.T) {
	type told struct {
		grace   int64 // -1 where it is not known
		phase   events.PodPhase
		deleted float64
	}
	for _, row := range []struct {
		name   string
		placed bool
		told   []told
		grace  int64 // -1 for unknown
		forced bool
		asked  events.Time
		exact  bool
	}{
		{"30 s", true, []told{{30, events.PodRunning, 40}}, 30, false, sec(10), true},
		{"30 s, and its kubelet deletes it in the end", true, []told{{30, events.PodRunning, 40}, {0, events.PodFailed, 15}},
			30, false, sec(10), true},
		{"by force", true, []told{{0, events.PodRunning, 11}}, -1, true, sec(11), false},
		{"none, behind its end", true, []told{{0, events.PodFailed, 11}}, -1, false, sec(11), false},
		{"none, without a node", false, []told{{0, events.PodPending, 11}}, -1, false, sec(11), false},
		{"it does not say", true, []told{{-1, events.PodRunning, 40}}, -1, false, sec(20), false},
		{"it says later", true, []told{{-1, events.PodRunning, 40}, {30, events.PodRunning, 41}}, 30, false, sec(11), true},
		{"asked again, for less time", true, []told{{30, events.PodRunning, 40}, {5, events.PodRunning, 20}}, 30, false,
			sec(10), true},
		{"asked again, for an earlier time", true, []told{{30, events.PodRunning, 40}, {30, events.PodRunning, 39}}, 30,
			false, sec(9), true},
		{"by force, and then seen with time", true, []told{{0, events.PodRunning, 11}, {30, events.PodRunning, 40}}, -1,
			true, sec(10), true},
		{"none, and it did not say before", true, []told{{-1, events.PodRunning, 40}, {0, events.PodRunning, 12}}, -1, false,
			sec(12), false},
	} {
		x := Try{}
		if row.placed {
			x.Placed = seen(1, 1)
		}
		for i, d := range row.told {
			f := &events.PodSeen{Phase: d.phase, Deleted: sec(d.deleted)}
			if d.grace >= 0 {
				f.DeletionGracePeriodSeconds = &d.grace
			}
			x.deletion(&events.Record{Header: events.Header{Sequence: events.Sequence(20 + i), Time: sec(20 + float64(i))}}, f)
		}
		grace := int64(-1)
		if x.Grace != nil {
			grace = *x.Grace
		}
		if grace != row.grace || x.forced != row.forced || x.Asked != row.asked || x.AskedExact != row.exact ||
			x.AskedSeen.Record != 20 {
			t.Errorf("%s: given %d, by force: %t, asked at %s, exactly: %t, seen %d", row.name, grace, x.forced,
				x.Asked.Sub(sec(0)), x.AskedExact, x.AskedSeen.Record)
		}
	}
}

// TestStretchesOfATry: what it spent its time on has no hole, and nothing of it stands twice.
func TestStretchesOfATry(t *testing.T) {
	for _, row := range []struct {
		name string
		try  Try
		want string
	}{
		{"asked for, seen, bound, run, ended",
			Try{Ordered: seen(1, 0), Seen: seen(2, 1), Placed: seen(3, 3), Started: seen(4, 6), Ended: seen(5, 10)},
			"creating 0-1 scheduling 1-3 starting 3-6 running 6-10"},
		{"it goes on", Try{Seen: seen(2, 1), Placed: seen(3, 3), Started: seen(4, 6)},
			"scheduling 1-3 starting 3-6 running 6-20"},
		{"it waits for a node", Try{Seen: seen(2, 1)}, "scheduling 1-20"},
		{"it starts", Try{Seen: seen(2, 1), Placed: seen(3, 3)}, "scheduling 1-3 starting 3-20"},
		{"it is being deleted", Try{Seen: seen(2, 1), Placed: seen(3, 3), Started: seen(4, 6), AskedSeen: seen(5, 8)},
			"scheduling 1-3 starting 3-6 running 6-8 stopping 8-20"},
		{"deleted while it started", Try{Seen: seen(2, 1), Placed: seen(3, 3), AskedSeen: seen(5, 8), Gone: seen(6, 9)},
			"scheduling 1-3 starting 3-9"},
		{"deleted as it ended",
			Try{Seen: seen(2, 1), Placed: seen(3, 3), Started: seen(4, 6), AskedSeen: seen(5, 10), Ended: seen(5, 10)},
			"scheduling 1-3 starting 3-6 running 6-10"},
		{"its start was not seen, and its node says when",
			Try{Seen: seen(2, 1), Placed: seen(3, 3), Running: sec(5), Ended: seen(5, 10)},
			"scheduling 1-3 starting 3-5 running 5-10"},
		{"by its node before it was bound", Try{Seen: seen(2, 1), Placed: seen(3, 3), Running: sec(2), Ended: seen(5, 10)},
			"scheduling 1-3 running 3-10"},
		{"by its node behind its end", Try{Seen: seen(2, 1), Placed: seen(3, 3), Running: sec(12), Ended: seen(5, 10)},
			"scheduling 1-3 starting 3-10"},
		{"it never ran", Try{Seen: seen(2, 1), Placed: seen(3, 3), Ended: seen(5, 10)}, "scheduling 1-3 starting 3-10"},
		{"it ran, and on which node is not known", Try{Seen: seen(2, 1), Started: seen(4, 6), Ended: seen(5, 10)},
			"scheduling 1-6 running 6-10"},
	} {
		var got []string
		for _, s := range row.try.stretches(sec(20)) {
			span := []string{s.from.Sub(sec(0)).String(), s.to.Sub(sec(0)).String()}
			got = append(got, phaseNames[s.phase]+" "+strings.ReplaceAll(strings.Join(span, "-"), "s", ""))
		}
		if text := strings.Join(got, " "); text != row.want {
			t.Errorf("%s: %s, want %s", row.name, text, row.want)
		}
	}
}

// TestTimeIsDividedAsSecondBySecond: sweep is as fast as its stretches are many; this is as slow as the time is long.
func TestTimeIsDividedAsSecondBySecond(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // which are tried is no secret
		var all []stretch
		for range r.IntN(8) {
			from := r.IntN(30) - 3
			all = append(all, stretch{phase(r.IntN(int(phases))), sec(float64(from)), sec(float64(from + r.IntN(12)))})
		}
		from, to := r.IntN(6), 6+r.IntN(20)
		var want [phases]time.Duration
		for n := from; n < to; n++ {
			now := phases
			for _, s := range all {
				if s.from <= sec(float64(n)) && sec(float64(n)) < s.to {
					now = min(now, s.phase)
				}
			}
			if now == phases {
				now = phaseDeciding
			}
			want[now] += time.Second
		}
		if got := sweep(all, sec(float64(from)), sec(float64(to))); got != want {
			t.Fatalf("seed %d: %v from %d to %d: %v, want %v", seed, all, from, to, got, want)
		}
	}
	if sweep(nil, sec(1), sec(1)) != ([phases]time.Duration{}) {
		t.Error("no time is divided")
	}
}
