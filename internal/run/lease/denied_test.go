package lease

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"
)

// deny makes the server forbid such requests from now on.
func (s server) deny(verb, resource string) {
	s.denied.Store(verb+" "+resource, true)
	s.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		s.refused.Add(1)
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "jobledger", errors.New("no role lets you "+verb))
	})
}

// needsNamespace makes the server refuse a Lease in a namespace that does not exist.
func (s server) needsNamespace() {
	s.PrependReactor("create", "leases", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if _, err := s.tracker.Get(corev1.SchemeGroupVersion.WithResource("namespaces"), "", a.GetNamespace()); err != nil {
			return true, nil, apierrors.NewNotFound(corev1.Resource("namespaces"), a.GetNamespace())
		}
		return false, nil, nil
	})
}

// TestALeaseThatMayNotBeHeldIsRefusedInWords: the error comes within seconds, but not at the first answer, because an
// API server that has just started denies everything.
func TestALeaseThatMayNotBeHeldIsRefusedInWords(t *testing.T) {
	making := func(_ *candidate, c *Config) { c.MakeNamespace = true }
	for _, row := range []struct {
		sentence string
		prepare  func(server)
		change   func(*candidate, *Config)
		says     string // empty: it is held
	}{
		{"it may not be read", func(s server) { s.deny("get", "leases") }, making, "no role lets you get"},
		{"it may not be made", func(s server) { s.deny("create", "leases") }, making, "no role lets you create"},
		{"there is no namespace, and it is made", func(s server) { s.needsNamespace() }, making, ""},
		{"there is no namespace, and it may not be made", func(s server) { s.needsNamespace(); s.deny("create", "namespaces") }, making, "there is no namespace jobledger, and it cannot be made"},
		{"there is no namespace, and it is not ours to make", func(s server) { s.needsNamespace() }, func(*candidate, *Config) {}, `namespaces "jobledger" not found`},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				row.prepare(s)
				began := time.Now()
				c := s.start(t, "a", Log{}, row.change)
				if row.says == "" {
					c.leads(time.Second)
					c.stop()
				}
				err := c.ends()
				if row.says == "" {
					if err != nil {
						t.Error(err)
					}
					if _, err := s.CoreV1().Namespaces().Get(t.Context(), DefaultNamespace, metav1.GetOptions{}); err != nil {
						t.Error(err)
					}
					return
				}
				if !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), row.says) {
					t.Errorf("it ended with %v, want ErrDenied and %q", err, row.says)
				}
				if took := time.Since(began); took < deniedPatience || took > 3*deniedPatience {
					t.Errorf("after %s", took)
				}
			})
		})
	}
}

// TestAServerThatHasJustStartedIsWaitedFor: it denies requests for a while, and allows them then.
func TestAServerThatHasJustStartedIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		until := time.Now().Add(deniedPatience - time.Second)
		s.PrependReactor("*", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			if time.Now().Before(until) {
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "jobledger", errors.New("not yet"))
			}
			return false, nil, nil
		})
		c := s.start(t, "a", Log{})
		c.leads(time.Minute)
		c.stop()
		if err := c.ends(); err != nil {
			t.Error(err)
		}
	})
}
