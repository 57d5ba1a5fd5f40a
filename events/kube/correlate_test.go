package kube

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/jobledger/jobledger/events"
)

// TestEventsAreCombinedAsByClientGo: of random Events the same ones are sent as by client-go's correlator, with the
// same names, counts, times, messages and patches. Which of ten messages client-go forgets is random, so a message that
// was combined with others does not come again here.
func TestEventsAreCombinedAsByClientGo(t *testing.T) {
	sent, combined, counted, skipped := 0, 0, 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 18))
		clock := clocktesting.NewFakePassiveClock(time.Unix(1767323045, 0))
		theirs := record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{
			Clock: clock, SpamKeyFunc: func(e *corev1.Event) string { return string(e.InvolvedObject.UID) + "/" + e.Reason },
		})
		ours := newCorrelator(clock.Now)
		for n := range 600 {
			job := fmt.Sprint("job-", r.IntN(3))
			e := Event{
				Job: events.JobRef{Namespace: "default", Name: job, UID: types.UID("uid-" + job)}, Type: "Normal",
				Reason: []string{SuccessfulCreate, SuccessfulDelete, Completed, FailedCreate}[r.IntN(4)],
				Record: events.Sequence(n), At: events.At(clock.Now().Add(-time.Duration(r.IntN(3)) * time.Second)),
			}
			switch e.Reason {
			case FailedCreate:
				e.Type, e.Message = "Warning", fmt.Sprint("the same ", r.IntN(4))
			case Completed:
				e.Message = "Job completed"
			default:
				e.Message = fmt.Sprint("pod ", n)
			}
			id := fmt.Sprint("log/", n)
			alone := toSend{said: said{nameOf(&e, id, 0), 1, e.At.Go()}, at: e.At.Go(), text: e.Message}
			whole := object(&e, id, &alone)
			want, err := theirs.EventCorrelate(whole)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := ours.take(&e, func() string { return nameOf(&e, id, 0) })
			if ok == want.Skip {
				t.Fatalf("seed %d, event %d: sent %v, want %v", seed, n, ok, !want.Skip)
			}
			if step := r.IntN(1000); step < 2 {
				clock.SetTime(clock.Now().Add(11 * time.Minute))
			} else if step < 100 {
				clock.SetTime(clock.Now().Add(7 * time.Second))
			}
			if !ok {
				skipped++
				continue
			}
			sent++
			want.Event.ReportingController, want.Event.ReportingInstance = Component, Instance // as the writer did it
			want.Event.ResourceVersion = ""
			made := object(&e, id, &got)
			if d := cmp.Diff(want.Event, made); d != "" {
				t.Fatalf("seed %d, event %d: the Event (+) is not client-go's (-):\n%s", seed, n, d)
			}
			if got.combined {
				combined++
			}
			if got.count > 1 {
				counted++
				patch, err := json.Marshal(recount{got.count, metav1.NewTime(got.at), got.text})
				if err != nil || !sameJSON(t, patch, want.Patch) {
					t.Fatalf("seed %d, event %d: the patch is %s, want %s (%v)", seed, n, patch, want.Patch, err)
				}
			}
			theirs.UpdateState(want.Event)
		}
	}
	t.Logf("%d sent, of which %d combined and %d counted, and %d not sent", sent, combined, counted, skipped)
	if sent < 1000 || combined < 100 || counted < 100 || skipped < 1000 {
		t.Error("the test shows too little")
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x, y)
}

// TestAnEventThatIsNotSentCostsLittle: it took 224 allocations when an object and a patch were made for it.
func TestAnEventThatIsNotSentCostsLittle(t *testing.T) {
	e := Event{Job: events.JobRef{Namespace: "default", Name: "large", UID: "uid-large"}, Type: "Normal", Reason: SuccessfulCreate, At: 1}
	c := newCorrelator(time.Now)
	n := 0
	take := func() {
		n++
		e.Message = "Created pod: large-" + string(rune('a'+n%26)) + string(rune('a'+n/26%26))
		c.take(&e, func() string { return nameOf(&e, "id", 0) })
	}
	for range 2 * burst {
		take()
	}
	const most = 4 // of them two for the message
	if got := testing.AllocsPerRun(100, take); got > most {
		t.Errorf("%v allocations, more than %d", got, most)
	}
}

// BenchmarkCorrelate measures an Event of a Job with many pods; hardly any of these Events is sent. Beside it
// client-go's correlator does the same.
func BenchmarkCorrelate(b *testing.B) {
	e := Event{Job: events.JobRef{Namespace: "default", Name: "large", UID: "uid-large"}, Type: "Normal", Reason: SuccessfulCreate, At: 1}
	b.Run("ours", func(b *testing.B) {
		c := newCorrelator(time.Now)
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			e.Message = fmt.Sprint("Created pod: large-", n)
			c.take(&e, func() string { return nameOf(&e, "id", 0) })
		}
	})
	b.Run("client-go", func(b *testing.B) {
		c := record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{})
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			e.Message = fmt.Sprint("Created pod: large-", n)
			alone := toSend{said: said{nameOf(&e, "id", 0), 1, e.At.Go()}, at: e.At.Go(), text: e.Message}
			if _, err := c.EventCorrelate(object(&e, "id", &alone)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
