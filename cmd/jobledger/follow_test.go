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

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// screen is the output of a command so far.
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
	late := time.After(patience.Time())
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

// TestWatch: `events -w` shows the records there are, then new ones, and exits with 0 when it is interrupted.
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
			out, interrupt := begin(t, log, args)
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
			if strings.Contains(args, "job/demo") && strings.Contains(out.text.String(), "later") {
				t.Error("records of another Job are shown")
			}
		})
	}
}

// begin runs a command beside a controller that writes a log. After interrupt it must exit with 0.
func begin(t *testing.T, log store.Reader, args string) (out *screen, interrupt func()) {
	t.Helper()
	server := httptest.NewServer(serve.Handler(serve.Config{Log: log, Lists: joblist.New(joblist.Config{Log: log})}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	out = &screen{changed: make(chan struct{}, 1)}
	root := newRoot(&cli.CLI{Out: out, Err: os.Stderr, Getenv: func(string) string { return "" }}, "jobledger")
	root.SetArgs(append(strings.Fields(args), "--server", server.URL))
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	return out, func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestGetWatches: `get -w` shows the state, then only changes, and exits with 0 when it is interrupted.
func TestGetWatches(t *testing.T) {
	for _, row := range []struct {
		args         string
		before, then []string // what is shown, in this order
		never        []string
	}{
		{"get jobs -w", []string{"Running"}, []string{"Failed", "later"}, nil},
		{"get jobs -w -n default", []string{"Running"}, []string{"Failed"}, []string{"later"}},
		{"get jobs -w -l team=web -o name", nil, []string{"job.batch/later"}, []string{"demo"}},
		{"get jobs -w --state failed -o json", nil, []string{`"state": "Failed"`}, []string{"Running"}},
		{"get jobs -w -o jsonpath={.name}={.state}", []string{"demo=Running\n"}, []string{"demo=Failed\n", "later="}, nil},
		{"get job/demo -w", []string{"State:         Running"}, []string{"State:         Failed"}, []string{"later"}},
		{"get job/demo -w -o yaml", []string{"state: Running"}, []string{"---\n", "state: Failed"}, []string{"later"}},
		{"get pod/demo-gpwpv -w -o name", []string{"job.batch/demo\n"}, []string{"job.batch/demo\n"}, nil},
	} {
		t.Run(row.args, func(t *testing.T) {
			log := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
			c := newCluster(t, log)
			c.settle()
			demo := c.addJob("default", "demo", 11, func(s *events.JobSpec) { s.BackoffLimit = new(int32) })
			c.settle()
			c.start(demo)
			out, interrupt := begin(t, log, row.args)
			for _, text := range row.before {
				out.await(t, text)
			}
			c.finish(demo, c.pods(demo)[0], 1, "")
			c.addJob("web", "later", 12, func(*events.JobSpec) {})
			c.inputs[len(c.inputs)-1].Observation.Evidence.Origin = &events.Origin{Labels: []events.ObjectLabel{{Name: "team", Value: "web"}}}
			c.settle()
			for _, text := range row.then {
				out.await(t, text)
			}
			interrupt()
			for _, text := range row.never {
				if strings.Contains(out.text.String(), text) {
					t.Errorf("%q is shown in\n%s", text, out.text.String())
				}
			}
		})
	}
}
