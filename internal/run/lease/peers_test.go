package lease

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestOfTwoPeersTheEarlierGoesOn: two controllers of all namespaces, with Leases in the two namespaces of the operator,
// start so close together that each takes its Lease before it could find the other. The one that took its Lease later
// does not work, whichever that is and however far their clocks are apart. The other waits for it to end.
func TestOfTwoPeersTheEarlierGoesOn(t *testing.T) {
	for _, first := range OperatorNamespaces {
		for _, renewed := range []bool{false, true} { // before they look
			second := OperatorNamespaces[0]
			if first == second {
				second = OperatorNamespaces[1]
			}
			t.Run(first, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newServer()
					a := s.start(t, "a", logNamed("one", 7), in(first, ""))
					a.leads(time.Second)
					b := s.start(t, "b", logNamed("two", 7), in(second, ""))
					b.leads(time.Second)
					if renewed {
						time.Sleep(3 * DefaultRetryPeriod)
					}
					found := make(chan Beside, 1)
					go func() { // ends when b has
						beside, err := a.Beside(t.Context())
						if err != nil {
							t.Error(err)
						}
						found <- beside
					}()
					late, err := b.Beside(t.Context())
					if err != nil || late.Above == nil || late.Above.Holder != "a" {
						t.Fatalf("b found %+v, %v", late, err)
					}
					b.stop()
					_ = b.ends()
					if beside := <-found; beside.Above != nil || len(beside.Others) > 0 {
						t.Errorf("a found %+v", beside)
					}
					time.Sleep(time.Minute)
					if !a.Holds() {
						t.Error("a lost its Lease")
					}
					a.stop()
					_ = a.ends()
				})
			})
		}
	}
}

// TestAPeerThatDoesNotYieldIsNotWorkedBeside: two never work at once, even if the other one should have yielded.
func TestAPeerThatDoesNotYieldIsNotWorkedBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", logNamed("one", 7), in(DefaultNamespace, ""))
		a.leads(time.Second)
		b := s.start(t, "b", logNamed("two", 7), in(SystemNamespace, "")) // and does not look
		b.leads(time.Second)
		if found, err := a.Beside(t.Context()); err != nil || found.Above == nil || found.Above.Holder != "b" {
			t.Errorf("found %+v, %v", found, err)
		}
		for _, c := range []*candidate{a, b} {
			c.stop()
			_ = c.ends()
		}
	})
}

// TestWhoTakesItsLeaseAnewYieldsToAPeer: a holder takes its Lease again after it was deleted, or was not renewed in
// time. It counts as the later one then.
func TestWhoTakesItsLeaseAnewYieldsToAPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", logNamed("one", 7), in(DefaultNamespace, ""))
		a.leads(time.Second)
		if found, err := a.Beside(t.Context()); err != nil || found.Above != nil {
			t.Fatalf("found %+v, %v", found, err)
		}
		time.Sleep(time.Minute + DefaultRetryPeriod/2)
		if err := s.CoordinationV1().Leases(DefaultNamespace).Delete(t.Context(), UsualName, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		b := s.start(t, "b", logNamed("two", 1), in(SystemNamespace, ""))
		if found, err := b.Beside(t.Context()); err != nil || found.Above != nil {
			t.Fatalf("found %+v, %v", found, err)
		}
		b.leads(time.Second)
		began := time.Now()
		var outranked *OutrankedError
		if err := a.ends(); !errors.As(err, &outranked) || outranked.By.Holder != "b" {
			t.Errorf("a ended with %v", err)
		}
		if took := time.Since(began); took > 2*DefaultRetryPeriod {
			t.Errorf("a ended after %s", took)
		}
		b.stop()
		_ = b.ends()
	})
}

// TestWhoseLeaseAnotherTookSendsNothing: the Lease was deleted, and another took it before the next renewal.
func TestWhoseLeaseAnotherTookSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", logNamed("one", 7))
		a.leads(time.Second)
		work, done := a.Within(t.Context())
		defer done()
		time.Sleep(time.Minute + DefaultRetryPeriod/2)
		if err := s.CoordinationV1().Leases(DefaultNamespace).Delete(t.Context(), UsualName, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		b := s.start(t, "b", logNamed("two", 1))
		b.leads(time.Second)
		began := time.Now()
		<-work.Done()
		if took := time.Since(began); took > 2*DefaultRetryPeriod {
			t.Errorf("a goes on for %s", took)
		}
		if err := a.ends(); !errors.Is(err, ErrLost) {
			t.Errorf("a ended with %v", err)
		}
		b.stop()
		_ = b.ends()
	})
}

// TestWhoMayNotLookDoesNotWork: a controller may not read a Lease that may rank above its own. The error names that
// Lease, and does not come at the first answer.
func TestWhoMayNotLookDoesNotWork(t *testing.T) {
	for _, place := range [][2]string{{"batch", "batch"}, {DefaultNamespace, ""}, {SystemNamespace, ""}} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			a := s.start(t, "a", logNamed("one", 7), in(place[0], place[1]))
			a.leads(time.Second)
			s.deny("get", "leases")
			began := time.Now()
			_, err := a.Beside(t.Context())
			if took := time.Since(began); !errors.Is(err, ErrBlind) || !strings.Contains(err.Error(), "/jobledger may not be read") || took < deniedPatience {
				t.Errorf("%s: %v after %s", place, err, took)
			}
			a.stop()
			_ = a.ends()
		})
	}
}

// TestStranger: a controller with a log that no Lease names finds any live controller that runs the same Jobs with
// another log.
func TestStranger(t *testing.T) {
	all, batch, web := in(DefaultNamespace, ""), in("batch", "batch"), in("web", "web")
	for _, row := range []struct {
		sentence   string
		held, ours func(*candidate, *Config)
		claims     string // what the tenant of "web" claims; empty for none
		dead       bool
		log        string // ours
		found      string // its holder; empty for nobody
	}{
		{"no log yet, beside all", all, in(SystemNamespace, ""), "", false, "", "a"},
		{"another log, beside all", all, in(SystemNamespace, ""), "", false, "two", "a"},
		{"the log that runs there", all, in(SystemNamespace, ""), "", false, "one", ""},
		{"no log, beside one that was killed", all, in(SystemNamespace, ""), "", true, "", ""},
		{"no log, for all beside one namespace", batch, all, "", false, "", "a"},
		{"no log, for one namespace beside another", web, batch, "", false, "", ""},
		{"no log, beside a tenant's for all", web, all, "*", false, "", "mallory"},
		{"no log, for one namespace, beside another's for all", web, batch, "*", false, "", "mallory"},
		{"the tenant's log", web, all, "web", false, "forged", ""},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				if row.claims != "" {
					defer s.forge(t, "web", row.claims, true)()
				} else {
					a := s.start(t, "a", logNamed("one", 7), row.held)
					a.leads(time.Second)
					a.cut.Store(row.dead)
					defer func() { a.stop(); _ = a.ends() }()
				}
				b, err := New(s.config(t, row.ours))
				if err != nil {
					t.Fatal(err)
				}
				found, err := b.Stranger(t.Context(), row.log)
				if err != nil || (found != nil) != (row.found != "") || found != nil && found.Holder != row.found {
					t.Errorf("found %+v, %v", found, err)
				}
			})
		})
	}
}

// config returns the settings of a controller that does not run.
func (s server) config(t *testing.T, change func(*candidate, *Config)) Config {
	t.Helper()
	c := Config{
		Client: s, Namespace: DefaultNamespace, Identity: "b",
		Duration: DefaultDuration, RenewDeadline: DefaultRenewDeadline, RetryPeriod: DefaultRetryPeriod,
	}
	change(nil, &c)
	return c
}
