package page_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/examples/incidents"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// TestTheFirstPageOfAWindow: the strip has the times of the address, however they are written. A window that is past has
// no lists: these are as of now.
func TestTheFirstPageOfAWindow(t *testing.T) {
	h := site(t, "delegated")
	for _, row := range []struct {
		query string
		has   []string
		lacks []string
	}{
		{"?since=2026-11-23T22:07:00Z", []string{"22:07:00Z to 2026-11-23 22:08:06Z", ">running<", "Jobs, the newest first"}, nil},
		{"?since=97h53m", []string{"22:07:00Z to 2026-11-23 22:08:06Z"}, nil}, // before the test's clock
		{"?since=1m", []string{"2026-11-27 23:59:00Z to 2026-11-27 23:59:00Z"}, []string{"Jobs, the newest first"}},
		{
			"?since=2026-11-23T22:06:50Z&until=2026-11-23T22:07:00Z",
			[]string{"22:06:50Z to 2026-11-23 22:07:00Z", "oom/oom"},
			[]string{">running<", "Jobs, the newest first", "etl-orders"},
		},
		{"", []string{"22:06:47Z to 2026-11-23 22:08:06Z", ">running<", "etl-orders"}, nil},
	} {
		w := get(t, h, "/"+row.query)
		body := w.Body.String()
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", row.query, w.Code, body)
		}
		for _, text := range row.has {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %q", row.query, text)
			}
		}
		for _, text := range row.lacks {
			if strings.Contains(body, text) {
				t.Errorf("%s has %q", row.query, text)
			}
		}
	}
}

// besides is a source with a Job of another CronJob, whose name begins like those of all.
type besides struct{ history.Source }

func (s besides) Jobs(ctx context.Context, q history.JobsQuery) (history.JobsPage, error) {
	page, err := s.Source.Jobs(ctx, q)
	page.Items = append([]history.Summary{{Namespace: q.Namespace, Name: q.Name + "daily-29925853", UID: "of-another"}}, page.Items...)
	return page, err
}

// TestRunsOfACronJob: its page has the Jobs of its due times and no other, a link to why-not for each due time, and of a
// run that was deleted no length.
func TestRunsOfACronJob(t *testing.T) {
	dir := t.TempDir()
	if err := incidents.Write("cronjobs-run", dir); err != nil {
		t.Fatal(err)
	}
	log, err := open.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	lists := joblist.New(joblist.Config{Log: log, Files: store.FilesOf(log), Dir: dir})
	h := over(func(d *store.Damage) history.Source {
		return besides{history.Local{Log: log, Lists: lists, Damage: d}}
	}, "sample", "")
	const at = "/cronjob/cron-forbidden/report"
	body := get(t, h, at).Body.String()
	_, chart, _ := strings.Cut(body, "how long the runs took</h2>")
	chart, _, _ = strings.Cut(chart, "</section>")
	for _, name := range []string{"report-29925853 Complete, created 2026-11-24 20:13:00Z, took 2m15s", "report-29925855 Deleted"} {
		if !strings.Contains(chart, name) {
			t.Errorf("the runs lack %q:\n%s", name, chart)
		}
	}
	if strings.Contains(chart, "daily") || strings.Contains(chart, "#jl-scheduling") {
		t.Errorf("the runs have a Job of another CronJob, or one that runs still:\n%s", chart)
	}
	const of = `href="/cronjob/cron-forbidden/report?time=2026-11-24T20%3A14%3A00Z#why"`
	if !strings.Contains(body, of) {
		t.Errorf("the square of 20:14 has no link to why-not:\n%s", body)
	}
	why := get(t, h, at+"?time=2026-11-24T20%3A14%3A00Z").Body.String()
	if _, said, _ := strings.Cut(why, `id="why"`); !strings.Contains(said, "Forbid") {
		t.Error("it does not say why")
	}
	if then := get(t, h, at+"?at=120").Body.String(); strings.Contains(then, "how long the runs took") {
		t.Error("a page of the past says how the runs ended later")
	}
}
