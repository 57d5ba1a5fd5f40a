package lease

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// in places the Lease in a namespace, for the Jobs of a scope.
func in(namespace, scope string) func(*candidate, *Config) {
	return func(_ *candidate, c *Config) { c.Namespace, c.Scope = namespace, scope }
}

// forge is a tenant that writes a Lease into its namespace, for Jobs of that scope, valid for decades. If renews, it
// renews the Lease until it is stopped.
func (s server) forge(t *testing.T, namespace, scope string, renews bool) (stop func()) {
	t.Helper()
	client, decades := s.CoordinationV1().Leases(namespace), int32(math.MaxInt32)
	object := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: UsualName, ResourceVersion: "1",
			Annotations: map[string]string{ScopeAnnotation: scope, LogIDAnnotation: "forged", TakenAnnotation: "1"},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: new("mallory"), LeaseDurationSeconds: &decades, RenewTime: &metav1.MicroTime{Time: time.Now()}},
	}
	ctx := t.Context()
	object, err := client.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	ended.Go(func() { // ends when it is stopped
		for renews {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
			object = object.DeepCopy()
			object.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
			if object, err = client.Update(context.WithoutCancel(ctx), object, metav1.UpdateOptions{}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	return func() { cancel(); ended.Wait() }
}

// TestATenantsLeaseStopsNobody: a tenant holds a Lease of our name in its namespace, for any scope, renewed or valid
// for decades. A controller that starts waits for two minutes at most, then leads, and names the Lease if it is
// renewed. It does not wait for a Lease that claims Jobs outside its namespace. A controller that runs is not
// disturbed.
func TestATenantsLeaseStopsNobody(t *testing.T) {
	all, system, batch := in(DefaultNamespace, ""), in(SystemNamespace, ""), in("batch", "batch")
	for _, row := range []struct {
		sentence string
		ours     func(*candidate, *Config)
		scope    string // that the tenant of "web" claims
		renews   bool
		within   time.Duration
		named    bool
	}{
		{"its own Jobs, beside the controller of all", all, "web", true, MostDurationOfOther, true},
		{"its own Jobs, beside the controller of all in kube-system", system, "web", true, MostDurationOfOther, true},
		{"its own Jobs, for decades, and never renews it", all, "web", false, MostDurationOfOther, false},
		{"all Jobs, beside the controller of all", all, Everywhere, true, 0, false},
		{"the Jobs of another namespace, beside the controller of all", all, "batch", true, 0, false},
		{"all Jobs, beside the controller of another namespace", batch, Everywhere, true, 0, false},
		{"the Jobs of another namespace, beside its controller", batch, "batch", true, 0, false},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				defer s.forge(t, "web", row.scope, row.renews)()
				a := s.start(t, "a", logNamed("one", 7), row.ours)
				a.leads(time.Second)
				began := time.Now()
				found, err := a.Beside(t.Context())
				if err != nil || found.Above != nil {
					t.Fatalf("found %+v, %v", found, err)
				}
				if took := time.Since(began); took > row.within+2*DefaultRetryPeriod || took < row.within {
					t.Errorf("it took %s", took)
				}
				if named := len(found.Others) == 1 && found.Others[0].Holder == "mallory"; named != row.named {
					t.Errorf("others: %+v", found.Others)
				}
				defer s.forge(t, "more", "more", true)() // while it runs
				time.Sleep(DefaultDuration)
				if !a.Holds() || a.isLost() {
					t.Errorf("holds %t, lost %t", a.Holds(), a.isLost())
				}
				a.stop()
				if err := a.ends(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestLeasesThatComeOneAfterTheOther: tenants of many namespaces take Leases in turn. They delay the start once, not
// once each.
func TestLeasesThatComeOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		defer s.forge(t, "web", "web", true)()
		a := s.start(t, "a", logNamed("one", 7), in(DefaultNamespace, ""))
		a.leads(time.Second)
		began := time.Now()
		go func() { // ends with the test
			for i := range 3 {
				time.Sleep(time.Minute / 2)
				name := "team-" + strconv.Itoa(i)
				t.Cleanup(s.forge(t, name, name, true))
			}
		}()
		if found, err := a.Beside(t.Context()); err != nil || found.Above != nil || time.Since(began) > MostDurationOfOther+2*DefaultRetryPeriod {
			t.Errorf("found %+v, %v after %s", found, err, time.Since(began))
		}
		a.stop()
		_ = a.ends()
	})
}

// TestWhoIsOutrankedEnds: a controller of one namespace leads, and one of all namespaces is started. The first sends
// nothing any more by the time the second has waited, even if the API server does not answer it. It ends with an error
// that names the second.
func TestWhoIsOutrankedEnds(t *testing.T) {
	for _, row := range []struct {
		sentence string
		ours     func(*candidate, *Config)
		theirs   string
		disturb  func(server)
		slow     bool // it ends when its Lease is no longer good
		blind    bool // the other cannot see when it has ended
	}{
		{"and sees it with its next renewals", in("batch", "batch"), DefaultNamespace, func(server) {}, false, false},
		{"for whom the API server lists no Leases", in("batch", "batch"), DefaultNamespace, func(s server) { s.deny("list", "leases") }, false, true},
		{"beside one in kube-system", in("batch", "batch"), SystemNamespace, func(server) {}, false, false},
		{"and cannot look", in("batch", "batch"), DefaultNamespace, func(s server) {
			s.PrependReactor("get", "leases", func(a clienttesting.Action) (bool, runtime.Object, error) {
				return a.GetNamespace() == DefaultNamespace, nil, errors.New("no answer")
			})
		}, true, false},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				a := s.start(t, "a", logNamed("one", 7), row.ours)
				a.leads(time.Second)
				if found, err := a.Beside(t.Context()); err != nil || found.Above != nil {
					t.Fatalf("found %+v, %v", found, err)
				}
				time.Sleep(time.Minute + DefaultRetryPeriod/2) // between two renewals, so that it looks after it was disturbed
				work, done := a.Within(t.Context())
				defer done()
				began := time.Now()
				b := s.start(t, "b", logNamed("two", 1), in(row.theirs, ""))
				b.leads(time.Second)
				found := make(chan Beside, 1)
				go func() { // ends within the time that it waits
					beside, err := b.Beside(t.Context())
					if err != nil {
						t.Error(err)
					}
					found <- beside
				}()
				synctest.Wait()
				row.disturb(s)
				<-work.Done()
				if took := time.Since(began); took > DefaultRenewDeadline || !row.slow && took > DefaultRetryPeriod*2 {
					t.Errorf("what it does ends after %s", took)
				}
				err := a.ends()
				var outranked *OutrankedError
				if row.slow {
					if !errors.Is(err, ErrLost) {
						t.Errorf("it ended with %v", err)
					}
				} else if !errors.As(err, &outranked) || outranked.By.Holder != "b" || outranked.By.LogID != "two" || !a.isLost() {
					t.Errorf("it ended with %v", err)
				}
				if said, err := a.Read(t.Context()); err != nil || !row.slow && said.Holder != "" {
					t.Errorf("its Lease says %+v, %v", said, err)
				}
				if beside := <-found; beside.Above != nil || len(beside.Others) > 0 {
					t.Errorf("found %+v", beside)
				}
				took := time.Since(began)
				if took > DefaultDuration+2*DefaultRetryPeriod || !row.slow && !row.blind && took > 4*DefaultRetryPeriod {
					t.Errorf("the other goes on after %s", took)
				}
				b.stop()
				_ = b.ends()
			})
		})
	}
}

// TestAHolderBesideUsIsFound: another controller runs some of our Jobs, under a Lease in another namespace that ranks
// above ours. If it lives, it is found in seconds. If it has ended, it is not reported; that takes as long as its Lease
// is valid.
func TestAHolderBesideUsIsFound(t *testing.T) {
	all, one, other := in(DefaultNamespace, ""), in("batch", "batch"), in("web", "web")
	system := in(SystemNamespace, "")
	lives, killed, stopped := "lives", "was killed", "stopped"
	for _, row := range []struct {
		sentence   string
		held, ours func(*candidate, *Config)
		holder     string // what it does
		denied     []string
		found      bool
		within     time.Duration
	}{
		{"for one namespace beside all", all, one, lives, nil, true, 3 * DefaultRetryPeriod},
		{"for one namespace beside all, in kube-system", system, one, lives, nil, true, 3 * DefaultRetryPeriod},
		{"for all beside all, in kube-system", system, all, lives, nil, true, 3 * DefaultRetryPeriod},
		{"for all, in kube-system, beside all", all, system, lives, nil, true, 3 * DefaultRetryPeriod},
		{"for the same namespace, in the operator's", in(DefaultNamespace, "batch"), one, lives, nil, true, 3 * DefaultRetryPeriod},
		{"for all, beside one namespace in kube-system", in(SystemNamespace, "batch"), all, lives, nil, true, 3 * DefaultRetryPeriod},
		{"for another namespace, in the operator's", in(DefaultNamespace, "web"), one, lives, nil, false, 0},
		{"for another namespace", other, one, lives, nil, false, 0},
		{"whose holder was killed", all, one, killed, nil, false, DefaultDuration + 2*DefaultRetryPeriod},
		{"in kube-system, whose holder was killed", system, all, killed, nil, false, DefaultDuration + 2*DefaultRetryPeriod},
		{"that was given back", all, one, stopped, nil, false, 0},
		{"for all, where only that one may be read", all, one, lives, []string{"list"}, true, 3 * DefaultRetryPeriod},
		{"for one, that may not be listed: it has ended soon", one, all, killed, []string{"list"}, false, DefaultDuration + 2*DefaultRetryPeriod},
		{"for one, that was given back", one, all, stopped, nil, false, 0},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				a := s.start(t, "a", logNamed("one", 7), row.held)
				a.leads(time.Second)
				time.Sleep(time.Minute)
				switch row.holder {
				case killed:
					a.cut.Store(true)
				case stopped:
					a.stop()
					_ = a.ends()
				}
				b := s.start(t, "b", logNamed("two", 1), row.ours)
				b.leads(time.Second) // it has a Lease of its own
				for _, verb := range row.denied {
					s.deny(verb, "leases")
				}
				began := time.Now()
				found, err := b.Beside(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				said := found.Above
				if took := time.Since(began); took > row.within {
					t.Errorf("it took %s, want at most %s", took, row.within)
				}
				if (said != nil) != row.found {
					t.Errorf("found %+v, want any: %t", said, row.found)
				}
				if said != nil && (said.Holder != "a" || said.LogID != "one") {
					t.Errorf("found %+v", said)
				}
				began = time.Now()
				if again, err := b.Beside(t.Context()); err != nil || (again.Above != nil) != row.found || time.Since(began) > 0 {
					t.Errorf("the second time %+v, %v after %s", again, err, time.Since(began))
				}
				time.Sleep(2 * time.Minute) // its Lease is renewed meanwhile, which looks as well
				if n := s.refused.Load(); n > 0 {
					t.Errorf("%d requests were refused: it asks for what it may not", n)
				}
				a.stop()
				b.stop()
				if row.holder != stopped {
					_ = a.ends()
				}
				_ = b.ends()
			})
		})
	}
}
