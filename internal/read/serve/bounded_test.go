package serve_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/store"
)

// fat is a log whose records are long, so that a listing does not fit into one answer.
type fat struct{ history.Source }

var longText = strings.Repeat("x", 100<<10)

func fattened(all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range all {
			r.Evidence.Message = longText
			if !yield(r, err) {
				return
			}
		}
	}
}

func (f fat) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return fattened(f.Source.Read(ctx, from))
}

func (f fat) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, d store.Direction) iter.Seq2[events.Record, error] {
	return fattened(f.Source.ReadStream(ctx, s, from, d))
}

func (f fat) Records(ctx context.Context, q history.Query) iter.Seq2[events.Record, error] {
	return fattened(f.Source.Records(ctx, q))
}

// readerOf serves a log as a reader does, and gives a client of it and the number of its answers.
func readerOf(t *testing.T, src history.Source, only string) (client *serve.Client, answers *atomic.Int64) {
	t.Helper()
	mux := http.NewServeMux()
	asking := serve.Asking{Within: patience.Time(), Source: func(_ *http.Request, namespace string, told serve.Told) (ask.Source, func(), error) {
		if only != "" && namespace != only {
			return ask.Source{}, nil, lacking{}
		}
		told.Note("only records of " + only)
		return ask.Source{Source: src, Note: told.Note, Behind: told.Behind, Clock: time.Now, Damage: told.Damage}, nil, nil
	}}
	asking.Handle(mux, ask.All())
	asking.HandleRecords(mux)
	answers = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers.Add(1)
		http.StripPrefix("/ledger", mux).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL + "/ledger")
	if err != nil {
		t.Fatal(err)
	}
	return serve.NewReaderClient(&serve.Reader{Base: base, Name: "here", Transport: http.DefaultTransport, Scope: only}), answers
}

type lacking struct{}

func (lacking) Error() string   { return "you may not list jobs" }
func (lacking) HTTPStatus() int { return http.StatusForbidden }

// TestAReaderGivesWhatTheLogHolds: in several answers, each within the bound, record for record.
func TestAReaderGivesWhatTheLogHolds(t *testing.T) {
	log := historytest.Hard(t, 1)
	local := fat{history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}}
	client, answers := readerOf(t, local, "")
	ctx, all := t.Context(), historytest.Records(t, log)
	stream := all[len(all)-1].Stream
	for i, records := range []func(history.Source) iter.Seq2[events.Record, error]{
		func(s history.Source) iter.Seq2[events.Record, error] { return s.Read(ctx, 0) },
		func(s history.Source) iter.Seq2[events.Record, error] { return s.Read(ctx, 33) },
		func(s history.Source) iter.Seq2[events.Record, error] { return s.Read(ctx, log.Head().Sequence+1) },
		func(s history.Source) iter.Seq2[events.Record, error] {
			return s.ReadStream(ctx, events.Controller, 0, store.Forward)
		},
		func(s history.Source) iter.Seq2[events.Record, error] {
			return s.ReadStream(ctx, events.Controller, 0, store.Backward)
		},
		func(s history.Source) iter.Seq2[events.Record, error] {
			return s.ReadStream(ctx, stream, 0, store.Backward)
		},
		func(s history.Source) iter.Seq2[events.Record, error] {
			return s.Records(ctx, history.Query{Limit: 60})
		},
		func(s history.Source) iter.Seq2[events.Record, error] {
			return s.Records(ctx, history.Query{From: 5, Through: 70})
		},
	} {
		before := answers.Load()
		want := lines(records(local))
		if d := cmp.Diff(want, lines(records(client))); d != "" {
			t.Errorf("read %d is not what the log has: %d records\n%.2000s", i, len(want), d)
		}
		if n := answers.Load() - before; n < int64(len(want)*len(longText)/(serve.MostBytes+2*len(longText))) {
			t.Errorf("read %d: %d records of %d bytes in %d answers", i, len(want), len(longText), n)
		}
	}
	id, head, err := client.Head(ctx)
	if err != nil || id != log.Identity() || head != log.Head() {
		t.Errorf("head %v %v %v, want %v %v", id, head, err, log.Identity(), log.Head())
	}
	want, _ := local.Find(ctx, "default", "job-0")
	if got, err := client.Find(ctx, "default", "job-0"); err != nil || !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("find: %v %v, want %v", got, err, want)
	}
}

// TestAListingThatIsCutSaysWhereItGoesOn: for programs, which get lines.
func TestAListingThatIsCutSaysWhereItGoesOn(t *testing.T) {
	log := historytest.Hard(t, 1)
	mux := http.NewServeMux()
	serve.Asking{Within: patience.Time(), Source: func(_ *http.Request, _ string, told serve.Told) (ask.Source, func(), error) {
		return ask.Source{Source: fat{history.Local{Log: log}}, Damage: told.Damage}, nil, nil
	}}.HandleRecords(mux)
	first := asks(mux, "/v1/records", nil)
	lines := strings.Split(strings.TrimSpace(first.body), "\n")
	if last := lines[len(lines)-1]; last != fmt.Sprintf(`{"continue":%d}`, len(lines)) {
		t.Errorf("%d lines end with %.200s", len(lines), last)
	}
	if got := asks(mux, "/v1/records?follow=true", nil); got.status != http.StatusBadRequest || !strings.Contains(got.body, "this listing ends") {
		t.Errorf("to follow: %d %s", got.status, got.body)
	}
}

// TestAReaderIsAskedWithTheScope: who may read one namespace names it, and hears what is left out. Without it the
// refusal has the reader's words.
func TestAReaderIsAskedWithTheScope(t *testing.T) {
	log := historytest.Hard(t, 1)
	local := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}
	client, _ := readerOf(t, local, "default")
	var notes []string
	client.Note = func(text string) { notes = append(notes, text) }
	if got := lines(client.Read(t.Context(), 0)); len(got) != int(log.Head().Sequence) {
		t.Errorf("%d records of %d", len(got), log.Head().Sequence)
	}
	if len(notes) == 0 || notes[0] != "only records of default" {
		t.Errorf("it hears %q", notes)
	}
	q := ask.Jobs.New()
	if err := q.Read(nil); err != nil {
		t.Fatal(err)
	}
	_, err := serve.Ask(t.Context(), client, q, serve.Hears{Note: func(string) {}, Behind: func(string) {}, Read: func(uint64) {}})
	if want := "the reader here refuses this: you may not list jobs"; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestAReaderIsPolled: Follow asks for new records each second, and not again for those that it has.
func TestAReaderIsPolled(t *testing.T) {
	log := historytest.Hard(t, 1)
	synctest.Test(t, func(t *testing.T) {
		mux := http.NewServeMux()
		var asked []string
		serve.Asking{Source: func(r *http.Request, _ string, told serve.Told) (ask.Source, func(), error) {
			asked = append(asked, r.URL.RequestURI())
			return ask.Source{Source: history.Local{Log: log}, Damage: told.Damage}, nil, nil
		}}.HandleRecords(mux)
		client := serve.NewReaderClient(&serve.Reader{
			Base: &url.URL{Scheme: "http", Host: "here"}, Name: "here", Transport: direct{mux},
		})
		ctx, stop := context.WithTimeout(t.Context(), 10*pollTime)
		defer stop()
		if got := lines(client.Follow(ctx, 0)); len(got) != int(log.Head().Sequence) {
			t.Errorf("%d records of %d", len(got), log.Head().Sequence)
		}
		records := slices.DeleteFunc(slices.Clone(asked), func(a string) bool { return !strings.HasPrefix(a, "/v1/records") })
		if len(records) != 1 || len(asked) < 9 {
			t.Errorf("it asks %q", asked)
		}
	})
}

const pollTime = time.Second

// direct answers requests without a network.
type direct struct{ handler http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w.Result(), nil
}
