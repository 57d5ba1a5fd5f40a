package copylogtest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/ins3"
)

// Troubled is an S3 server on which requests fail at random, as a client on the network sees it: lost answers,
// time-outs, errors, half answers (the variable troubles). At first nothing fails. Use NewTroubled to create one. Any
// goroutine may call its methods.
type Troubled struct {
	objects http.Handler
	running sync.WaitGroup // requests that the server still handles, even if their clients no longer wait

	mu     sync.Mutex
	random *rand.Rand
	share  float64
	only   string // the only kind of failure that requests meet; empty for a random one
	counts map[string]int
}

// Troubles of a server that cannot be reached.
const (
	NoAnswer = "no answer"
	TimeOut  = "no answer before a time-out"
)

// troubles are the ways in which a request may fail, each with the same probability. meet answers the request, which
// the server has read.
var troubles = []struct {
	name string
	meet func(t *Troubled, w http.ResponseWriter, r *http.Request)
}{
	{"busy", func(_ *Troubled, w http.ResponseWriter, _ *http.Request) { busy(w) }},
	{"busy, and it is done", func(t *Troubled, w http.ResponseWriter, r *http.Request) { t.answer(r); busy(w) }},
	{NoAnswer, func(*Troubled, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	{"no answer, and it is done", func(t *Troubled, _ http.ResponseWriter, r *http.Request) {
		t.answer(r)
		panic(http.ErrAbortHandler)
	}},
	{"half an answer", func(t *Troubled, w http.ResponseWriter, r *http.Request) { half(w, t.answer(r)) }},
	{TimeOut, func(_ *Troubled, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
	{"done, and no answer before a time-out", func(t *Troubled, _ http.ResponseWriter, r *http.Request) { t.answer(r); <-r.Context().Done() }},
	{"done after a time-out", func(t *Troubled, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done(); t.answer(r) }},
}

// NewTroubled returns a server with a bucket, which stops at the end of the test. It also returns two places (stores
// for a copy of a log) with the same objects: requests to `troubled` fail at random, requests to `well` never fail.
func NewTroubled(t testing.TB, seed uint64) (s *Troubled, troubled, well copylog.Place) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("backups"); err != nil {
		t.Fatal(err)
	}
	s = &Troubled{objects: gofakes3.New(backend).Server(), random: rand.New(rand.NewPCG(seed, 3)), counts: map[string]int{}}
	places := []copylog.Place{}
	for _, handler := range []http.Handler{s, s.objects} {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		p, err := ins3.New("s3://backups/jobledger/one?endpoint="+server.URL, Keys)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, p)
	}
	return s, places[0], places[1]
}

// SetShare sets the probability that a request fails.
func (t *Troubled) SetShare(share float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.share = share
}

// Leave makes every request fail in the same way: NoAnswer or TimeOut, both without an effect.
func (t *Troubled) Leave(trouble string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.share, t.only = 1, trouble
}

// Return makes the server work again without failures.
func (t *Troubled) Return() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.share, t.only = 0, ""
}

// Counts returns how many requests met each kind of failure.
func (t *Troubled) Counts() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}

// Settle waits until no request is in progress. Call it only while no client waits for an answer.
func (t *Troubled) Settle() { t.running.Wait() }

// ServeHTTP implements http.Handler: it carries out the request, or lets it fail in a random way.
func (t *Troubled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.running.Add(1)
	defer t.running.Done()
	// Read the whole body first: only then does the server notice that the client has given up.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if n := t.draw(); n >= 0 {
		troubles[n].meet(t, w, r)
		return
	}
	t.objects.ServeHTTP(w, r)
}

// draw chooses at random the kind of failure that a request meets, as an index of troubles; -1 for none.
func (t *Troubled) draw() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.random.IntN(len(troubles))
	if t.random.Float64() >= t.share {
		return -1
	}
	for i := range troubles {
		if troubles[i].name == t.only {
			n = i
		}
	}
	t.counts[troubles[n].name]++
	return n
}

// answer carries out the request, and returns the answer without sending it.
func (t *Troubled) answer(r *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	t.objects.ServeHTTP(answer, r)
	return answer
}

func busy(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusServiceUnavailable)
	fmt.Fprint(w, "<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>")
}

// half sends only the first half of an answer's body, as if the connection had broken.
func half(w http.ResponseWriter, whole *httptest.ResponseRecorder) {
	content := whole.Body.Bytes()
	maps.Copy(w.Header(), whole.Header())
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(whole.Code)
	_, _ = w.Write(content[:len(content)/2]) // an error only says that the client has given up
	if len(content) > 0 {
		panic(http.ErrAbortHandler)
	}
}
