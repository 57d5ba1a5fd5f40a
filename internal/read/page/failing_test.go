package page_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
)

// TestAListOfRecordsThatCannotBeReadIsAnError: if a read for the list of an object's records fails, and the log is not
// damaged, the page is an error. An empty list would say that there are no records.
func TestAListOfRecordsThatCannotBeReadIsAnError(t *testing.T) {
	log := historytest.Hard(t, 1)
	jobs, err := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}.Jobs(t.Context(), history.JobsQuery{Limit: 1})
	if err != nil || len(jobs.Items) != 1 {
		t.Fatalf("%d Jobs, %v", len(jobs.Items), err)
	}
	address := "/job/" + jobs.Items[0].Namespace + "/" + jobs.Items[0].Name
	page := func(f *historytest.Failing) int {
		lists := joblist.New(joblist.Config{Log: log})
		return get(t, over(func(d *store.Damage) history.Source {
			return history.Local{Log: f, Lists: lists, Damage: d}
		}, "sample", ""), address).Code
	}
	sound := &historytest.Failing{Reader: log}
	if code := page(sound); code != http.StatusOK {
		t.Fatal(code)
	}
	failed := 0
	for _, where := range slices.Sorted(maps.Keys(sound.Reads)) {
		if !strings.Contains(where, "page.(*view).listing") {
			continue
		}
		f := &historytest.Failing{Reader: log, Where: where, Nth: 1, With: func(events.Sequence) error { return historytest.ErrRead }}
		if code := page(f); f.Failed && code == http.StatusOK {
			t.Errorf("a read from %s failed, and the page is whole", where)
		}
		if f.Failed {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no read of the list failed")
	}
}
