package kube

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/follow"
)

// createPods has n pods created, one after another.
func createPods(a *appender, n int) {
	commands := make([]events.Command, n)
	for i := range commands {
		commands[i] = &events.CreatePod{Ordinal: uint64(i + 1), Index: events.NoIndex}
	}
	decided := a.decide(commands...)
	for i := range n {
		a.end(decided, uint32(i), events.Done, fmt.Sprintf("demo-%d", i))
	}
}

// combined returns the Event into which others of the server were combined.
func (s *server) combined(t *testing.T) corev1.Event {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.stored {
		if len(e.Message) > len(combinedPrefix) && e.Message[:len(combinedPrefix)] == combinedPrefix {
			return *e
		}
	}
	t.Fatal("no Event is combined of others")
	return corev1.Event{}
}

// requests returns how many requests were made since its last call.
func (s *server) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.calls
	s.calls = 0
	return n
}

// running runs a publisher until it is stopped.
func running(t *testing.T, p *Publisher) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestCountsAreGathered: one request counts all repetitions of an Event within three seconds. The API server has the
// same Event afterwards as with a request for each. Until then the offset stays before the first repetition, so a crash
// loses none.
func TestCountsAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		p := publisher(t, a.log, s)
		stop := running(t, p)

		createPods(a, 20)
		synctest.Wait()
		if n := s.requests(); n != 9+1 { // nine for themselves, and one that the others are combined into
			t.Errorf("%d requests at once", n)
		}
		if e := s.combined(t); e.Count != 1 || e.Message != combinedPrefix+"Created pod: demo-9" {
			t.Errorf("at once it is %d times %q", e.Count, e.Message)
		}
		through, err := follow.Offset{Log: a.log, Consumer: Consumer}.Load()
		if first := a.next - 10; err != nil || through != first-1 { // of demo-10, the first that is not told
			t.Errorf("published through %d, %v, while %d waits", through, err, first)
		}

		time.Sleep(gatherFor)
		synctest.Wait()
		if n := s.requests(); n != 1 {
			t.Errorf("%d requests after three seconds", n)
		}
		if e := s.combined(t); e.Count != 11 || e.Message != combinedPrefix+"Created pod: demo-19" {
			t.Errorf("then it is %d times %q", e.Count, e.Message)
		}
		stop()
	})
}

// TestACountIsToldBeforeWhatComesAfterIt: the Events of one Job are sent in their order.
func TestACountIsToldBeforeWhatComesAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		p := publisher(t, a.log, s)
		stop := running(t, p)

		createPods(a, 20)
		a.end(a.decide(complete()), 0, events.Done, "demo")
		synctest.Wait()
		if n := s.requests(); n != 9+1+1+2 { // too many succeeded, and it is complete
			t.Errorf("%d requests", n)
		}
		if e := s.combined(t); e.Count != 11 {
			t.Errorf("the Job is over, and %d pods of 11 are counted", e.Count)
		}
		stop()
	})
}

// TestWhatWaitsIsToldAtTheEnd: a stop sends the counts that still wait, and moves the offset behind them.
func TestWhatWaitsIsToldAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		p := publisher(t, a.log, s)
		createPods(a, 20)
		catchUp(t, p)
		if e := s.combined(t); e.Count != 11 {
			t.Errorf("%d pods of 11 are counted", e.Count)
		}
		through, err := follow.Offset{Log: a.log, Consumer: Consumer}.Load()
		if err != nil || through != a.next-1 {
			t.Errorf("published through %d, %v, want %d", through, err, a.next-1)
		}
	})
}

// TestWhatWasNotToldWaitsOn: a stop in the middle of a request loses nothing.
func TestWhatWasNotToldWaitsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		p := publisher(t, a.log, s)
		stop := running(t, p)
		createPods(a, 20)
		synctest.Wait()
		s.mu.Lock()
		s.fail = errors.New("connection refused")
		s.mu.Unlock()
		time.Sleep(gatherFor)
		synctest.Wait()
		stop()
		s.mu.Lock()
		s.fail = nil
		s.mu.Unlock()
		catchUp(t, p)
		if e := s.combined(t); e.Count != 11 {
			t.Errorf("%d pods of 11 are counted", e.Count)
		}
	})
}
