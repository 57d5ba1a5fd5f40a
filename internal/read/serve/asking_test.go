package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/read/turns"
)

// reply is what a question got.
type reply struct {
	status int
	header http.Header
	body   string
}

// asks puts a question to a handler.
func asks(handler http.Handler, address string, header http.Header) reply {
	r := httptest.NewRequest(http.MethodGet, address, nil)
	r.Header = header
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	body, _ := io.ReadAll(w.Result().Body)
	return reply{w.Code, w.Result().Header, string(body)}
}

// saidError is the text of an answer that is an error in JSON.
func saidError(t *testing.T, r reply) string {
	t.Helper()
	var said struct{ Error string }
	if err := json.Unmarshal([]byte(r.body), &said); err != nil || r.header.Get("Content-Type") != "application/json" ||
		said.Error == "" {
		t.Fatalf("status %d, %s %q: want an error in JSON", r.status, r.header.Get("Content-Type"), r.body)
	}
	return said.Error
}

// TestAnAnswerSaysAsOfWhat: each answer names a record and a time, of the past too. Who has it is not sent it
// again.
func TestAnAnswerSaysAsOfWhat(t *testing.T) {
	log := historytest.Hard(t, 1)
	lists := joblist.New(joblist.Config{Log: log})
	handler := serve.Handler(serve.Config{Log: log, Lists: lists, Within: patience.Time()})
	jobs, err := history.Local{Log: log, Lists: lists}.Jobs(t.Context(), history.JobsQuery{Limit: 1})
	if err != nil || len(jobs.Items) != 1 {
		t.Fatalf("%d Jobs, %v", len(jobs.Items), err)
	}
	job := jobs.Items[0]
	of := job.Namespace + "/" + job.Name
	for _, address := range []string{"/v1/explain/" + of, "/v1/attempts/" + of, "/v1/jobs", "/v1/cronjobs",
		"/v1/failures", "/v1/find?q=abc", "/v1/plan", "/v1/events?limit=5", "/v1/events/" + of} {
		first := asks(handler, address, http.Header{})
		head := log.Head()
		want := history.Place{Sequence: uint64(head.Sequence)}
		record, stamp, _ := strings.Cut(first.header.Get(serve.AsOfHeader), " ")
		at, err := time.Parse(time.RFC3339Nano, stamp)
		if err != nil || record != jsonOf(t, want.Sequence) || !at.Equal(head.Time.Go()) {
			t.Errorf("%s is as of %q, %v; the log ends with record %d at %s", address, first.header.Get(serve.AsOfHeader),
				err, head.Sequence, head.Time.Go())
		}
		tag := first.header.Get("ETag")
		for _, have := range []string{tag, `"other", W/` + tag, "*"} {
			again := asks(handler, address, http.Header{"If-None-Match": {have}})
			if again.status != http.StatusNotModified || again.body != "" ||
				again.header.Get(serve.AsOfHeader) != first.header.Get(serve.AsOfHeader) {
				t.Errorf("%s with If-None-Match %s: status %d with %d bytes", address, have, again.status, len(again.body))
			}
		}
		if other := asks(handler, address, http.Header{"If-None-Match": {`"other"`}}); other.status != http.StatusOK ||
			other.body != first.body {
			t.Errorf("%s with another tag: status %d", address, other.status)
		}
	}
	for _, question := range []string{"explain", "attempts", "timeline", "get"} {
		past := asks(handler, "/v1/"+question+"/"+of+"?at="+jsonOf(t, job.Last), http.Header{})
		if got, _, _ := strings.Cut(past.header.Get(serve.AsOfHeader), " "); past.status != http.StatusOK ||
			got != jsonOf(t, job.Last) {
			t.Errorf("%s at record %d: status %d, as of %q", question, job.Last, past.status, past.header.Get(serve.AsOfHeader))
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAnAnswerHasBounds: what takes too long or is too large is refused, in words.
func TestAnAnswerHasBounds(t *testing.T) {
	log := historytest.Hard(t, 1)
	lists := joblist.New(joblist.Config{Log: log})
	late := asks(serve.Handler(serve.Config{Log: log, Lists: lists, Within: 1}), "/v1/failures", http.Header{})
	if said := saidError(t, late); late.status != http.StatusGatewayTimeout ||
		!strings.Contains(said, "not answered within 1ns") {
		t.Errorf("an answer that takes longer than it may: %d %q", late.status, said)
	}
	wrong := asks(serve.Handler(serve.Config{Log: log, Lists: lists, Within: patience.Time()}),
		"/v1/failures?colour=red", http.Header{})
	if said := saidError(t, wrong); wrong.status != http.StatusBadRequest || !strings.Contains(said, "no such parameter") {
		t.Errorf("a question with a parameter that there is not: %d %q", wrong.status, said)
	}
	unknown := asks(serve.Handler(serve.Config{Log: log, Lists: lists, Within: patience.Time()}),
		"/v1/events/job/00000000-0000-4000-8000-00000000beef", http.Header{})
	if said := saidError(t, unknown); unknown.status != http.StatusNotFound || !strings.Contains(said, "knows no job/0000") {
		t.Errorf("records of an object that has none: %d %q", unknown.status, said)
	}
	refusing := http.NewServeMux()
	refuse := func(*http.Request, string, serve.Told) (ask.Source, func(), error) {
		return ask.Source{}, nil, nobody{}
	}
	serve.Asking{Source: refuse}.Handle(refusing, ask.All())
	refused := asks(refusing, "/v1/jobs", http.Header{})
	if said := saidError(t, refused); refused.status != http.StatusUnauthorized || said != "who asks?" ||
		refused.header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("a question of nobody: %d %q", refused.status, said)
	}
	src := large{history.Local{Log: log, Lists: lists}}
	mux := http.NewServeMux()
	serve.Asking{Within: patience.Time(), Source: func(
		_ *http.Request, _ string, told serve.Told,
	) (ask.Source, func(), error) {
		return ask.Source{Source: src, Note: told.Note, Behind: told.Behind, Clock: time.Now, Damage: told.Damage}, nil, nil
	}}.Handle(mux, ask.All())
	big := asks(mux, "/v1/jobs", http.Header{})
	if said := saidError(t, big); big.status != http.StatusUnprocessableEntity ||
		!strings.Contains(said, "more than 4194304") {
		t.Errorf("an answer of 5 MiB: %d %q", big.status, said)
	}
}

// nobody is why a question is refused.
type nobody struct{}

func (nobody) Error() string   { return "who asks?" }
func (nobody) HTTPStatus() int { return http.StatusUnauthorized }

// large is a list of one Job with a very long name.
type large struct{ history.Source }

func (large) Jobs(context.Context, history.JobsQuery) (history.JobsPage, error) {
	return history.JobsPage{Items: []history.Summary{{Name: string(bytes.Repeat([]byte("x"), 5<<20))}}}, nil
}

// TestQuestionsTakeTurns: two of one user are answered at a time; the third is told to come again.
func TestQuestionsTakeTurns(t *testing.T) {
	log := historytest.Hard(t, 1)
	lists := joblist.New(joblist.Config{Log: log})
	synctest.Test(t, func(t *testing.T) {
		shared := turns.New(turns.Config{})
		mux := http.NewServeMux()
		serve.Asking{Turns: shared, User: func(r *http.Request) string { return r.Header.Get("User") },
			Source: func(_ *http.Request, _ string, told serve.Told) (ask.Source, func(), error) {
				local := history.Local{Log: log, Lists: lists}
				return ask.Source{
					Source: local, Note: told.Note, Behind: told.Behind, Clock: time.Now, Damage: told.Damage,
				}, nil, nil
			}}.Handle(mux, ask.All())
		for range turns.UsualEach { // such as those of pages
			if _, err := shared.Take(t.Context(), "ann"); err != nil {
				t.Fatal(err)
			}
		}
		third := asks(mux, "/v1/failures", http.Header{"User": {"ann"}})
		if said := saidError(t, third); third.status != http.StatusServiceUnavailable ||
			third.header.Get("Retry-After") != "2" || said != turns.ErrBusy.Error() {
			t.Errorf("the third of one user: %d, Retry-After %q, %q", third.status, third.header.Get("Retry-After"), said)
		}
		if other := asks(mux, "/v1/failures", http.Header{"User": {"bob"}}); other.status != http.StatusOK {
			t.Errorf("another user: %d %s", other.status, other.body)
		}
	})
}

// TestWhichNamespaceAQuestionIsAbout: who answers learns it from the object, from the namespace that is looked in
// first, or from the parameter. Where none is named it is about all.
func TestWhichNamespaceAQuestionIsAbout(t *testing.T) {
	asked := "none"
	mux := http.NewServeMux()
	serve.Asking{Source: func(_ *http.Request, namespace string, _ serve.Told) (ask.Source, func(), error) {
		asked = namespace
		return ask.Source{}, nil, nobody{}
	}}.Handle(mux, ask.All())
	for address, want := range map[string]string{
		"/v1/explain/prod/etl": "prod", "/v1/explain/etl?namespace=prod": "prod", "/v1/explain/etl?near=prod": "prod",
		"/v1/explain/etl": "", "/v1/get/job/etl?near=prod": "prod", "/v1/get/cronjob/etl": "", "/v1/ticks/prod/etl": "prod",
		"/v1/why-not/prod/etl?time=03:00": "prod", "/v1/next/etl?namespace=prod": "prod", "/v1/attempts/prod/etl": "prod",
		"/v1/jobs": "", "/v1/jobs?namespace=prod": "prod", "/v1/cronjobs?namespace=prod": "prod", "/v1/failures": "",
		"/v1/failures?namespace=prod": "prod", "/v1/plan?namespace=prod": "prod", "/v1/find?q=etl&namespace=prod": "prod",
		"/v1/find?q=etl": "", "/v1/timeline/prod/etl": "prod", "/v1/explain/prod/etl?near=web": "prod",
	} {
		asked = "none"
		if r := asks(mux, address, http.Header{}); asked != want {
			t.Errorf("%s is about %q, want %q: %d %s", address, asked, want, r.status, r.body)
		}
	}
}
