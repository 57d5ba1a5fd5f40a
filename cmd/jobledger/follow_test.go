package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/serve"
	"github.com/jobledger/jobledger/store/memlog"
)

// screen is what a command has written so far.
type screen struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // holds a token when something was written
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return s.text.Write(b)
}

// await waits until the text is on the screen.
func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	late := time.After(2 * time.Minute) // for a machine that has much else to do
	for {
		s.mu.Lock()
		all := s.text.String()
		s.mu.Unlock()
		if strings.Contains(all, text) {
			return
		}
		select {
		case <-s.changed:
		case <-late:
			t.Fatalf("%q does not appear in\n%s", text, all)
		}
	}
}

// TestWatch: `events -w` shows what there is, then what comes, and ends well when it is interrupted.
func TestWatch(t *testing.T) {
	for _, args := range []string{
		"events -w -o json", "events -w -o wide", "events job/demo -w -o json", "events -w -n default -o json --kind JobAdded",
	} {
		t.Run(args, func(t *testing.T) {
			log := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
			c := newCluster(t, log)
			c.settle()
			c.addJob("default", "demo", 1, func(*events.JobSpec) {})
			c.settle()
			server := httptest.NewServer(serve.Handler(serve.Config{Log: log}))
			defer server.Close()

			ctx, interrupt := context.WithCancel(t.Context())
			out := &screen{changed: make(chan struct{}, 1)}
			root := newRoot(&cli{out: out, err: os.Stderr, getenv: func(string) string { return "" }}, "jobledger")
			root.SetArgs(append(strings.Fields(args), "--server", server.URL))
			ended := make(chan error, 1)
			go func() { ended <- root.ExecuteContext(ctx) }()
			out.await(t, "JobAdded")

			job := c.jobs["00000000-0000-4000-8000-000000000001"]
			job.seen.Deleted, job.seen.Version = c.now.Second(), c.next()
			c.showJob(job)
			c.addJob("default", "later", 2, func(*events.JobSpec) {})
			c.settle()
			switch {
			case strings.Contains(args, "job/demo"):
				out.await(t, "JobChanged")
			default:
				out.await(t, "later")
			}
			interrupt()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if strings.Contains(args, "job/demo") && strings.Contains(out.text.String(), "later") {
				t.Error("records of another Job are shown")
			}
		})
	}
}
