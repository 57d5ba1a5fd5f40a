package lease

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"

	"github.com/jobledger/jobledger/events"
)

// server keeps a Lease.
type server struct {
	*fake.Clientset
	tracker clienttesting.ObjectTracker
	denied  *sync.Map      // "verb resource"
	refused *atomic.Int32  // requests so far
	version *atomic.Uint64 // of the newest write
	writing *sync.Mutex    // held while a write is compared and stored, so that of two only one finds the Lease unchanged
}

// newServer makes a server that answers reviews of access: all is allowed except denied requests. It keeps no managed
// fields. fake.NewClientset keeps them, and prepares all types of Kubernetes anew for each write: 30 of 31 seconds of
// these tests.
func newServer() server {
	s := server{
		Clientset: &fake.Clientset{}, denied: new(sync.Map), refused: new(atomic.Int32), version: new(atomic.Uint64),
		tracker: clienttesting.NewObjectTracker(scheme.Scheme, scheme.Codecs.UniversalDecoder()), writing: new(sync.Mutex),
	}
	s.AddReactor("*", "*", clienttesting.ObjectReaction(s.tracker))
	s.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
		_, denied := s.denied.Load(review.Spec.ResourceAttributes.Verb + " " + review.Spec.ResourceAttributes.Resource)
		review.Status.Allowed = !denied
		return true, review, nil
	})
	return s
}

// changed reports whether a Lease has changed since the caller of an update read it.
func (s server) changed(a clienttesting.Action, object metav1.Object) bool {
	if a.GetVerb() != "update" || a.GetResource().Resource != "leases" {
		return false
	}
	stored, err := s.tracker.Get(a.GetResource(), a.GetNamespace(), object.GetName())
	if err != nil {
		return false // it is not there, which the update says
	}
	now, err := meta.Accessor(stored)
	return err == nil && now.GetResourceVersion() != object.GetResourceVersion()
}

// candidate is a process that wants the Lease.
type candidate struct {
	*Lease
	t       *testing.T
	cut     atomic.Bool           // the server does not answer it
	leading chan Said             // is sent what it found before, when it begins to lead
	ended   chan error            // is sent what Run returned
	stop    func()                // asks it to end
	finish  chan struct{}         // closed to let Lead return though its context goes on
	admit   atomic.Pointer[error] // what Admit returns; nil for none
	found   Said                  // by the newest Admit
	unready atomic.Pointer[error] // what Ready returns; nil for none
	asked   atomic.Pointer[Said]  // by the newest Ready
	looks   atomic.Int32          // calls of Admit
	freed   chan struct{}
	asleep  atomic.Int64 // how long the machine was suspended, of which Go's clock knows nothing
	booted  time.Time
	lostAt  time.Time // when Lead's context ended with ErrLost
}

// start starts a candidate for the Lease with that log.
func (s server) start(t *testing.T, identity string, own Log, change ...func(*candidate, *Config)) *candidate {
	t.Helper()
	c := &candidate{
		t: t, leading: make(chan Said, 1), ended: make(chan error, 1), finish: make(chan struct{}), booted: time.Now(),
		freed: make(chan struct{}, 1),
	}
	client := &fake.Clientset{}
	client.AddReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if c.cut.Load() {
			return true, nil, errors.New("no answer")
		}
		if write, is := a.(clienttesting.CreateAction); is { // as an update is, too
			s.writing.Lock()
			defer s.writing.Unlock()
			if object, err := meta.Accessor(write.GetObject()); err == nil {
				if s.changed(a, object) {
					return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "leases"}, object.GetName(), errors.New("it was changed"))
				}
				object.SetResourceVersion(strconv.FormatUint(s.version.Add(1), 10))
			}
		}
		object, err := s.Invokes(a, nil)
		return true, object, err
	})
	config := Config{
		Client: client, Namespace: DefaultNamespace, Identity: identity,
		Duration: DefaultDuration, RenewDeadline: DefaultRenewDeadline, RetryPeriod: DefaultRetryPeriod,
		Logger: slog.New(slog.DiscardHandler), Boot: c.sinceBoot,
	}
	for _, f := range change {
		f(c, &config)
	}
	var err error
	if c.Lease, err = New(config); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c.stop = cancel
	go func() { // ends with ctx, or the Lease
		c.ended <- c.Run(ctx, Bid{
			Log:   func() Log { return own },
			Freed: c.freed,
			Admit: func(before Said) error {
				c.looks.Add(1)
				c.found = before
				if err := c.admit.Load(); err != nil {
					return *err
				}
				return nil
			},
			Ready: func(before Said) error {
				c.asked.Store(&before)
				if err := c.unready.Load(); err != nil {
					return *err
				}
				return nil
			},
			Lead: func(ctx context.Context) error {
				c.leading <- c.found
				select {
				case <-ctx.Done():
					if errors.Is(context.Cause(ctx), ErrLost) {
						c.lostAt = time.Now()
					}
				case <-c.finish:
				}
				return nil
			},
		})
	}()
	return c
}

// sinceBoot is the clock that goes on while the machine is suspended.
func (c *candidate) sinceBoot() time.Duration {
	return time.Since(c.booted) + time.Duration(c.asleep.Load())
}

// admitting makes Admit return an error.
func admitting(err error) func(*candidate, *Config) {
	return func(c *candidate, _ *Config) { c.admit.Store(&err) }
}

// leads fails the test unless the candidate leads within the time. It returns the Lease's earlier contents.
func (c *candidate) leads(within time.Duration) Said {
	c.t.Helper()
	select {
	case before := <-c.leading:
		return before
	case <-time.After(within):
		c.t.Fatalf("%s does not lead within %s", c.config.Identity, within)
		return Said{}
	}
}

func (c *candidate) waits(period time.Duration) {
	c.t.Helper()
	select {
	case <-c.leading:
		c.t.Fatalf("%s leads", c.config.Identity)
	case <-time.After(period):
	}
}

func (c *candidate) ends() error {
	c.t.Helper()
	select {
	case err := <-c.ended:
		return err
	case <-time.After(time.Minute):
		c.t.Fatalf("%s does not end", c.config.Identity)
		return nil
	}
}

func logNamed(id string, head events.Sequence) Log {
	return Log{Identity: events.Identity{LogID: id, Epoch: 1}, Head: head, Hash: events.Hash{byte(head)}}
}

// at returns the log with that LOCK file.
func (l Log) at(lock string) Log { l.Lock = lock; return l }

// in returns the log with that stream.
func (l Log) in(stream, replica string) Log { l.Stream, l.Replica = stream, replica; return l }

// O-022: a holder that stops in good order gives the Lease back once it is done, so the next one need not wait until it
// expires.
// O-023: one leads at a time.
//
// TestOneLeadsAtATime lets a second candidate wait for the first.
func TestOneLeadsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", logNamed("one", 7))
		if before := a.leads(time.Second); before != (Said{}) {
			t.Errorf("a new Lease says %+v of a log", before)
		}
		synctest.Wait() // and no time passes
		if said, err := a.Read(t.Context()); err != nil || said.Log != logNamed("one", 7) {
			t.Errorf("the Lease says %+v, %v", said, err)
		}
		b := s.start(t, "b", logNamed("one", 9))
		b.waits(5 * time.Minute)
		if !a.Holds() || b.Holds() {
			t.Errorf("holds: a %t, b %t", a.Holds(), b.Holds())
		}
		a.stop()
		if err := a.ends(); err != nil {
			t.Errorf("a: %v", err)
		}
		if before := b.leads(2 * DefaultRetryPeriod * 2); before.Log != logNamed("one", 7) {
			t.Errorf("b found %+v", before)
		}
		if a.Holds() || a.isLost() {
			t.Error("a holds the Lease, or lost it, though it gave it back")
		}
		b.stop()
		if err := b.ends(); err != nil {
			t.Errorf("b: %v", err)
		}
	})
}

// O-022: if the holder did not give the Lease back, the next one waits until it expires.
// O-023: a holder that cannot renew the Lease stops before another can have it.
//
// TestLossIsKnownBeforeAnotherLeads cuts the holder off.
func TestLossIsKnownBeforeAnotherLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", logNamed("one", 7))
		a.leads(time.Second)
		b := s.start(t, "b", logNamed("one", 9))
		b.waits(time.Minute)
		cut := time.Now()
		a.cut.Store(true)
		for a.Holds() {
			if time.Since(cut) > DefaultRenewDeadline {
				t.Fatalf("a holds the Lease for %s without an answer", time.Since(cut))
			}
			time.Sleep(100 * time.Millisecond)
		}
		if err := a.ends(); !errors.Is(err, ErrLost) || !a.isLost() {
			t.Errorf("a ended with %v", err)
		}
		b.leads(DefaultDuration + 2*DefaultRetryPeriod)
		if a.lostAt.IsZero() || !a.lostAt.Before(time.Now()) {
			t.Errorf("a was told at %s, b leads at %s", a.lostAt, time.Now())
		}
		if waited := time.Since(cut); waited < DefaultDuration-DefaultRetryPeriod {
			t.Errorf("b leads after %s already", waited)
		}
		b.stop()
		_ = b.ends()
	})
}

// TestWhatTheLeaseSaysOfALog: the design's "the Lease carries ID, epoch and head". A candidate that refuses to lead
// changes nothing of it.
func TestWhatTheLeaseSaysOfALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", logNamed("one", 7))
		a.leads(time.Second)
		time.Sleep(10 * time.Second) // renewals
		if said, err := a.Read(t.Context()); err != nil || said.Log != logNamed("one", 7) {
			t.Errorf("the Lease says %+v, %v", said, err)
		}
		a.stop()
		_ = a.ends()
		refused := errors.New("another log")
		b := s.start(t, "b", logNamed("three", 1), admitting(refused))
		if err := b.ends(); !errors.Is(err, refused) || b.found.Log != logNamed("one", 7) || b.found.Holder != "" {
			t.Errorf("b ended with %v, and found %+v", err, b.found)
		}
		c := s.start(t, "c", logNamed("two", 1))
		if before := c.leads(10 * time.Second); before.Log != logNamed("one", 7) {
			t.Errorf("c found %+v", before)
		}
		time.Sleep(10 * time.Second)
		if said, err := c.Read(t.Context()); err != nil || said.Log != logNamed("two", 1) {
			t.Errorf("the Lease says %+v, %v", said, err)
		}
		c.stop()
		_ = c.ends()
	})
}

// TestStandbyEnds: a candidate that waits ends at once, and does not change the Lease.
func TestStandbyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", Log{})
		a.leads(time.Second)
		b := s.start(t, "b", Log{})
		b.waits(10 * time.Second)
		b.stop()
		began := time.Now()
		if err := b.ends(); err != nil || time.Since(began) > time.Second {
			t.Errorf("b ended with %v after %s", err, time.Since(began))
		}
		if !a.Holds() {
			t.Error("a lost the Lease to one who did not have it")
		}
		a.stop()
		_ = a.ends()
	})
}

// O-020: the timing of the Lease is that of kube-controller-manager, which operators know.
func TestTimingThatOperatorsKnow(t *testing.T) {
	want := []time.Duration{15 * time.Second, 10 * time.Second, 2 * time.Second}
	if got := []time.Duration{DefaultDuration, DefaultRenewDeadline, DefaultRetryPeriod}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestUsersAreTold: an Event on the Lease says who became leader (O-020).
func TestUsersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", Log{})
		a.leads(time.Second)
		time.Sleep(time.Second) // an Event's name is its time
		a.stop()
		_ = a.ends()
		synctest.Wait()
		list, err := s.CoreV1().Events(DefaultNamespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, e := range list.Items {
			if e.Reason != "LeaderElection" || e.Type != corev1.EventTypeNormal || e.InvolvedObject.Kind != "Lease" {
				t.Errorf("Event %+v", e)
			}
			told = append(told, e.Message)
		}
		if all := strings.Join(told, ", "); !strings.Contains(all, "a became leader") {
			t.Errorf("told: %s", all)
		}
	})
}

// TestWorkIsBoundedByTheLease: work within the Lease goes on while it is renewed. It ends when the Lease may no longer
// be held, also while a stop drains: before client-go has noticed the loss, and before another can lead (O-023).
func TestWorkIsBoundedByTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		const retry = 1500 * time.Millisecond // a try comes after the lapse, at 10.5 s, and before the loss, at 11.5 s
		a := s.start(t, "a", Log{}, func(_ *candidate, c *Config) { c.RetryPeriod = retry })
		a.leads(time.Second)
		work, done := a.Within(t.Context())
		defer done()
		time.Sleep(10 * time.Minute)
		if err := work.Err(); err != nil {
			t.Fatalf("the Lease is renewed all the time, and the work ended: %v", context.Cause(work))
		}
		cut := time.Now()
		a.cut.Store(true)
		<-work.Done()
		if took := time.Since(cut); took > DefaultRenewDeadline || took < DefaultRenewDeadline-retry {
			t.Errorf("the work ended %s after the last renewal", took)
		}
		if a.isLost() || a.Holds() {
			t.Errorf("lost %t, holds %t; want neither", a.isLost(), a.Holds())
		}
		late, end := a.Within(t.Context())
		defer end()
		if late.Err() == nil {
			t.Error("something may be begun that nobody may send")
		}
		a.cut.Store(false) // just in time
		time.Sleep(retry)
		again, end := a.Within(t.Context())
		defer end()
		if a.isLost() || !a.Holds() || again.Err() != nil {
			t.Errorf("renewed after all: lost %t, holds %t, %v", a.isLost(), a.Holds(), again.Err())
		}
		close(a.finish)
		if err := a.ends(); err != nil {
			t.Error(err)
		}
		if again.Err() == nil {
			t.Error("the Lease is given back, and work within it goes on")
		}
	})
}

func TestConfigThatCannotWork(t *testing.T) {
	c := Config{
		Client: &fake.Clientset{}, Namespace: DefaultNamespace, Identity: "a",
		Duration: 10 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: time.Second,
	}
	if _, err := New(c); err == nil {
		t.Error("a renew deadline as long as the lease was accepted")
	}
}
