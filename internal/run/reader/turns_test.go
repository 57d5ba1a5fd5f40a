package reader_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/run/reader"
)

// TestEachUserHasTwoTurns: of questions and pages together. The third waits 2 s, and is told to come again; another
// user is answered meanwhile.
func TestEachUserHasTwoTurns(t *testing.T) {
	log := historytest.Hard(t, 1)
	local := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		stuck := true
		free := make(chan struct{})
		r, err := reader.New(reader.Config{
			Address: "127.0.0.1:0", Client: cluster(nil, "ann/", "bob/"),
			Logger: slog.New(slog.DiscardHandler), Within: time.Hour,
			Log: fixed{local: local, opened: func() {
				mu.Lock()
				wait := stuck
				mu.Unlock()
				if wait {
					<-free
				}
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		handler := r.Handler()
		ask := func(user, address string) *httptest.ResponseRecorder {
			q := httptest.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
			q.Header.Set("Authorization", "Bearer "+user)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, q)
			return w
		}
		var held sync.WaitGroup
		for _, address := range []string{"/v1/jobs", "/"} {
			held.Go(func() {
				if w := ask("ann", address); w.Code != http.StatusOK {
					t.Errorf("%s, which had its turn: %d", address, w.Code)
				}
			})
		}
		synctest.Wait()
		mu.Lock()
		stuck = false
		mu.Unlock()
		for _, address := range []string{"/v1/jobs", "/"} {
			before := time.Now()
			w := ask("ann", address)
			if waited := time.Since(before); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "2" ||
				waited != 2*time.Second {
				t.Errorf("%s of one who has two turns: %d after %s, Retry-After %q", address, w.Code, waited,
					w.Header().Get("Retry-After"))
			}
			if w := ask("bob", address); w.Code != http.StatusOK {
				t.Errorf("%s of another: %d", address, w.Code)
			}
		}
		close(free)
		held.Wait()
	})
}
