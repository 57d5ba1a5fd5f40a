package natstest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/store"
)

// Publisher publishes the records of a test's log to NATS, while it runs.
type Publisher struct {
	*publish.Publisher
	Stop func() // ends the publishing, and returns when it has ended
}

// Publish runs a publisher until the test ends or Stop is called.
func Publish(t testing.TB, s *Server, log store.Log, change ...func(*publish.Config)) *Publisher {
	t.Helper()
	c := publish.Config{
		Log: log, Cluster: Cluster, Dial: dial.Config{URL: s.URL()}, AckTimeout: 2 * time.Second, Retry: 50 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Options: []natsgo.Option{AtOnce()},
	}
	for _, f := range change {
		f(&c)
	}
	p, err := publish.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }() // this goroutine ends when ctx ends
	var once sync.Once
	r := &Publisher{p, func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("the publisher ended: %v", err)
			}
		})
	}}
	t.Cleanup(r.Stop)
	return r
}

// CaughtUp waits until the server has acknowledged all records.
func (p *Publisher) CaughtUp(t testing.TB) {
	t.Helper()
	Eventually(t, "all is published", func() error {
		if st := p.Status(); st.Lag > 0 || st.Problem != "" {
			return fmt.Errorf("status %+v", st)
		}
		return nil
	})
}
