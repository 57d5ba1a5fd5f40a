package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/page"
	"github.com/jobledger/jobledger/internal/read/permit"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// told is an event of a page.
type told struct {
	Clock, Changes, Off string
	Notes               []string
}

// heard returns the events that a page gets for so long, in the time of a bubble.
func heard(t *testing.T, h http.Handler, address string, length time.Duration) (all []told) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := httptest.NewRecorder()
	over := make(chan struct{})
	go func() {
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil).WithContext(ctx))
		close(over)
	}()
	time.Sleep(length) // the bubble's time
	synctest.Wait()
	cancel()
	<-over
	if kind := w.Header().Get("Content-Type"); kind != "text/event-stream" || w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s %s", address, w.Code, kind, w.Body)
	}
	for line := range strings.Lines(w.Body.String()) {
		data, is := strings.CutPrefix(line, "data: ")
		if !is {
			continue
		}
		var one told
		if err := json.Unmarshal([]byte(data), &one); err != nil {
			t.Fatalf("%s: %v in %s", address, err, line)
		}
		all = append(all, one)
	}
	return all
}

// following is the pages of a source, by the bubble's clock.
func following(src history.Source, ends <-chan struct{}, opens func() error) http.Handler {
	return page.New(page.Config{Ends: ends, Source: func(
		_ *http.Request, about page.About, d *store.Damage, note func(string),
	) (page.Given, error) {
		if err := opens(); err != nil {
			return page.Given{}, err
		}
		return page.Given{Source: ask.Source{Source: src, Note: note, Behind: note, Clock: time.Now, Damage: d}}, nil
	}})
}

func always() error { return nil }

var liveAt = regexp.MustCompile(`data-live="([^"]*)"`)

// liveOf returns the address of a page's events.
func liveOf(t *testing.T, h http.Handler, address string) string {
	t.Helper()
	m := liveAt.FindStringSubmatch(get(t, h, address).Body.String())
	if m == nil {
		t.Fatalf("%s has no events", address)
	}
	return strings.ReplaceAll(m[1], "&amp;", "&")
}

// TestEventsSayHowMuchIsNew: the events of a Job's page count its records behind the page, and those of the first page
// the Jobs and CronJobs with records. Who may read one namespace gets the numbers of that one. A page of a past point
// counts nothing.
func TestEventsSayHowMuchIsNew(t *testing.T) {
	log := historytest.Hard(t, 2)
	local := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}
	jobs, err := local.Jobs(t.Context(), history.JobsQuery{})
	if err != nil || len(jobs.Items) < 3 {
		t.Fatalf("%d Jobs, %v", len(jobs.Items), err)
	}
	from := log.Head().Sequence / 2
	says := func(n int, what string) string {
		switch {
		case n == 0:
			return ""
		case n > 100:
			return "more than 100 changes"
		}
		return words.Count(n, what)
	}
	objects, byNamespace := map[events.Stream]bool{}, map[string]map[events.Stream]bool{}
	records := map[string]int{}
	names := history.NamesOf(t.Context(), local)
	for r, err := range log.Read(t.Context(), from+1) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Stream.Kind != events.StreamJob && r.Stream.Kind != events.StreamCronJob {
			continue
		}
		ns := names.Job(r.Stream).Namespace
		if byNamespace[ns] == nil {
			byNamespace[ns] = map[events.Stream]bool{}
		}
		objects[r.Stream], byNamespace[ns][r.Stream] = true, true
		records[r.Stream.ID]++
	}
	synctest.Test(t, func(t *testing.T) {
		h := following(local, nil, always)
		check := func(h http.Handler, address, want string) {
			t.Helper()
			got := heard(t, h, address, 2*time.Second)
			if len(got) < 2 || got[len(got)-1].Changes != want || got[0].Clock == "" || len(got[0].Notes) > 0 {
				t.Errorf("%s: %+v, want %q", address, got, want)
			}
		}
		behind := fmt.Sprintf("o=live&from=%d", from)
		check(h, "/?"+behind, says(len(objects), "change"))
		for ns := range byNamespace {
			check(h, "/?n="+url.QueryEscape(ns)+"&"+behind, says(len(byNamespace[ns]), "change"))
			part := permit.Namespace(local, permit.Right{Namespace: ns})
			check(following(part, nil, always), "/?"+behind, says(len(byNamespace[ns]), "change"))
		}
		changed := 0
		for i := range jobs.Items {
			x := &jobs.Items[i]
			at := "/job/" + url.PathEscape(x.Namespace) + "/" + url.PathEscape(x.Name)
			check(h, at+"?uid="+x.UID+"&"+behind, says(records[x.UID], "change"))
			check(h, at+"?at=9&uid="+x.UID+"&"+behind, "")
			if records[x.UID] > 0 {
				changed++
			}
		}
		if changed == 0 {
			t.Error("no Job has changed")
		}
		check(h, liveOf(t, h, "/"), "") // nothing is newer than the page
		check(h, liveOf(t, h, "/record/3"), "")
		check(h, liveOf(t, h, "/find?q=a"), "")
	})
}

// TestAPageHearsThatThereIsNoAnswer: while the log cannot be opened, each event gives the reason. When it can be again,
// none does. The clock goes on, with at most 4 s between two events, as the page says then that it gets no answer.
func TestAPageHearsThatThereIsNoAnswer(t *testing.T) {
	log := historytest.Hard(t, 1)
	local := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		away := errors.New("connection refused")
		h := following(local, nil, func() error {
			if after := time.Since(begun); after > 3*time.Second && after < 6*time.Second {
				return away
			}
			return nil
		})
		got := heard(t, h, "/?o=live&from=7", 10*time.Second)
		said, before := 0, begun
		for i, e := range got {
			at, err := time.Parse("2006-01-02 15:04:05Z07:00", e.Clock)
			if err != nil || at.Sub(before) > 4*time.Second {
				t.Errorf("event %d is of %q, %v", i, e.Clock, err)
			}
			before = at
			if len(e.Notes) == 1 && strings.HasPrefix(e.Notes[0], "the log could not be read since 2000-01-01 00:00:0") &&
				strings.HasSuffix(e.Notes[0], fmt.Sprintf("the newest record that is known is %d (%v)", log.Head().Sequence, away)) {
				said++
			} else if len(e.Notes) > 0 {
				t.Errorf("event %d notes %q", i, e.Notes)
			}
		}
		if last := got[len(got)-1]; said < 2 || said > 4 || len(last.Notes) > 0 || last.Changes == "" {
			t.Errorf("%d of %d events say that it is away, the last one %+v", said, len(got), last)
		}
	})
}

// TestEventsAreBounded: a user has twelve pages with events. A further page is told why it has none. All end with the
// server.
func TestEventsAreBounded(t *testing.T) {
	log := historytest.Hard(t, 1)
	local := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}
	synctest.Test(t, func(t *testing.T) {
		ends := make(chan struct{})
		h := following(local, ends, always)
		over := make(chan *httptest.ResponseRecorder, 12)
		for range 12 {
			go func() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/?o=live&from=7", nil).WithContext(t.Context()))
				over <- w
			}()
		}
		time.Sleep(5 * time.Second) // the bubble's time
		if got := heard(t, h, "/?o=live&from=7", time.Second); len(got) != 1 || got[0].Off == "" {
			t.Errorf("one more page hears %+v", got)
		}
		if len(over) > 0 {
			t.Errorf("%d have ended", len(over))
		}
		close(ends)
		for range 12 {
			if w := <-over; !strings.Contains(w.Body.String(), `"changes":`) {
				t.Errorf("one heard %s", w.Body)
			}
		}
		if w := get(t, h, "/?o=live&from=x"); w.Code != http.StatusBadRequest {
			t.Errorf("without a record: %d", w.Code)
		}
	})
}
