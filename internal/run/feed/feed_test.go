package feed_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// written is a log in small files, with some records.
func written(t *testing.T) *boltlog.Log {
	t.Helper()
	log, err := boltlog.Open(t.TempDir(), store.Options{RotateBytes: 32 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() }) // a test that closes it looks at that error
	w := storetest.NewWriter(t, log)
	w.Create()
	for n := range 60 {
		w.Durable(storetest.Pod("job-a", 2*n), storetest.Pod("job-a", 2*n+1), storetest.Text("job-b", 3000))
	}
	w.Durable(storetest.Pod("job-c", 1), storetest.Pod("job-c", 2))
	w.Durable(storetest.Pod("job-c", 3))
	return log
}

// serve runs a handler behind TLS, and gives a client of it and its address.
func serve(t *testing.T, handler http.Handler) (*feed.Client, string) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	client, err := feed.NewClient(server.URL, pool, func() (string, error) { return "a token", nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client, strings.TrimPrefix(server.URL, "https://")
}

// stored are the records of a log from one on, as they are stored.
func stored(t *testing.T, log store.Reader, from events.Sequence) (out [][]byte) {
	t.Helper()
	for r, err := range log.Read(t.Context(), from) {
		if err != nil {
			t.Fatal(err)
		}
		one, err := events.AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, one)
	}
	return out
}

// of are the records of a part.
func of(part *feed.Part) (out [][]byte) {
	for _, run := range part.Runs {
		out = append(out, run.Records...)
	}
	return out
}

// TestAPartFromARecord: it has all records from there on, in runs that begin where the files of the log do.
func TestAPartFromEachRecord(t *testing.T) {
	log := written(t)
	giver := feed.NewGiver(feed.Config{Name: "me"})
	giver.Open(log)
	client, address := serve(t, giver)
	files, err := log.Files()
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	begins := map[events.Sequence]bool{}
	for _, f := range files {
		begins[f.First] = true
	}
	head := log.Head()
	for from := events.Sequence(0); from <= head.Sequence+1; from += min(3, max(1, from)) {
		first := max(from, 1)
		before, err := log.Chain(first - 1)
		if err != nil {
			t.Fatal(err)
		}
		part, err := client.Records(t.Context(), address, from, before)
		if err != nil {
			t.Fatalf("from %d: %v", from, err)
		}
		if want := stored(t, log, first); !equal(of(part), want) {
			t.Errorf("from %d: %d records, want %d as they are stored", from, len(of(part)), len(want))
		}
		if got := part.Head; got.Sequence != head.Sequence || got.LogID != log.Identity().LogID || got.First != 1 ||
			got.Name != "me" || !got.Leads {
			t.Errorf("from %d: the head is %+v", from, got)
		}
		for i, run := range part.Runs {
			if run.BeginsFile != begins[run.First] || i > 0 && !run.BeginsFile {
				t.Errorf("from %d: a run from %d begins a file: %t", from, run.First, run.BeginsFile)
			}
			last := run.First + events.Sequence(len(run.Records)) - 1
			if hash, err := log.Chain(last); err != nil || hash != run.After {
				t.Errorf("from %d: the run from %d ends with another chain value: %v", from, run.First, err)
			}
		}
		if (part.Begin != nil) != (from == 0) {
			t.Errorf("from %d: %d bytes of how the log begins", from, len(part.Begin))
		}
	}
	if _, err := client.Records(t.Context(), address, 9, events.Hash{1}); !errors.Is(err, store.ErrDiverged) {
		t.Errorf("who has another history is told %v", err)
	}
	part, err := client.Records(t.Context(), address, head.Sequence+9, events.Hash{1})
	if err != nil || len(part.Runs) > 0 || part.Head.Sequence != head.Sequence {
		t.Errorf("who is ahead gets %+v: %v", part, err)
	}
}

func equal(a, b [][]byte) bool {
	return bytes.Equal(bytes.Join(a, []byte{0}), bytes.Join(b, []byte{0})) && len(a) == len(b)
}

// TestAPartThatIsCutOrChanged: whatever byte is another one, and wherever the answer ends, the records that a client
// gives are those of the log, or there is an error.
func TestAPartThatIsCutOrChanged(t *testing.T) {
	log := written(t)
	giver := feed.NewGiver(feed.Config{})
	giver.Open(log)
	from := log.Head().Sequence - 2
	before, err := log.Chain(from - 1)
	if err != nil {
		t.Fatal(err)
	}
	whole := httptest.NewRecorder()
	giver.ServeHTTP(whole, httptest.NewRequest(http.MethodGet, fmt.Sprintf("/v1/records?from=%d", from), nil))
	if whole.Code != http.StatusOK {
		t.Fatal(whole.Code, whole.Body)
	}
	answer, want := whole.Body.Bytes(), stored(t, log, from)
	client, address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(answer) // the client may have refused it
	}))
	take := func() ([][]byte, error) {
		part, err := client.Records(t.Context(), address, from, before)
		if err != nil {
			return nil, err
		}
		return of(part), nil
	}
	if got, err := take(); err != nil || !equal(got, want) {
		t.Fatalf("the whole answer: %v", err)
	}
	sound := answer
	for n := range sound {
		answer = sound[:n]
		if _, err := take(); !errors.Is(err, feed.ErrCut) {
			t.Fatalf("an answer of %d bytes in place of %d: %v", n, len(sound), err)
		}
	}
	refused := 0
	for n := range sound {
		answer = bytes.Clone(sound)
		answer[n] ^= 0x04
		got, err := take()
		if err != nil {
			refused++
		} else if !equal(got, want) {
			t.Errorf("with another byte %d of %d there are other records, and no error", n, len(sound))
		}
	}
	if refused < len(sound)/2 {
		t.Errorf("%d of %d changes were refused: the test is blind", refused, len(sound))
	}
}

// TestNothingElseIsAnswered: no question, no other method, no parameter, and nothing before there is a log or after it
// was closed.
func TestNothingElseIsAnswered(t *testing.T) {
	log := written(t)
	giver := feed.NewGiver(feed.Config{})
	ask := func(method, address string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		giver.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, address, nil))
		return w
	}
	for _, address := range []string{feed.HeadPath, feed.RecordsPath} {
		w := ask(http.MethodGet, address)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s before the log is open: %d", address, w.Code)
		}
	}
	giver.Open(log)
	for _, row := range []struct {
		method, address string
		status          int
	}{
		{http.MethodGet, feed.HeadPath, http.StatusOK},
		{http.MethodGet, feed.RecordsPath, http.StatusOK},
		{http.MethodPost, feed.RecordsPath, http.StatusMethodNotAllowed},
		{http.MethodDelete, feed.HeadPath, http.StatusMethodNotAllowed},
		{http.MethodGet, feed.RecordsPath + "?from=x", http.StatusBadRequest},
		{http.MethodGet, feed.RecordsPath + "?from=1&namespace=prod", http.StatusBadRequest},
		{http.MethodGet, "/v1/", http.StatusNotFound},
		{http.MethodGet, "/v1/log", http.StatusNotFound},
		{http.MethodGet, "/v1/jobs", http.StatusNotFound},
		{http.MethodGet, "/v1/explain/prod/etl", http.StatusNotFound},
		{http.MethodGet, "/v1/streams/prod/etl", http.StatusNotFound},
		{http.MethodGet, "/v1/records/", http.StatusNotFound},
	} {
		if w := ask(row.method, row.address); w.Code != row.status {
			t.Errorf("%s %s: %d %s, want %d", row.method, row.address, w.Code, w.Body, row.status)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if w := ask(http.MethodGet, feed.RecordsPath+"?from=2"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("of a log that was closed: %d %s", w.Code, w.Body)
	}
}

// slow is a log whose reads wait.
type slow struct {
	store.Shared
	wait <-chan struct{}
}

func (s slow) ReadStored(ctx context.Context, from events.Sequence) iter.Seq2[[]byte, error] {
	<-s.wait
	return s.Shared.ReadStored(ctx, from)
}

// TestFourAtATime: the fifth waits 2 s, and is told to come again; when one has its answer, the next is answered.
func TestFourAtATime(t *testing.T) {
	log := written(t)
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		giver := feed.NewGiver(feed.Config{})
		giver.Open(slow{log, free})
		ask := func() int {
			w := httptest.NewRecorder()
			giver.ServeHTTP(w, httptest.NewRequest(http.MethodGet, feed.RecordsPath, nil))
			return w.Code
		}
		var held sync.WaitGroup
		for range 4 {
			held.Go(func() {
				if code := ask(); code != http.StatusOK {
					t.Errorf("one of four: %d", code)
				}
			})
		}
		synctest.Wait()
		before := time.Now()
		if code := ask(); code != http.StatusServiceUnavailable || time.Since(before) != 2*time.Second {
			t.Errorf("the fifth: %d after %s", code, time.Since(before))
		}
		close(free)
		held.Wait()
		if code := ask(); code != http.StatusOK {
			t.Errorf("the next: %d", code)
		}
	})
}

// TestTheEndWakesWhoWaits: a follower that waits for the next record hears at once that none will come, and so does one
// that asks later.
func TestTheEndWakesWhoWaits(t *testing.T) {
	log := written(t)
	next := log.Head().Sequence + 1
	synctest.Test(t, func(t *testing.T) {
		giver := feed.NewGiver(feed.Config{})
		giver.Open(waiting{log})
		ask := func() (after time.Duration, ends bool) {
			began, w := time.Now(), httptest.NewRecorder()
			giver.ServeHTTP(w, httptest.NewRequest(http.MethodGet, fmt.Sprintf("%s?from=%d&wait=1", feed.RecordsPath, next), nil))
			return time.Since(began), strings.Contains(w.Body.String(), `"ends":true`)
		}
		if after, ends := ask(); after != time.Second || ends {
			t.Errorf("a leader that goes on: after %s, ends %t", after, ends)
		}
		time.AfterFunc(100*time.Millisecond, giver.End)
		for n, want := range []time.Duration{100 * time.Millisecond, 0} {
			if after, ends := ask(); after != want || !ends {
				t.Errorf("request %d: after %s, ends %t", n, after, ends)
			}
		}
	})
}

// waiting is a log to which nothing is appended.
type waiting struct{ store.Shared }

func (waiting) Wait(ctx context.Context, after events.Sequence) (events.Sequence, error) {
	<-ctx.Done()
	return after, ctx.Err()
}

// TestAnAddressOfControllers: tokens go over TLS alone.
func TestAnAddressOfControllers(t *testing.T) {
	for _, address := range []string{"http://controller:10272", "controller:10272", "https://", "https://a/b", ""} {
		if _, err := feed.NewClient(address, nil, nil); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
}
