package lease

import (
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// in places the Lease in a namespace, for the Jobs of a scope.
func in(namespace, scope string) func(*candidate, *Config) {
	return func(_ *candidate, c *Config) { c.Namespace, c.Scope = namespace, scope }
}

// TestALeaseForDecadesHoldsUpNobody: somebody makes a Lease in a namespace that claims all Jobs for decades, and never renews it.
func TestALeaseForDecadesHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", logNamed("one", 7), func(k *candidate, c *Config) {
			in("batch", "")(k, c)
			c.Duration = math.MaxInt32 * time.Second
		})
		a.leads(time.Second)
		a.cut.Store(true)
		b := s.start(t, "b", logNamed("two", 1), in(DefaultNamespace, ""))
		b.leads(time.Second)
		began := time.Now()
		said, err := b.Beside(t.Context())
		if err != nil || said != nil {
			t.Errorf("found %+v, %v", said, err)
		}
		if took := time.Since(began); took > time.Minute+2*DefaultRetryPeriod {
			t.Errorf("it took %s", took)
		}
		a.stop()
		b.stop()
		_ = a.ends()
		_ = b.ends()
	})
}

// TestAHolderBesideUsIsFound: one that runs Jobs that are also ours, under a Lease in another namespace, both ways; in seconds
// when it lives, and not at all when it has ended, which takes as long as its Lease is good for.
func TestAHolderBesideUsIsFound(t *testing.T) {
	all, one, other := in(DefaultNamespace, ""), in("batch", "batch"), in("web", "web")
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
		{"for all beside one namespace", one, all, lives, nil, true, 3 * DefaultRetryPeriod},
		{"for the same namespace, elsewhere", in("tools", "batch"), one, lives, nil, true, 3 * DefaultRetryPeriod},
		{"for another namespace", other, one, lives, nil, false, 0},
		{"whose holder was killed", all, one, killed, nil, false, DefaultDuration + 2*DefaultRetryPeriod},
		{"that was given back", all, one, stopped, nil, false, 0},
		{"for all, where only that one may be read", all, one, lives, []string{"list"}, true, 3 * DefaultRetryPeriod},
		{"for all, where it may not be read", all, one, lives, []string{"list", "get"}, false, 0},
		{"for one, where they may not be listed", one, all, lives, []string{"list"}, false, 0},
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
				said, err := b.Beside(t.Context())
				if err != nil {
					t.Fatal(err)
				}
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
				if again, err := b.Beside(t.Context()); err != nil || (again != nil) != row.found || time.Since(began) > 0 {
					t.Errorf("the second time %+v, %v after %s", again, err, time.Since(began))
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
