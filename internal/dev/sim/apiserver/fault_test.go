package apiserver

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jobledger/jobledger/internal/dev/sim/wholeapi"
	"github.com/jobledger/jobledger/reconciler/executor"
)

func isTimeout(err error) bool { return errors.Is(err, context.DeadlineExceeded) }

func contains(text string) func(error) bool {
	return func(err error) bool {
		return apierrors.IsForbidden(err) && errors.As(err, new(*apierrors.StatusError)) && strings.Contains(err.Error(), text)
	}
}

func TestFaults(t *testing.T) {
	for _, row := range []struct {
		name    string
		fault   Fault
		answer  func(error) bool
		effect  bool
		delayed bool
	}{
		{"a request that is lost has no effect", Fault{Kind: TimeoutBefore}, isTimeout, false, false},
		{"an answer that is lost had its effect", Fault{Kind: TimeoutAfter}, isTimeout, true, false},
		{"a request that is delayed has its effect later", Fault{Kind: TimeoutLate, Delay: time.Minute}, isTimeout, false, true},
		{"429 says when to come again", Fault{Kind: TooManyRequests, RetryAfter: 3 * time.Second}, func(err error) bool {
			after, ok := apierrors.SuggestsClientDelay(err)
			return apierrors.IsTooManyRequests(err) && ok && after == 3
		}, false, false},
		{"500", Fault{Kind: ServerError}, apierrors.IsInternalError, false, false},
		{"500 may hide an effect", Fault{Kind: ServerErrorAfter}, apierrors.IsInternalError, true, false},
		{"503 says when to come again", Fault{Kind: Unavailable, RetryAfter: 3 * time.Second}, func(err error) bool {
			after, ok := apierrors.SuggestsClientDelay(err)
			return apierrors.IsServiceUnavailable(err) && ok && after == 3
		}, false, false},
		{"a connection may be refused", Fault{Kind: ConnectionRefused}, func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }, false, false},
		{"a quota refuses with 403", Fault{Kind: QuotaExceeded}, contains("exceeded quota"), false, false},
		{"a webhook refuses with 403", Fault{Kind: WebhookDenied}, contains("admission webhook"), false, false},
		{"nothing goes wrong", Fault{}, func(err error) bool { return err == nil }, true, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.FailNext(row.fault)
			_, err := w.CreatePod(ctx, podOf(w.job, "demo-a"))
			wantErr(t, row.answer, err)
			if got := w.Pod("default", "demo-a") != nil; got != row.effect {
				t.Errorf("effect %v, want %v", got, row.effect)
			}
			w.Server.Clock().Advance(time.Hour)
			if got := w.Pod("default", "demo-a") != nil; got != (row.effect || row.delayed) {
				t.Errorf("effect after an hour: %v", got)
			}
			last := w.Writes(len(w.Writes(0)) - 1)[0]
			if last.Late != row.delayed {
				t.Errorf("late %v", last.Late)
			}
			calls := w.Calls(0)
			if got := calls[1]; got.Fault != row.fault || (got.Err == nil) != (err == nil) || got.Verb != "create" || got.Kind != Pods {
				t.Errorf("logged %+v", got)
			}
			if row.delayed && len(calls) != 3 {
				t.Errorf("%d calls logged, want the late one too", len(calls))
			}
			if _, err := w.GetJob(ctx, "default", "demo"); err != nil {
				t.Errorf("the fault should hit one call only: %v", err)
			}
		})
	}
}

// TestTheExecutorAcceptsTheClient: the API that the executor calls is this one.
func TestTheExecutorAcceptsTheClient(t *testing.T) {
	var api executor.API = wholeapi.Of(newServer(1).Client("test"))
	_, err := api.GetJob(ctx, "default", "absent")
	wantErr(t, apierrors.IsNotFound, err)
}

func TestTouchedByAnotherMakesAConflict(t *testing.T) {
	w := newWorld(t)
	job := w.job.DeepCopy()
	job.Status.Active = 1
	w.FailNext(Fault{Kind: TouchedByAnother})
	_, err := w.UpdateJobStatus(ctx, job)
	wantErr(t, apierrors.IsConflict, err)
	fresh := must(w.GetJob(ctx, "default", "demo"))(t)
	if VersionOf(fresh) != VersionOf(w.job)+1 || fresh.Generation != w.job.Generation {
		t.Errorf("the touch should move the version only: %+v", fresh.ObjectMeta)
	}
}

func TestACancelledContextSendsNothing(t *testing.T) {
	w := newWorld(t)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err := w.CreatePod(cancelled, podOf(w.job, "demo-a"))
	if !errors.Is(err, context.Canceled) || w.Pod("default", "demo-a") != nil || len(w.Calls(0)) != 1 {
		t.Errorf("got %v, %d calls", err, len(w.Calls(0)))
	}
}

func TestLiveReads(t *testing.T) {
	w := newWorld(t, "demo-a")
	if pod := must(w.FindPod(ctx, "default", "demo-a"))(t); pod.UID != w.pods[0].UID {
		t.Errorf("found %v", pod.UID)
	}
	_, err := w.FindPod(ctx, "default", "demo")
	wantErr(t, apierrors.IsNotFound, err)
	_, err = w.GetJob(ctx, "other", "demo")
	wantErr(t, apierrors.IsNotFound, err)
	w.FailNext(Fault{Kind: TimeoutBefore})
	_, err = w.GetJob(ctx, "default", "demo")
	wantErr(t, isTimeout, err)
}

// TestSeededFaults: each kind happens about as often as its rate says, never to a call that it does not fit, and
// repeats with the seed.
func TestSeededFaults(t *testing.T) {
	rates := Rates{TimeoutBefore: 0.1, TimeoutAfter: 0.1, QuotaExceeded: 0.2}
	draw := func(seed uint64, c Call) (counts [faultKinds]int) {
		faults := SeededFaults(rand.New(rand.NewPCG(seed, 0)), rates, 10*time.Second)
		for range 10000 {
			f := faults(c)
			counts[f.Kind]++
			if f.Kind != NoFault && (f.Delay < time.Second || f.Delay > 10*time.Second) {
				t.Fatalf("delay %v", f.Delay)
			}
		}
		return counts
	}
	create := draw(1, Call{Verb: "create"})
	for kind, rate := range rates {
		if got := float64(create[kind]) / 10000; got < rate*0.8 || got > rate*1.2 {
			t.Errorf("%v came at a rate of %.3f, want %.3f", kind, got, rate)
		}
	}
	if create != draw(1, Call{Verb: "create"}) {
		t.Error("one seed gave two series")
	}
	if get := draw(1, Call{Verb: "get"}); get[TimeoutAfter]+get[QuotaExceeded] != 0 || get[TimeoutBefore] == 0 {
		t.Errorf("faults of a read: %v", get)
	}
}
