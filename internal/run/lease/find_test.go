package lease

import (
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// find returns the only Lease that Find reports.
func (s server) find(t *testing.T, namespace string) *Found {
	t.Helper()
	all, err := Find(t.Context(), s, namespace)
	if err != nil || len(all) != 1 {
		t.Fatalf("found %d Leases, %v", len(all), err)
	}
	return all[0]
}

// TestFoundLeaseTellsWhetherItsHolderLives: a live holder renews the Lease, a killed one does not, and one that stopped
// has given it back, so there is no wait.
func TestFoundLeaseTellsWhetherItsHolderLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		other := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler"}}
		if _, err := s.CoordinationV1().Leases("kube-system").Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		a := s.start(t, "a", logNamed("one", 7))
		a.leads(time.Second)
		if found := s.find(t, ""); found.Judged().Lease != "jobledger/jobledger" || found.Judged().Holder != "a" {
			t.Errorf("found %s, held by %s", found.Judged().Lease, found.Judged().Holder)
		}
		began := time.Now()
		if renewed, err := s.find(t, DefaultNamespace).Renewed(t.Context()); err != nil || !renewed {
			t.Errorf("a lives, and renewed is %t, %v", renewed, err)
		}
		if waited := time.Since(began); waited > 2*DefaultRetryPeriod {
			t.Errorf("that took %s", waited)
		}
		for scope, want := range map[string]int{Everywhere: 1, "batch": 1} {
			if holders, err := Holders(t.Context(), s, scope); err != nil || len(holders) != want {
				t.Errorf("%d hold Leases for %s, %v", len(holders), scope, err)
			}
		}
		a.cut.Store(true) // as if it were killed
		_ = a.ends()
		began = time.Now()
		found := s.find(t, "")
		if renewed, err := found.Renewed(t.Context()); err != nil || renewed {
			t.Errorf("a is dead, and renewed is %t, %v", renewed, err)
		}
		if waited := time.Since(began); waited != DefaultDuration {
			t.Errorf("a dead holder was waited for %s", waited)
		}
		b := s.start(t, "b", logNamed("one", 9))
		b.leads(time.Minute)
		if renewed, err := found.Renewed(t.Context()); err != nil || !renewed {
			t.Errorf("b took the Lease, and renewed is %t, %v", renewed, err)
		}
		b.stop()
		_ = b.ends()
		began = time.Now()
		if renewed, err := s.find(t, "").Renewed(t.Context()); err != nil || renewed || time.Since(began) != 0 {
			t.Errorf("b gave the Lease back, and renewed is %t, %v, after %s", renewed, err, time.Since(began))
		}
		for range 2 { // the second one finds that it is gone
			if err := found.Delete(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if all, err := Find(t.Context(), s, ""); err != nil || len(all) != 0 {
			t.Errorf("found %d Leases, %v", len(all), err)
		}
	})
}
