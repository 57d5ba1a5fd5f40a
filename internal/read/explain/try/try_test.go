package try

import (
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestForHowLongATryRan: by our clock where both ends were seen at once, else by the node's, else no more than was
// seen.
func TestForHowLongATryRan(t *testing.T) {
	failed := []events.ContainerEnd{whentest.Exit("main", 1, nil)}
	for _, row := range []struct {
		name        string
		try         Try
		d           time.Duration
		known, most bool
	}{
		{"never started", Try{Ended: whentest.Seen(5, 9), Containers: failed}, 0, false, false},
		{"seen to begin and to end", Try{Started: whentest.Seen(3, 2), Ended: whentest.Seen(5, 9), Containers: failed},
			7 * time.Second, true,
			false},
		{"it goes on", Try{Started: whentest.Seen(3, 2)}, 0, false, false},
		{"it went without an end", Try{Started: whentest.Seen(3, 2), Gone: whentest.Seen(6, 12)}, 10 * time.Second, true,
			true},
		{"its end was seen 5 s late",
			Try{Started: whentest.Seen(3, 2), Running: whentest.Sec(1), Ended: whentest.Seen(5, 14), Finished: whentest.Sec(9),
				Containers: failed},
			12 * time.Second, true, false},
		{"its end was seen 6 s late",
			Try{Started: whentest.Seen(3, 2), Running: whentest.Sec(1), Ended: whentest.Seen(5, 15), Finished: whentest.Sec(9),
				Containers: failed},
			8 * time.Second, true, false},
		{"late, and its node does not say since when", Try{Started: whentest.Seen(3, 2), Ended: whentest.Seen(5, 15),
			Finished: whentest.Sec(9)},
			13 * time.Second, true, true},
		{"its node says both", Try{Running: whentest.Sec(1), Ended: whentest.Seen(5, 3), Finished: whentest.Sec(2),
			Containers: failed}, time.Second,
			true, false},
		{"it ended as it began", Try{Running: whentest.Sec(2), Ended: whentest.Seen(5, 3), Finished: whentest.Sec(2),
			Containers: failed}, 0, true,
			false},
		{"its node says that it ended before it began",
			Try{Running: whentest.Sec(3), Ended: whentest.Seen(5, 3), Finished: whentest.Sec(2), Containers: failed}, 0, false,
			false},
		{"failed, and of no container it is known how", Try{Phase: events.PodFailed, Started: whentest.Seen(3, 2),
			Ended: whentest.Seen(5, 9)},
			7 * time.Second, true, true},
		{"likewise by its node's clock", Try{Phase: events.PodFailed, Running: whentest.Sec(1), Ended: whentest.Seen(5, 9),
			Finished: whentest.Sec(8)},
			7 * time.Second, true, true},
	} {
		if d, known, most := row.try.Ran(); d != row.d || known != row.known || most != row.most {
			t.Errorf("%s: ran %s, known: %t, at most: %t; want %s, %t, %t", row.name, d, known, most, row.d, row.known, row.most)
		}
	}
}

// TestWhenATryBegan: with the first of its regular containers whose program could be started, unless that was started
// again.
func TestWhenATryBegan(t *testing.T) {
	at := func(n float64, change func(*events.ContainerEnd)) events.ContainerEnd {
		return whentest.Exit("main", 1, func(k *events.ContainerEnd) {
			if n != 0 {
				k.Started = whentest.Sec(n)
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
		{"the pod says since when it runs", whentest.Sec(3), nil, whentest.Sec(3)},
		{"a container began later", whentest.Sec(3), []events.ContainerEnd{at(5, nil)}, whentest.Sec(3)},
		{"a container began before", whentest.Sec(3), []events.ContainerEnd{at(2, nil), at(4, nil)}, whentest.Sec(2)},
		{"only containers say it", 0, []events.ContainerEnd{at(7, nil), at(4, nil)}, whentest.Sec(4)},
		{"its container does not say when", 0, []events.ContainerEnd{at(0, nil)}, 0},
		{"an init container began first", 0,
			[]events.ContainerEnd{at(1, func(k *events.ContainerEnd) { k.Kind = events.InitContainer }), at(4, nil)},
			whentest.Sec(4)},
		{"its program could not be started", 0,
			[]events.ContainerEnd{at(4, func(k *events.ContainerEnd) { k.Reason = "StartError" })}, 0},
		{"nor could this one", 0,
			[]events.ContainerEnd{at(4, func(k *events.ContainerEnd) { k.Reason = "ContainerCannotRun" })}, 0},
		{"it was started again", 0, []events.ContainerEnd{at(4, func(k *events.ContainerEnd) { k.Restarts = 1 })}, 0},
	} {
		if got := (&Try{Running: row.running, Containers: row.containers}).Began(); got != row.want {
			t.Errorf("%s: began at %d, want %d", row.name, got, row.want)
		}
	}
}

// TestWhatEndedFirst: a pod's containers, or its deletion, or its disruption.
func TestWhatEndedFirst(t *testing.T) {
	done := func(n float64) []events.ContainerEnd {
		return []events.ContainerEnd{whentest.Exit("main", 1, func(k *events.ContainerEnd) { k.Finished = whentest.Sec(n) })}
	}
	disrupted := &events.ConditionText{Type: "DisruptionTarget", Status: "True", Reason: "EvictionByEvictionAPI"}
	for _, row := range []struct {
		name  string
		try   Try
		again bool
		want  bool
	}{
		{"it goes on", Try{}, false, false},
		{"it ended", Try{Ended: whentest.Seen(9, 9)}, false, true},
		{"it was asked to before",
			Try{Ended: whentest.Seen(9, 9), AskedSeen: whentest.Seen(8, 8), Asked: whentest.Sec(8), AskedExact: true,
				Containers: done(9)}, false, false},
		{"it was asked to behind its end", Try{Ended: whentest.Seen(9, 9), AskedSeen: whentest.Seen(10, 10),
			Asked: whentest.Sec(10), AskedExact: true},
			false, true},
		{"both are seen at once",
			Try{Ended: whentest.Seen(9, 9), AskedSeen: whentest.Seen(9, 9), Asked: whentest.Sec(8), AskedExact: true,
				Containers: done(8)}, false, false},
		{"at once, and the node says that it ended a second before",
			Try{Ended: whentest.Seen(9, 9), AskedSeen: whentest.Seen(9, 9), Asked: whentest.Sec(8), AskedExact: true,
				Containers: done(7)}, false, false},
		{"at once, and the node says that it ended two seconds before",
			Try{Ended: whentest.Seen(9, 9), AskedSeen: whentest.Seen(9, 9), Asked: whentest.Sec(8), AskedExact: true,
				Containers: done(6)}, false, true},
		{"likewise, but it would have been started again",
			Try{Ended: whentest.Seen(9, 9), AskedSeen: whentest.Seen(9, 9), Asked: whentest.Sec(8), AskedExact: true,
				Containers: done(6)}, true, false},
		{"likewise, but when it was asked to is not known",
			Try{Ended: whentest.Seen(9, 9), AskedSeen: whentest.Seen(9, 9), Asked: whentest.Sec(8), Containers: done(6)}, false,
			false},
		{"at once, and the node does not say when it ended",
			Try{Ended: whentest.Seen(9, 9), AskedSeen: whentest.Seen(9, 9), Asked: whentest.Sec(8), AskedExact: true,
				Containers: []events.ContainerEnd{whentest.Exit("main", 1, nil)}}, false, false},
		{"it was disrupted before", Try{Ended: whentest.Seen(9, 9), Disrupted: disrupted, DisruptedAt: whentest.Seen(8, 8)},
			false, false},
		{"its disruption is seen with its end", Try{Ended: whentest.Seen(9, 9), Disrupted: disrupted,
			DisruptedAt: whentest.Seen(9, 9)}, false,
			false},
		{"it was disrupted behind its end", Try{Ended: whentest.Seen(9, 9), Disrupted: disrupted,
			DisruptedAt: whentest.Seen(10, 10)}, false,
			true},
		{"we decided its deletion before, and its end shows no deletion", Try{Ended: whentest.Seen(9, 9), Deleted: whentest.Seen(8, 8)},
			false, true},
		{"we had it deleted behind its end", Try{Ended: whentest.Seen(9, 9), Deleted: whentest.Seen(10, 10)}, false, true},
		{"behind its end, which its deletion led to", Try{Ended: whentest.Seen(9, 9), Deleted: whentest.Seen(10, 10),
			AskedSeen: whentest.Seen(8, 8)},
			false, false},
		{"behind its end, which its disruption led to",
			Try{Ended: whentest.Seen(9, 9), Deleted: whentest.Seen(10, 10), Disrupted: disrupted, DisruptedAt: whentest.Seen(8,
				8)}, false, false},
	} {
		if got := row.try.EndedFirst(row.again); got != row.want {
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
		x := Try{Disrupted: &events.ConditionText{Reason: row.reason}, DisruptedAt: whentest.Seen(row.disrupted, 6),
			AskedSeen: whentest.Seen(row.asked, 5)}
		if got := x.DeletedFirst(); got != row.want {
			t.Errorf("%+v: deleted first: %t", row, got)
		}
	}
	if (&Try{AskedSeen: whentest.Seen(5, 5)}).DeletedFirst() {
		t.Error("a pod that was not disrupted was deleted before it was")
	}
}

// TestWhenTheLastContainerEnded: as its node says of each of them, and not at all where it does not.
func TestWhenTheLastContainerEnded(t *testing.T) {
	end := func(n float64, change func(*events.ContainerEnd)) events.ContainerEnd {
		return whentest.Exit("main", 0, func(k *events.ContainerEnd) {
			k.Finished = whentest.Sec(n)
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
		"the later of two":      {[]events.ContainerEnd{end(5, nil), end(3, nil)}, whentest.Sec(5)},
		"one does not say when": {[]events.ContainerEnd{end(5, nil), whentest.Exit("b", 0, nil)}, 0},
		"one is started again":  {[]events.ContainerEnd{end(5, func(k *events.ContainerEnd) { k.Again = true })}, 0},
		"an init container later": {[]events.ContainerEnd{end(5, nil),
			end(7, func(k *events.ContainerEnd) { k.Kind = events.InitContainer })}, whentest.Sec(5)},
	} {
		if got := (&Try{Containers: row.containers}).containersEnded(); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}

// TestWhoEndsAPodThatNobodyDeleted: its program, a limit of its own, its node, or nobody who is known.
func TestWhoEndsAPodThatNobodyDeleted(t *testing.T) {
	killed := whentest.Exit("main", 137, func(k *events.ContainerEnd) { k.Reason = "Error" })
	oom := whentest.Exit("main", 137, func(k *events.ContainerEnd) { k.Reason = "OOMKilled" })
	lost := whentest.Exit("main", 137, func(k *events.ContainerEnd) { k.Reason = "ContainerStatusUnknown" })
	one := func(k events.ContainerEnd) []events.ContainerEnd { return []events.ContainerEnd{k} }
	for _, row := range []struct {
		name     string
		try      Try
		by       By
		why      string
		disturbs bool
	}{
		{"it succeeded", Try{Phase: events.PodSucceeded}, ByItself, "success", false},
		{"it succeeded, whatever its status says", Try{Phase: events.PodSucceeded, Reason: "Evicted", Placed: whentest.Seen(1,
			1)},
			ByItself, "success", false},
		{"its program failed", Try{Containers: one(whentest.Exit("main", 3, nil))}, ByItself, "main exit 3", false},
		{"it was killed", Try{Containers: one(killed)}, BySignal, "main exit 137", false},
		{"it was killed, and its node says why", Try{Containers: one(oom)}, ByItself, "main OOMKilled (137)", false},
		{"its own deadline", Try{Reason: "DeadlineExceeded", Placed: whentest.Seen(1, 1)}, ByDeadline,
			"the pod's own activeDeadlineSeconds passed", false},
		{"more than its volume may hold",
			Try{Reason: "Evicted", Message: "Usage of EmptyDir volume \"x\" exceeds the limit \"1Gi\". ",
				Placed: whentest.Seen(1, 1)},
			ByOwnLimit,
			"over its own limit: Usage of EmptyDir volume \"x\" exceeds the limit \"1Gi\"", false},
		{"more than its node has",
			Try{Reason: "Evicted", Message: "The node was low on resource: memory.", Placed: whentest.Seen(1, 1)}, ByKubelet,
			"Evicted: The node was low on resource: memory.", true},
		{"its node stopped it, beside an exit code",
			Try{Reason: "NodeShutdown", Placed: whentest.Seen(1, 1), Containers: one(whentest.Exit("main", 143, nil))},
			ByKubelet, "NodeShutdown",
			true},
		{"a word of its status, beside an exit code",
			Try{Reason: "Odd", Placed: whentest.Seen(1, 1), Containers: one(whentest.Exit("main", 143, nil))}, ByItself,
			"main exit 143", false},
		{"a word of its status alone", Try{Reason: "Odd", Placed: whentest.Seen(1, 1)}, ByKubelet, "Odd", true},
		{"a word of its status alone, of a pod without a node", Try{Reason: "Odd"}, ByUnknown,
			"its status says that it failed: Odd", false},
		{"nothing says how", Try{Placed: whentest.Seen(1, 1)}, ByUnknown,
			"its status says that it failed: no exit code is known",
			false},
		{"its node found no trace", Try{Placed: whentest.Seen(1, 1), Containers: one(lost)}, ByUnknown,
			"how main ended is unknown (ContainerStatusUnknown): its node found no trace of it", false},
	} {
		e := Itself(&row.try)
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
		{"30 s", true, []told{{30, events.PodRunning, 40}}, 30, false, whentest.Sec(10), true},
		{"30 s, and its kubelet deletes it in the end", true, []told{{30, events.PodRunning, 40}, {0, events.PodFailed, 15}},
			30, false, whentest.Sec(10), true},
		{"by force", true, []told{{0, events.PodRunning, 11}}, -1, true, whentest.Sec(11), false},
		{"none, behind its end", true, []told{{0, events.PodFailed, 11}}, -1, false, whentest.Sec(11), false},
		{"none, without a node", false, []told{{0, events.PodPending, 11}}, -1, false, whentest.Sec(11), false},
		{"it does not say", true, []told{{-1, events.PodRunning, 40}}, -1, false, whentest.Sec(20), false},
		{"it says later", true, []told{{-1, events.PodRunning, 40}, {30, events.PodRunning, 41}}, 30, false, whentest.Sec(11),
			true},
		{"asked again, for less time", true, []told{{30, events.PodRunning, 40}, {5, events.PodRunning, 20}}, 30, false,
			whentest.Sec(10), true},
		{"asked again, for an earlier time", true, []told{{30, events.PodRunning, 40}, {30, events.PodRunning, 39}}, 30,
			false, whentest.Sec(9), true},
		{"by force, and then seen with time", true, []told{{0, events.PodRunning, 11}, {30, events.PodRunning, 40}}, -1,
			true, whentest.Sec(10), true},
		{"none, and it did not say before", true, []told{{-1, events.PodRunning, 40}, {0, events.PodRunning, 12}}, -1, false,
			whentest.Sec(12), false},
	} {
		x := Try{}
		if row.placed {
			x.Placed = whentest.Seen(1, 1)
		}
		for i, d := range row.told {
			f := &events.PodSeen{Phase: d.phase, Deleted: whentest.Sec(d.deleted)}
			if d.grace >= 0 {
				f.DeletionGracePeriodSeconds = &d.grace
			}
			x.deletion(&events.Record{Header: events.Header{Sequence: events.Sequence(20 + i), Time: whentest.Sec(20 +
				float64(i))}}, f)
		}
		grace := int64(-1)
		if x.Grace != nil {
			grace = *x.Grace
		}
		if grace != row.grace || x.Forced != row.forced || x.Asked != row.asked || x.AskedExact != row.exact ||
			x.AskedSeen.Record != 20 {
			t.Errorf("%s: given %d, by force: %t, asked at %s, exactly: %t, seen %d", row.name, grace, x.Forced,
				x.Asked.Sub(whentest.Sec(0)), x.AskedExact, x.AskedSeen.Record)
		}
	}
}
