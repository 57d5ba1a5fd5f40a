package subscribe_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

const (
	cluster = natstest.Cluster
	stream  = natstest.Stream
)

var life = natstest.Life

var streamConfig = jetstream.StreamConfig{
	Name: stream, Subjects: []string{nats.Everything(cluster)}, AllowDirect: true, Duplicates: 100 * time.Millisecond,
}

// makeStream makes the stream for a test that writes its messages itself.
func makeStream(t testing.TB, s *natstest.Server) jetstream.JetStream {
	t.Helper()
	js := s.JetStream()
	if _, err := js.CreateStream(t.Context(), streamConfig); err != nil {
		t.Fatal(err)
	}
	return js
}

// put publishes records as a publisher would that lost the records between them.
func put(t testing.TB, js jetstream.JetStream, life events.Identity, floor events.Sequence, records ...events.Record) {
	t.Helper()
	e := nats.Encoder{Cluster: cluster}
	for i := range records {
		job := events.JobRef{Namespace: "default", Name: "job-" + records[i].Stream.ID}
		m, err := e.Encode(&records[i], life, job, floor)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := js.PublishMsg(t.Context(), &natsgo.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data}); err != nil {
			t.Fatal(err)
		}
	}
}

const jobA, jobB = "0e8b7a66-5544-4332-a110-ffeeddccbba0", "0e8b7a66-5544-4332-a110-ffeeddccbbb0"

// timer is a record of a Job with nothing in it.
func timer(seq, previous events.Sequence, job string) events.Record {
	return events.Record{Header: events.Header{
		Sequence: seq, Previous: previous, Time: events.Time(seq) * events.Time(time.Second), Last: true, Critical: true,
		Stream: events.Stream{Kind: events.StreamJob, ID: job}, Kind: events.KindTimerFired,
	}, Facts: &events.TimerFired{}, FactsSalt: events.Salt{1}}
}

// records are those of the log.
func records(t testing.TB, l *natstest.Ledger) (all []events.Record) {
	t.Helper()
	for r, err := range l.Log.Read(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// subscription is a Run that keeps what it took.
type subscription struct {
	t     testing.TB
	stop  context.CancelFunc
	ended chan error

	mu      sync.Mutex
	taken   []subscribe.Event
	trouble []string // "" for its end
}

// start subscribes until the test ends or stop is called. take may be nil: then everything is taken.
func start(t testing.TB, js jetstream.JetStream, c subscribe.Config, take func(context.Context, *subscribe.Event) error) *subscription {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &subscription{t: t, stop: cancel, ended: make(chan error, 1)}
	c.Cluster = cluster
	c.Trouble = func(err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		text := ""
		if err != nil {
			text = err.Error()
		}
		s.trouble = append(s.trouble, text)
	}
	go func() { // ends with ctx, or when Run gives up
		s.ended <- subscribe.Run(ctx, js, c, func(ctx context.Context, e *subscribe.Event) error {
			if take != nil {
				if err := take(ctx, e); err != nil {
					return err
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.taken = append(s.taken, *e)
			return nil
		})
	}()
	t.Cleanup(func() { _ = s.end() }) // tests that need the result call end themselves
	return s
}

// end stops the subscription, and returns the error of Run.
func (s *subscription) end() error {
	s.stop()
	err := <-s.ended
	s.ended <- err
	return err
}

func (s *subscription) events() []subscribe.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]subscribe.Event(nil), s.taken...)
}

// says waits until the subscription reports a trouble.
func (s *subscription) says(t testing.TB, trouble string) {
	t.Helper()
	natstest.Eventually(t, "it says "+trouble, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !slices.ContainsFunc(s.trouble, func(said string) bool { return strings.Contains(said, trouble) }) {
			return fmt.Errorf("it says %q", s.trouble)
		}
		return nil
	})
}

// await waits until that many events are taken.
func (s *subscription) await(n int) []subscribe.Event {
	s.t.Helper()
	natstest.Eventually(s.t, fmt.Sprintf("%d events are taken", n), func() error {
		if got := len(s.events()); got < n {
			s.mu.Lock()
			defer s.mu.Unlock()
			return fmt.Errorf("%d are; trouble: %q", got, s.trouble)
		}
		return nil
	})
	return s.events()
}

func (s *subscription) sequences(n int) (all []events.Sequence) {
	s.t.Helper()
	for _, e := range s.await(n) {
		all = append(all, e.ID.Sequence)
	}
	return all
}

// whole checks that the events are the records from that one on, each once.
func whole(t testing.TB, got []subscribe.Event, from events.Sequence) {
	t.Helper()
	for i, e := range got {
		if want := from + events.Sequence(i); e.ID.Sequence != want || e.Gap != (subscribe.Gap{}) || e.Before != (nats.ID{}) {
			t.Fatalf("event %d is record %d (gap %q, before it %s), want %d", i, e.ID.Sequence, e.Gap, e.Before, want)
		}
	}
}
