package lease

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

// TestWhoHasTheLockTakesOverAtOnce: the holder was killed. A process that locks the same file, with the log that the
// Lease names, knows that the holder has ended. Any other process waits until the Lease expires, because the holder may
// live.
func TestWhoHasTheLockTakesOverAtOnce(t *testing.T) {
	const lock = "boot-a/2049/77"
	held := logNamed("one", 7).at(lock)
	epoch, hash := held, held
	epoch.Epoch++
	hash.Hash[0]++
	for _, row := range []struct {
		sentence string
		held     Log
		own      Log
		at       bool // once
	}{
		{"the same log, which has got no further", held, held, true},
		{"the same log, which has got further since the newest renewal", held, logNamed("one", 9).at(lock), true},
		{"a copy: another file", held, held.at("boot-a/2049/78"), false},
		{"another device", held, held.at("boot-a/2050/77"), false},
		{"the machine was started anew, or is another", held, held.at("boot-b/2049/77"), false},
		{"it cannot be told which file the holder has", held.at(""), held, false},
		{"it cannot be told which file this process has", held, held.at(""), false},
		{"neither can be told", held.at(""), held.at(""), false},
		{"another log under the same lock", held, logNamed("two", 9).at(lock), false},
		{"another epoch", held, epoch, false},
		{"it ends before what the Lease names", held, logNamed("one", 6).at(lock), false},
		{"the record that the Lease names is another", held, hash, false},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				a := s.start(t, "a", row.held)
				a.leads(time.Second)
				time.Sleep(time.Minute)
				a.cut.Store(true) // killed
				b := s.start(t, "b", row.own)
				if row.at {
					b.leads(time.Millisecond)
				} else {
					b.waits(DefaultDuration - time.Millisecond)
					b.leads(2 * 2 * DefaultRetryPeriod)
				}
				if said, err := b.Read(t.Context()); err != nil || said.Holder != "b" || said.Log != row.own {
					t.Errorf("the Lease says %+v, %v", said, err)
				}
				a.stop()
				_ = a.ends()
				b.stop()
				_ = b.ends()
			})
		})
	}
}

// TestTheLeaseSaysWhoseJobsItIsFor: the scope and the log are written when the Lease is taken, when it is renewed, and
// after it was deleted.
func TestTheLeaseSaysWhoseJobsItIsFor(t *testing.T) {
	for scope, want := range map[string]string{"": "*", "batch": "batch"} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			own, namespace := logNamed("one", 7).at("boot/1/2").in("events/6f", "d1"), cmp.Or(scope, DefaultNamespace)
			a := s.start(t, "a", own, in(namespace, scope))
			says := func(when string) {
				t.Helper()
				object, err := s.CoordinationV1().Leases(namespace).Get(t.Context(), "jobledger", metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				wants := map[string]string{
					ScopeAnnotation: want, LogIDAnnotation: "one", MarkAnnotation: "1", EpochAnnotation: "1", HeadAnnotation: "7",
					HashAnnotation: "07" + zeros(62), LockAnnotation: "boot/1/2", StreamAnnotation: "events/6f",
					ReplicaAnnotation: "d1",
				}
				for key, value := range wants {
					if got := object.Annotations[key]; got != value {
						t.Errorf("%s: %s is %q, want %q", when, key, got, value)
					}
				}
				if said := saidBy(object); said.Log != own || said.Scope != want || said.Holder != "a" || said.Lease != namespace+"/jobledger" {
					t.Errorf("%s: read back it says %+v", when, said)
				}
			}
			a.leads(time.Second)
			says("taken")
			time.Sleep(time.Minute)
			says("renewed")
			if err := s.CoordinationV1().Leases(namespace).Delete(t.Context(), "jobledger", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * DefaultRetryPeriod)
			says("made again")
			a.stop()
			_ = a.ends()
		})
	}
}

// TestWhoIsNotReadyTakesNoLease: a process that is not ready makes no Lease, and does not take one that has expired or
// was given back. Once it is ready, it takes the Lease. A renewal does not ask again.
func TestWhoIsNotReadyTakesNoLease(t *testing.T) {
	notReady := func(c *candidate, _ *Config) { err := errors.New("behind"); c.unready.Store(&err) }
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		b := s.start(t, "b", logNamed("one", 3), notReady)
		b.waits(time.Minute)
		leases := s.CoordinationV1().Leases(DefaultNamespace)
		if _, err := leases.Get(t.Context(), UsualName, getOptions); !apierrors.IsNotFound(err) {
			t.Errorf("the Lease is read: %v", err)
		}
		a := s.start(t, "a", logNamed("one", 7))
		a.leads(time.Second)
		a.cut.Store(true)
		if err := a.ends(); !errors.Is(err, ErrLost) {
			t.Error(err)
		}
		b.waits(time.Minute) // it has expired
		if object, err := leases.Get(t.Context(), UsualName, getOptions); err != nil || saidBy(object).Holder != "a" {
			t.Errorf("the Lease is %v, %v", object, err)
		}
		if before := b.asked.Load(); before.Head != 7 || before.Holder != "a" {
			t.Errorf("it was asked with %+v", before)
		}
		b.unready.Store(nil)
		b.leads(2 * DefaultRetryPeriod)
		notReady(b, nil)
		time.Sleep(time.Minute) // it renews
		if !b.Holds() {
			t.Error("the Lease is lost")
		}
		b.stop()
		if err := b.ends(); err != nil {
			t.Error(err)
		}
	})
}

func zeros(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0'
	}
	return string(b)
}

// TestOneThatWaitsIsRefusedOnceItMustBe: a process with a copy of a log waits for a holder that may have ended. When
// the holder goes on, the copy is older than the log, and the process ends with that error.
func TestOneThatWaitsIsRefusedOnceItMustBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", logNamed("one", 7))
		a.leads(time.Second)
		b := s.start(t, "b", logNamed("one", 7))
		b.waits(time.Minute)
		older := errors.New("an older copy")
		b.refuseFrom(older)
		began := time.Now()
		if err := b.ends(); !errors.Is(err, older) || time.Since(began) > 3*DefaultRetryPeriod {
			t.Errorf("b ended with %v after %s", err, time.Since(began))
		}
		if b.found.Holder != "a" {
			t.Errorf("b was refused for %+v", b.found)
		}
		if !a.Holds() {
			t.Error("a lost the Lease to one who is refused")
		}
		a.stop()
		_ = a.ends()
	})
}

// TestAHolderIsNotTakenForEnded: this process has the LOCK of an earlier holder. A later holder has another LOCK, so it
// is not taken for ended, whatever the Lease said before.
func TestAHolderIsNotTakenForEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		killed := s.start(t, "killed", logNamed("one", 7).at("boot/1/2"))
		killed.leads(time.Second)
		killed.cut.Store(true)
		copied := s.start(t, "copied", logNamed("one", 7).at("boot/1/3"))
		copied.leads(time.Minute)
		back := s.start(t, "back", logNamed("one", 7).at("boot/1/2"))
		back.waits(5 * time.Minute)
		if !copied.Holds() || back.Holds() {
			t.Errorf("holds: the copy %t, the other %t", copied.Holds(), back.Holds())
		}
		for _, c := range []*candidate{killed, copied, back} {
			c.stop()
			_ = c.ends()
		}
	})
}

func (c *candidate) refuseFrom(err error) {
	synctest.Wait()
	c.admit.Store(&err)
}

// TestRunHearsOfAStopWhileItWaits: it also hears of the end of the test's context.
func TestRunHearsOfAStopWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a := s.start(t, "a", Log{Identity: events.Identity{LogID: "one"}})
		a.leads(time.Second)
		b := s.start(t, "b", Log{})
		b.waits(time.Second)
		if _, err := b.Beside(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Beside after a stop: %v", err)
		}
		b.stop()
		if err := b.ends(); err != nil {
			t.Error(err)
		}
		a.stop()
		_ = a.ends()
	})
}
