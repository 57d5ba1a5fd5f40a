package budget_test

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/budget"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

const perHour = 60 << 20

var noon = events.At(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))

func after(d time.Duration) events.Time { return noon.Add(d) }

// TestABucketLeaksOneBudgetAnHour: to the byte, and never below empty. A clock that goes back leaks nothing, and adds
// nothing.
func TestABucketLeaksOneBudgetAnHour(t *testing.T) {
	const mb = 1 << 20
	for _, row := range []struct {
		bytes  int
		passed time.Duration
		left   int64
	}{
		{30 * mb, 0, 30 * mb},
		{30 * mb, -time.Hour, 30 * mb},
		{30 * mb, time.Minute, 29 * mb},
		{30 * mb, 29*time.Minute + 59*time.Second, perHour/3600 + 1}, // what leaks in part is not gone yet
		{30 * mb, 30 * time.Minute, 0},
		{30 * mb, 1000 * time.Hour, 0},
		{2 * perHour, time.Hour, perHour},
		{2 * perHour, 2*time.Hour - time.Minute, mb},
		{2 * perHour, 2 * time.Hour, 0},
		{5 * perHour, 0, 2 * perHour}, // it holds two budgets
		{5 * perHour, time.Minute, 2*perHour - mb},
	} {
		var b budget.Bucket
		b.Add(row.bytes, noon, perHour)
		if got := b.Left(after(row.passed), perHour); got < row.left-1 || got > row.left {
			t.Errorf("%d bytes after %s: %d, want %d", row.bytes, row.passed, got, row.left)
		}
	}
	var b budget.Bucket
	b.Add(30*mb, noon, perHour)
	b.Add(10*mb, after(10*time.Minute), perHour)
	if got := b.Left(after(15*time.Minute), perHour); got != 25*mb {
		t.Errorf("30 MB, 10 MB ten minutes later, and five more minutes: %d", got)
	}
	if b.Shift(time.Hour); b.Left(after(75*time.Minute), perHour) != 25*mb {
		t.Errorf("after the clock was stepped by an hour: %d", b.Left(after(75*time.Minute), perHour))
	}
}

// TestFullIsTwoBudgetsLessAMinute: of 60 MB, 119 MB.
func TestFullIsTwoBudgetsLessAMinute(t *testing.T) {
	for share, want := range map[int64]bool{0: false, perHour: false, 119<<20 - 1: false, 119 << 20: true, 120 << 20: true} {
		if budget.Full(share, perHour) != want {
			t.Errorf("%d bytes are full: %t", share, !want)
		}
	}
}

func record(kind events.Kind, at events.Time, f events.Facts) *events.Record {
	return &events.Record{Header: events.Header{Time: at, Kind: kind, Stream: events.JobStream("u")}, Facts: f}
}

// TestWhatIsCharged: each record of a namespace with its weight, except stored states, and nothing where there is no
// namespace or no budget.
func TestWhatIsCharged(t *testing.T) {
	gone := record(events.KindPodDeleted, noon, &events.PodGone{UID: "p"})
	weight := int64(events.Weight(gone))
	b := budget.New()
	b.Apply(gone, "a", perHour)
	b.Apply(gone, "a", perHour)
	b.Apply(gone, "b", perHour)
	b.Apply(gone, "", perHour)
	b.Apply(gone, "c", 0)
	b.Apply(record(events.KindStateStored, noon, &events.StoredState{}), "d", perHour)
	for namespace, want := range map[string]int64{"a": 2 * weight, "b": weight, "": 0, "c": 0, "d": 0, "e": 0} {
		if got := b.Left(namespace, noon, perHour); got != want {
			t.Errorf("%q has %d bytes, want %d", namespace, got, want)
		}
	}
	if n := len(stored(&b, noon).GetShares()); n != 2 {
		t.Errorf("%d buckets, want 2", n)
	}
}

// TestWhoIsOver: who has more than a budget, by name; who has just one is not.
func TestWhoIsOver(t *testing.T) {
	gone := record(events.KindPodDeleted, noon, &events.PodGone{UID: "p"})
	weight := int64(events.Weight(gone))
	b := budget.New()
	for namespace, n := range map[string]int{"z": 3, "just": 2, "a": 3, "less": 1} {
		for range n {
			b.Apply(gone, namespace, 2*weight)
		}
	}
	if got := fmt.Sprint(b.Over(noon, 2*weight)); got != "[a z]" {
		t.Errorf("over are %s", got)
	}
	if got := b.Over(after(30*time.Minute), 2*weight); got != nil {
		t.Errorf("half an hour later %s are over", got)
	}
}

// TestWhatTheControllerTells: a step of its clock shifts all buckets, a start without a budget empties them, one with a
// budget does not, and what was passed over is charged to its namespace.
func TestWhatTheControllerTells(t *testing.T) {
	b := budget.New()
	over := record(events.KindPassedOver, noon, &events.PassedOver{})
	over.Evidence.Namespace = "a"
	weight := int64(events.Weight(over))
	few := 2 * weight
	tell := func(f events.Facts) {
		b.ApplyToController(&events.Record{Header: events.Header{Time: noon, Stream: events.Controller}, Facts: f}, few)
	}
	b.ApplyToController(over, few)
	if got := b.Left("a", noon, few); got != weight {
		t.Fatalf("what was passed over is %d bytes, want %d", got, weight)
	}
	if tell(&events.ClockStepped{Step: time.Hour}); b.Left("a", after(time.Hour), few) != weight || b.Left("a", after(90*time.Minute), few) != 0 {
		t.Error("the step of the clock has not moved the bucket")
	}
	with := events.DefaultSettings()
	with.NamespaceBudget = few
	if tell(&events.ControllerStarted{Settings: with}); b.Left("a", noon, few) != weight {
		t.Error("a start has emptied the bucket")
	}
	with.NamespaceBudget = 0
	if tell(&events.ControllerStarted{Settings: with}); b.Left("a", noon, few) != 0 {
		t.Error("a start without a budget has left the bucket")
	}
}

func stored(b *budget.Buckets, now events.Time) *pb.WorldState {
	var s pb.WorldState
	b.ToWire(&s, now, perHour)
	return &s
}

// TestBucketsInAState: sorted, without what is empty by then; the same come back, and nothing else is left.
func TestBucketsInAState(t *testing.T) {
	b := budget.New()
	gone := record(events.KindPodDeleted, noon, &events.PodGone{UID: "p"})
	late := record(events.KindPodDeleted, after(time.Minute), &events.PodGone{UID: "p"})
	for _, namespace := range []string{"c", "a", "b"} {
		b.Apply(late, namespace, perHour)
	}
	b.Apply(gone, "empty", perHour)
	s := stored(&b, after(time.Minute))
	var names string
	for _, w := range s.GetShares() {
		names += w.GetNamespace()
	}
	if names != "abc" {
		t.Errorf("stored are %s", names)
	}
	again := budget.New()
	again.Apply(gone, "older", perHour)
	again.FromWire(s)
	if got := stored(&again, after(time.Minute)); !proto.Equal(got, s) || again.Left("a", after(time.Minute), perHour) == 0 {
		t.Errorf("%v came back as %v", s, got)
	}
}

// TestEmptyBucketsAreDropped: a cluster that makes namespaces and deletes them for years has buckets of the newest
// alone, and no bucket that has something is dropped.
func TestEmptyBucketsAreDropped(t *testing.T) {
	b := budget.New()
	for n := range 2000 {
		b.Apply(record(events.KindPodDeleted, after(time.Duration(n)*time.Hour), &events.PodGone{UID: "p"}), fmt.Sprint("n", n), perHour)
		b.Apply(record(events.KindPodDeleted, after(time.Duration(n)*time.Hour), &events.PodGone{UID: "p"}), "kept", perHour)
	}
	now := after(1999 * time.Hour)
	if b.Left("kept", now, perHour) == 0 || b.Left("n1999", now, perHour) == 0 {
		t.Error("a bucket that is not empty is dropped")
	}
	if n := len(stored(&b, noon).GetShares()); n > 200 { // none was empty at noon
		t.Errorf("%d buckets are kept", n)
	}
}
