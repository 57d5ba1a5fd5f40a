package lease

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// slowRetries makes a candidate ask for the Lease so seldom that a test can tell who asked by itself.
func slowRetries(_ *candidate, c *Config) { c.RetryPeriod = 8 * time.Second }

// looked waits until the candidate has just looked at the Lease: by itself it looks again after a retry period at the
// earliest.
func (c *candidate) looked() {
	for before := c.looks.Load(); c.looks.Load() == before; {
		time.Sleep(time.Millisecond)
	}
}

// TestALeaseThatIsFreedIsAskedForAtOnce: who is told that the holder is about to release the Lease has it within
// milliseconds, and keeps it. Who is not told waits for a retry period.
func TestALeaseThatIsFreedIsAskedForAtOnce(t *testing.T) {
	for _, row := range []struct {
		sentence string
		told     bool
	}{
		{"who is told asks at once", true},
		{"who is not told waits for a retry period", false},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				a := s.start(t, "a", logNamed("one", 7))
				a.leads(time.Second)
				b := s.start(t, "b", logNamed("one", 7), slowRetries)
				b.looked()
				if row.told { // the news comes before the release
					b.freed <- struct{}{}
					b.waits(100 * time.Millisecond)
				}
				a.stop()
				if err := a.ends(); err != nil {
					t.Error(err)
				}
				if row.told {
					b.leads(mostFreedPause)
				} else {
					b.waits(7 * time.Second)
					b.leads(time.Minute)
				}
				time.Sleep(5 * time.Minute) // renewals
				if !b.Holds() || b.isLost() {
					t.Errorf("holds %t, lost %t", b.Holds(), b.isLost())
				}
				if said, err := b.Read(t.Context()); err != nil || said.Holder != "b" {
					t.Errorf("the Lease says %+v, %v", said, err)
				}
				b.stop()
				if err := b.ends(); err != nil {
					t.Error(err)
				}
				if said, err := b.Read(t.Context()); err != nil || said.Holder != "" {
					t.Errorf("given back, the Lease says %+v, %v", said, err)
				}
			})
		})
	}
}

// TestOfTwoThatAreToldOneLeads: both ask at the same time, and the other one waits for the next news.
func TestOfTwoThatAreToldOneLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", logNamed("one", 7))
		a.leads(time.Second)
		b := s.start(t, "b", logNamed("one", 7), slowRetries)
		c := s.start(t, "c", logNamed("one", 7), slowRetries)
		time.Sleep(time.Minute)
		b.freed <- struct{}{}
		c.freed <- struct{}{}
		a.stop()
		_ = a.ends()
		time.Sleep(time.Second)
		first, second := b, c
		if c.Holds() {
			first, second = c, b
		}
		if !first.Holds() || second.Holds() {
			t.Fatalf("holds: b %t, c %t", b.Holds(), c.Holds())
		}
		second.freed <- struct{}{}
		first.stop()
		_ = first.ends()
		second.leads(mostFreedPause)
		second.stop()
		_ = second.ends()
	})
}

// TestNewsOfAReleaseThatDoesNotCome: the holder goes on, and so does who was told.
func TestNewsOfAReleaseThatDoesNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", logNamed("one", 7))
		a.leads(time.Second)
		b := s.start(t, "b", logNamed("one", 7), slowRetries)
		b.looked()
		before := b.looks.Load()
		b.freed <- struct{}{}
		b.waits(5 * time.Minute)
		if asked := b.looks.Load() - before; !a.Holds() || asked > 100 {
			t.Errorf("a holds it: %t; b looked %d times", a.Holds(), asked)
		}
		a.stop()
		_ = a.ends()
		b.leads(time.Minute)
		b.stop()
		_ = b.ends()
	})
}

// TestALeaseThatWasFreedAndCannotBeRenewed: who took it at once and is cut off then has lost it within the renew
// deadline.
func TestALeaseThatWasFreedAndCannotBeRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", logNamed("one", 7))
		a.leads(time.Second)
		b := s.start(t, "b", logNamed("one", 7), slowRetries)
		b.looked()
		b.freed <- struct{}{}
		a.stop()
		_ = a.ends()
		b.leads(mostFreedPause)
		b.cut.Store(true)
		began := time.Now()
		if err := b.ends(); !errors.Is(err, ErrLost) || b.Holds() {
			t.Errorf("it ended with %v, holds %t", err, b.Holds())
		}
		if took := time.Since(began); took > 2*DefaultRenewDeadline {
			t.Errorf("after %s", took)
		}
	})
}
