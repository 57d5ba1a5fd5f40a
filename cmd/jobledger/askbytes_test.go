package main

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/store/open"
)

// servedLog is a recorded log, on disk and behind a service.
type servedLog struct {
	dir  string
	url  string
	jobs []string // as NAMESPACE/job/NAME, the form in addresses of questions
	crons,
	noons []string // CronJobs; and for each a time of it
}

// TestAnswersAreTheSameBytes: the command that reads a log, the command that asks a controller, and the address of each
// question give the same bytes, for all objects of the recorded incidents (in make test for every eighth). New questions
// are covered without being named here.
func TestAnswersAreTheSameBytes(t *testing.T) {
	dirs, err := filepath.Glob("../../examples/incidents/*/log")
	if err != nil || len(dirs) < 4 {
		t.Fatalf("the recorded incidents are %v, %v", dirs, err)
	}
	asked := map[string]int{}
	for _, dir := range dirs {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			logged := openIncident(t, dir)
			for _, q := range ask.All() {
				for _, args := range effort.Each(8, logged.arguments(&q)) {
					asked[q.Name]++
					logged.same(t, &q, args)
				}
			}
		})
	}
	for _, q := range ask.All() {
		if asked[q.Name] < len(dirs)/2 {
			t.Errorf("%s was asked %d times only", q.Name, asked[q.Name])
		}
	}
}

// openIncident serves a copy of a recorded log.
func openIncident(t *testing.T, from string) *servedLog {
	t.Helper()
	i := &servedLog{dir: filepath.Join(t.TempDir(), "log")}
	if err := os.CopyFS(i.dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	log, err := open.Archive(i.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	lists := joblist.New(joblist.Config{Log: log})
	server := httptest.NewServer(serve.Guard(serve.Handler(serve.Config{Log: log, Lists: lists, Within: patience.Time()})))
	t.Cleanup(server.Close)
	i.url = server.URL
	local := history.Local{Log: log, Lists: lists}
	jobs, err := local.Jobs(t.Context(), history.JobsQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs.Items {
		i.jobs = append(i.jobs, "job/"+j.Namespace+"/"+j.Name)
	}
	crons, err := local.CronJobs(t.Context(), history.CronJobsQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range crons.Items {
		i.crons = append(i.crons, "cronjob/"+c.Namespace+"/"+c.Name)
		i.noons = append(i.noons, events.Time(c.Created).Go().Format("2006-01-02T15:04:05Z"))
	}
	return i
}

// arguments returns all argument lists with which a question can be asked about a log.
func (i *servedLog) arguments(q *ask.Entry) (all [][]string) {
	one := func(objects []string) {
		for _, object := range objects {
			all = append(all, []string{object})
		}
	}
	switch q.Takes {
	case ask.Nothing:
		all = [][]string{nil}
	case ask.AText:
		for _, object := range slices.Concat(i.jobs, i.crons) {
			all = append(all, []string{path.Base(object)})
		}
	case ask.AJob:
		one(i.jobs)
	case ask.AnObject:
		one(i.jobs)
		one(i.crons)
	case ask.ACronJob:
		one(i.crons)
	case ask.MaybeOne:
		all = [][]string{nil}
		one(i.jobs)
		one(i.crons)
	case ask.AnInstant:
		for n := range i.crons {
			all = append(all, []string{i.crons[n], i.noons[n]})
		}
	}
	return all
}

// parameters are for questions with answers that depend on the time of asking.
var parameters = map[string]url.Values{"next": {"after": {"2026-12-01T00:00:00Z"}}}

// same asks a question in all ways, and compares the answers.
func (i *servedLog) same(t *testing.T, q *ask.Entry, args []string) {
	t.Helper()
	what := strings.Join(append([]string{q.Name}, args...), " ")
	line := append(slices.Clone(q.Command), args...)
	for name := range parameters[q.Name] {
		line = append(line, "--"+name, parameters[q.Name].Get(name))
	}
	here := command(append(slices.Clone(line), "-o", "json", "--log", i.dir)...)
	there := command(append(slices.Clone(line), "-o", "json", "--server", i.url)...)
	answer := here.out
	if q.Name == "events" {
		i.samePages(t, q, args, answer)
	}
	if d := cmp.Diff(here, there, cmp.AllowUnexported(here)); d != "" {
		t.Errorf("%s -o json (-log +server):\n%s", what, d)
	}
	if here.code != 0 || len(here.out) == 0 {
		t.Errorf("%s: exit code %d, %s", what, here.code, here.err)
	}
	var local []string // next has none
	if q.Name != "next" {
		local = []string{"--local"}
	}
	here = command(append(slices.Clone(line), append(local, "--log", i.dir)...)...)
	there = command(append(slices.Clone(line), append(local, "--server", i.url)...)...)
	if d := cmp.Diff(here, there, cmp.AllowUnexported(here)); d != "" {
		t.Errorf("%s (-log +server):\n%s", what, d)
	}
	if q.Name == "events" {
		return
	}
	body, status := i.get(t, q, args, parameters[q.Name])
	if status != http.StatusOK || body != answer {
		t.Errorf("GET %s: %d (-log +address):\n%s", what, status, cmp.Diff(answer, body))
	}
}

// samePages walks all pages of records. Their lines are those of the command.
func (i *servedLog) samePages(t *testing.T, q *ask.Entry, args []string, lines string) {
	t.Helper()
	var got strings.Builder
	pages := 0
	for values := (url.Values{"limit": {"150"}}); ; pages++ {
		body, status := i.get(t, q, args, values)
		var page ask.RecordsPage
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != http.StatusOK {
			t.Fatalf("GET /v1/events %v: %d, %v: %.300s", args, status, err, body)
		}
		for n, line := range page.Records {
			end := map[bool]string{true: "\n", false: ",\n"}[n == len(page.Records)-1]
			if !strings.Contains(body, "\n    "+string(line)+end) {
				t.Errorf("GET /v1/events %v: record %s is no line of its own", args, line)
			}
			got.Write(append(line, '\n'))
		}
		if page.Next == 0 {
			break
		}
		values.Set("from", strconv.FormatUint(page.Next, 10))
	}
	if lines, _, _ = strings.Cut(lines, "{\"passedOver\""); got.String() != lines || len(args) == 0 && pages == 0 {
		t.Errorf("GET /v1/events %v: %d pages (-log +address):\n%s", args, pages, cmp.Diff(lines, got.String()))
	}
}

// get asks a question by its address.
func (i *servedLog) get(t *testing.T, q *ask.Entry, args []string, parameters url.Values) (body string, status int) {
	t.Helper()
	values := maps.Clone(parameters)
	if values == nil {
		values = url.Values{}
	}
	switch q.Takes {
	case ask.AnInstant:
		values.Set("time", args[1])
		args = args[:1]
	case ask.AText:
		values.Set("q", args[0])
		args = nil
	case ask.Nothing, ask.AnObject, ask.AJob, ask.ACronJob, ask.MaybeOne:
	}
	address := i.url + "/v1/" + q.Name
	if len(args) > 0 {
		address += "/" + args[0]
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"?"+values.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), resp.StatusCode
}
