package serve_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/say/recordjson"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

func endpoint(t *testing.T, log store.Reader, done <-chan struct{}) (*serve.Client, string) {
	t.Helper()
	server := httptest.NewServer(serve.Guard(serve.Handler(serve.Config{Log: log, Lists: joblist.New(joblist.Config{Log: log}), PID: 42, Version: "v1", Done: done})))
	t.Cleanup(server.Close)
	client, err := serve.NewClient(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client, server.URL
}

// lines writes records so that they can be compared: stored form, and an error at the end.
func lines(records iter.Seq2[events.Record, error]) []string {
	var out []string
	for r, err := range records {
		if err != nil {
			out = append(out, "error: "+err.Error())
			break
		}
		stored, err := events.AppendRecord(nil, &r)
		if err != nil {
			out = append(out, err.Error())
		}
		out = append(out, string(stored))
	}
	return out
}

// TestClientGivesWhatTheLogHolds: a reader beside the controller gets, record for record, what one of the log gets.
func TestClientGivesWhatTheLogHolds(t *testing.T) {
	log := historytest.Hard(t, 1)
	client, _ := endpoint(t, log, nil)
	local := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}
	ctx := t.Context()
	stream := historytest.Records(t, log)[len(historytest.Records(t, log))-1].Stream
	for i, records := range []func(history.Source) iter.Seq2[events.Record, error]{
		func(s history.Source) iter.Seq2[events.Record, error] { return s.Read(ctx, 0) },
		func(s history.Source) iter.Seq2[events.Record, error] { return s.Read(ctx, 33) },
		func(s history.Source) iter.Seq2[events.Record, error] { return s.Read(ctx, log.Head().Sequence+1) },
		func(s history.Source) iter.Seq2[events.Record, error] {
			return s.ReadStream(ctx, stream, 0, store.Forward)
		},
		func(s history.Source) iter.Seq2[events.Record, error] {
			return s.ReadStream(ctx, stream, 0, store.Backward)
		},
		func(s history.Source) iter.Seq2[events.Record, error] {
			return s.ReadStream(ctx, events.Controller, 9, store.Forward)
		},
	} {
		if d := cmp.Diff(lines(records(local)), lines(records(client))); d != "" {
			t.Errorf("read %d (-log +client):\n%s", i, d)
		}
	}
	id, head, err := client.Head(ctx)
	if err != nil || id != log.Identity() || head != log.Head() {
		t.Errorf("head %v %v %v, want %v %v", id, head, err, log.Identity(), log.Head())
	}
	here, err1 := local.Jobs(ctx, history.JobsQuery{})
	there, err2 := client.Jobs(ctx, history.JobsQuery{})
	if d := cmp.Diff(here, there); d != "" || err1 != nil || err2 != nil {
		t.Errorf("jobs: %v %v (-log +client):\n%s", err1, err2, d)
	}
	for _, name := range []string{"job-0", "job/../x", "nobody"} {
		want, err1 := local.Find(ctx, "default", name)
		got, err2 := client.Find(ctx, "default", name)
		if d := cmp.Diff(want, got); d != "" || err1 != nil || err2 != nil {
			t.Errorf("find %q: %v %v (-log +client):\n%s", name, err1, err2, d)
		}
	}
}

// failing is a log of which the middle cannot be read.
type failing struct{ store.Reader }

func (f failing) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range f.Reader.Read(ctx, from) {
			if r.Sequence == 50 {
				yield(events.Record{}, &store.CorruptError{At: 50, Hint: "look"})
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func TestErrorsOfTheLogReachTheClient(t *testing.T) {
	client, url := endpoint(t, failing{historytest.Hard(t, 2)}, nil)
	n := 0
	for r, err := range client.Read(t.Context(), 0) {
		if n++; n <= 49 {
			if err != nil || r.Sequence != events.Sequence(n) {
				t.Fatalf("record %d: %d, %v", n, r.Sequence, err)
			}
			continue
		}
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "record 50") {
			t.Errorf("got %v, want what the log said", err)
		}
	}
	if n != 50 {
		t.Errorf("the answer has %d parts", n)
	}
	resp, err := http.Get(url + "/v1/records?from=48")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(string(body)), "\n")
	if len(got) != 3 || !strings.HasPrefix(got[2], `{"error":"log is corrupt at record 50`) {
		t.Errorf("lines: %q", got)
	}
}

// TestACutAnswerIsAnError: a connection that breaks between two records is not the end of the log.
func TestACutAnswerIsAnError(t *testing.T) {
	log := historytest.Hard(t, 2)
	whole := serve.Handler(serve.Config{Log: log})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		whole.ServeHTTP(answer, r)
		body := answer.Body.Bytes()
		_, _ = w.Write(body[:len(body)-2]) // all but the frame that says that this is the end
	}))
	defer server.Close()
	client, err := serve.NewClient(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	got := lines(client.Read(t.Context(), 0))
	if last := got[len(got)-1]; !strings.Contains(last, "answer was cut") {
		t.Errorf("the answer ends with %q", last)
	}
}

func TestFollowGoesOnWithWhatComes(t *testing.T) {
	log := memlog.New(events.Identity{LogID: "0123456789abcdef0123456789abcdef", Epoch: 1}, memlog.Manual())
	done := make(chan struct{})
	client, _ := endpoint(t, log, done)
	append1 := func(n events.Sequence) {
		r := events.Record{
			Header: events.Header{Sequence: n, Time: events.Time(n), Stream: events.Controller, Previous: n - 1, Kind: events.KindControllerStopped, Last: true},
			Facts:  &events.ControllerStopped{},
		}
		if n == 1 {
			r.Kind, r.Facts = events.KindLogCreated, &events.LogCreated{LogID: log.Identity().LogID, Epoch: 1, Format: events.Format}
		}
		log.Append(events.Batch{Records: []events.Record{r}}, true)
	}
	append1(1)
	log.Commit(1)
	append1(2) // not durable yet: nobody is to see it
	next, stop := iter.Pull2(client.Follow(t.Context(), 0))
	defer stop()
	for n := events.Sequence(1); n <= 3; n++ {
		r, err, ok := next()
		if !ok || err != nil || r.Sequence != n {
			t.Fatalf("got record %d, %v, want %d", r.Sequence, err, n)
		}
		log.Commit(1)
		append1(n + 2)
	}
	close(done)
	for {
		_, err, ok := next()
		if !ok {
			t.Fatal("the end of the controller is no end of the log")
		}
		if err != nil {
			if !strings.Contains(err.Error(), "stopped") {
				t.Errorf("got %v", err)
			}
			return
		}
	}
}

func TestTheEndpointIsForThisMachineOnly(t *testing.T) {
	log := historytest.Hard(t, 2)
	_, url := endpoint(t, log, nil)
	rows := []struct {
		sentence string
		change   func(*http.Request)
		path     string
		status   int
	}{
		{"a request to a loopback address is answered", func(*http.Request) {}, "/v1/log", 200},
		{"one to localhost is", func(r *http.Request) { r.Host = "localhost:80" }, "/v1/log", 200},
		{"one through somebody's name is not", func(r *http.Request) { r.Host = "evil.example.com" }, "/v1/log", 403},
		{"nothing can be changed", func(r *http.Request) { r.Method = http.MethodPost }, "/v1/records", 405},
		{"an unknown parameter is no wish that is passed over", func(*http.Request) {}, "/v1/records?form=3", 400},
		{"a stream has a kind", func(*http.Request) {}, "/v1/records?stream=x", 400},
		{"only a stream is read backwards", func(*http.Request) {}, "/v1/records?direction=backward", 400},
		{"a Job that nobody knows is not found", func(*http.Request) {}, "/v1/get/default/nobody", 404},
		{"a Job is found by its name", func(*http.Request) {}, "/v1/get/job/default/job-1", 200},
		{"an unknown parameter of a question is none that is passed over", func(*http.Request) {}, "/v1/failures?form=3", 400},
		{"a question without its object is not understood", func(*http.Request) {}, "/v1/explain", 400},
		{"a page is no longer than others may be", func(*http.Request) {}, "/v1/jobs?limit=5001", 400},
		{"there is nothing else", func(*http.Request) {}, "/v1/secrets", 404},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+row.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			row.change(r)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != row.status {
				t.Errorf("status %d, want %d", resp.StatusCode, row.status)
			}
		})
	}
}

func TestLinesForPrograms(t *testing.T) {
	log := historytest.Hard(t, 2)
	_, url := endpoint(t, log, nil)
	resp, err := http.Get(url + "/v1/records?from=5&limit=3")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	scanner := bufio.NewScanner(resp.Body)
	for _, want := range historytest.Records(t, log)[4:7] {
		if !scanner.Scan() || scanner.Text() != string(recordjson.Record(&want)) {
			t.Errorf("got  %s\nwant %s", scanner.Text(), recordjson.Record(&want))
		}
	}
	if scanner.Scan() {
		t.Errorf("one line too many: %s", scanner.Text())
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "127.1.2.3": true, "[::1]:80": true, "::1": true, "localhost": true, "LOCALHOST:3": true,
		"0.0.0.0:1": false, ":80": false, "": false, "10.0.0.1:80": false, "localhost.evil.com:80": false, "[::]:80": false,
	} {
		if got := serve.Loopback(address); got != want {
			t.Errorf("Loopback(%q) = %v", address, got)
		}
	}
}

// TestTheClockOfAController: a controller answers as of its own clock, whatever was recorded last, and says when that
// was. Without one the end of the log is now.
func TestTheClockOfAController(t *testing.T) {
	log := historytest.Hard(t, 1)
	now := log.Head().Time.Add(25 * time.Minute)
	live := serve.Handler(serve.Config{Log: log, Now: func() events.Time { return now }})
	server := httptest.NewServer(live)
	defer server.Close()
	client, err := serve.NewClient(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	streams, err := history.FindJobs(t.Context(), client, "default", "job-0")
	if err != nil || len(streams) == 0 {
		t.Fatal(streams, err)
	}
	for _, row := range []struct {
		src   history.Source
		at    history.Point
		clock string
		asOf  events.Time
	}{
		{client, history.Point{}, history.ClockController, now},
		{client, history.Point{Time: now.Add(-time.Minute)}, "", now.Add(-time.Minute)},
		{client, history.Point{Time: now.Add(time.Minute)}, history.ClockController, now},
		{client, history.Point{Time: log.Head().Time.Add(-time.Minute)}, "", log.Head().Time.Add(-time.Minute)},
		{history.Local{Log: log}, history.Point{}, history.ClockLog, log.Head().Time},
		{history.Local{Log: log}, history.Point{Time: now}, history.ClockLog, log.Head().Time},
	} {
		job, err := history.JobAt(t.Context(), row.src, streams[0], row.at)
		if err != nil || events.Time(job.AsOf.Time) != row.asOf || job.Clock != row.clock {
			t.Errorf("%+v: as of %s by the clock %q, want %s by %q (%v)", row.at, events.Time(job.AsOf.Time).Go(), job.Clock, row.asOf.Go(), row.clock, err)
		}
		if last := events.Time(job.LastRecord); (row.clock == history.ClockController) != (last == log.Head().Time) {
			t.Errorf("%+v: the last record is said to be of %s", row.at, last.Go())
		}
	}
}
