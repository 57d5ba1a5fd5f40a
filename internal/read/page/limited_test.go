package page_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/page"
	"github.com/jobledger/jobledger/store"
)

// lacking is a right that is missing.
type lacking struct{}

func (lacking) Error() string   { return "you may not <all>: name a namespace" }
func (lacking) HTTPStatus() int { return http.StatusForbidden }

// TestWhoMayReadOneNamespaceIsAskedForIt: pages about none are refused with the missing right and a field for the name
// of one; pages of one say on each form what they leave out, and lead to pages of that namespace.
func TestWhoMayReadOneNamespaceIsAskedForIt(t *testing.T) {
	log := historytest.Hard(t, 1)
	local := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}
	jobs, err := local.Jobs(t.Context(), history.JobsQuery{Limit: 1})
	if err != nil || len(jobs.Items) != 1 {
		t.Fatalf("%d Jobs, %v", len(jobs.Items), err)
	}
	of := "/job/" + jobs.Items[0].Namespace + "/" + jobs.Items[0].Name
	const says = "only records of one namespace"
	var about page.About
	done, asked := 0, 0
	h := page.New(page.Config{Within: 24 * time.Hour,
		Source: func(_ *http.Request, a page.About, d *store.Damage, note func(string)) (page.Given, error) {
			if about = a; a.Namespace == "" {
				return page.Given{}, lacking{}
			}
			note(says)
			asked++
			return page.Given{
				Source: ask.Source{Source: local, Note: note, Behind: note, Clock: time.Now, Damage: d}, Only: a.Namespace,
				Done: func() { done++ },
			}, nil
		}})
	for _, row := range []struct {
		address string
		about   page.About
		asks    bool
	}{
		{"/", page.About{}, true}, {"/find?q=etl", page.About{}, true}, {"/record/7", page.About{Record: 7}, false},
		{"/record/7?o=json", page.About{Record: 7}, false},
	} {
		w := get(t, h, row.address)
		body := w.Body.String()
		if w.Code != http.StatusForbidden || about != row.about || strings.Contains(body, `name="n" required`) != row.asks ||
			!strings.Contains(body, "you may not") || strings.Contains(body, "<all>") && !strings.Contains(row.address, "o=") {
			t.Errorf("%s: %d, about %+v\n%s", row.address, w.Code, about, body)
		}
		if strings.Contains(row.address, "q=") && !strings.Contains(body, `name="q" value="etl"`) {
			t.Errorf("%s forgets what was looked for\n%s", row.address, body)
		}
	}
	space := jobs.Items[0].Namespace
	for _, address := range []string{"/?n=" + space, of, of + "?o=md", of + "?o=json", of + "?o=svg", of + "?o=file",
		"/find?n=" + space + "&q=abc", "/record/7?n=" + space, "/job/" + space + "/nosuch"} {
		w := get(t, h, address)
		if about.Namespace != space || w.Header().Get("Jobledger-Note") != `"`+says+`"` {
			t.Errorf("%s: %d about %+v, note %q", address, w.Code, about, w.Header().Get("Jobledger-Note"))
		}
		if form := w.Header().Get("Content-Type"); strings.HasPrefix(form, "text/") &&
			!strings.Contains(w.Body.String(), says) {
			t.Errorf("%s does not say that it leaves something out:\n%s", address, w.Body)
		}
		if strings.HasPrefix(w.Body.String(), "<!doctype") && !strings.Contains(address, "o=file") {
			for _, part := range []string{`href="/?n=` + space + `"`, `name="n" value="` + space + `"`} {
				if !strings.Contains(w.Body.String(), part) {
					t.Errorf("%s leads away from the namespace: it lacks %s", address, part)
				}
			}
		}
	}
	if done != asked || done == 0 {
		t.Errorf("%d of %d sources were given back", done, asked)
	}
}
