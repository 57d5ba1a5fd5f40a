package permit_test

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/page"
	"github.com/jobledger/jobledger/internal/read/permit"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// recorded is a recorded log, and what its records say of namespaces.
type recorded struct {
	log    store.Reader
	local  history.Local
	spaces []string
	of     map[events.Stream]string   // the namespace of a stream
	said   map[string]map[string]bool // by namespace: UIDs, and the names of Jobs and pods
}

func openRecorded(t *testing.T, dir string) *recorded {
	t.Helper()
	log, err := open.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	r := &recorded{
		log: log, local: history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})},
		of: map[events.Stream]string{}, said: map[string]map[string]bool{},
	}
	for rec, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		space := rec.Evidence.Namespace
		if rec.Stream == events.Controller || space == "" {
			continue
		}
		if r.said[space] == nil {
			r.said[space], r.spaces = map[string]bool{}, append(r.spaces, space)
		}
		r.of[rec.Stream] = space
		r.said[space][rec.Evidence.Name], r.said[space][rec.Stream.ID] = true, true
	}
	return r
}

// only is the log as it would be if it had only the records of one namespace, but for their numbers.
type only struct {
	store.Reader
	of    map[events.Stream]string
	space string
}

func (o only) has(r *events.Record) bool {
	if r.Stream != events.Controller {
		return o.of[r.Stream] == o.space
	}
	switch f := r.Facts.(type) {
	case *events.PassedOver:
		return r.Evidence.Namespace == "" || r.Evidence.Namespace == o.space
	case *events.NamespaceSeen:
		return f.Name == o.space
	}
	return true
}

func (o only) records(all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range all {
			if (err != nil || o.has(&r)) && !yield(r, err) {
				return
			}
		}
	}
}

// Read gives an empty record of the controller in the place of each record that is left out, because the records of a
// log have no numbers that are missing.
func (o only) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range o.Reader.Read(ctx, from) {
			if err == nil && !o.has(&r) {
				r.Header.Stream, r.Header.Kind, r.Header.Previous, r.Header.Causes = events.Controller,
					events.KindClusterWatched, 0, nil
				r.Facts, r.Evidence = &events.Erased{}, events.Evidence{}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (o only) ReadStream(
	ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction,
) iter.Seq2[events.Record, error] {
	return o.records(o.Reader.ReadStream(ctx, s, from, dir))
}

func (o only) Newest(s events.Stream, born events.Time) (events.Sequence, error) {
	if s != events.Controller && o.of[s] != o.space {
		return 0, nil
	}
	return o.Reader.Newest(s, born)
}

func (o only) Find(namespace, name string) ([]events.Stream, error) {
	if namespace != o.space {
		return nil, nil
	}
	return o.Reader.Find(namespace, name)
}

// handlers answer questions and pages from a source.
func handlers(src history.Source, at time.Time) http.Handler {
	clock := func() time.Time { return at }
	mux := http.NewServeMux()
	serve.Asking{Within: patience.Time(), Source: func(
		_ *http.Request, _ string, told serve.Told,
	) (ask.Source, func(), error) {
		return ask.Source{Source: src, Note: told.Note, Behind: told.Behind, AsOf: told.AsOf, Clock: clock,
			Damage: told.Damage}, nil, nil
	}}.Handle(mux, ask.All())
	mux.Handle("/", page.New(page.Config{Where: "test", Within: patience.Time(), Source: func(
		_ *http.Request, _ page.About, d *store.Damage, note func(string),
	) (page.Given, error) {
		return page.Given{Source: ask.Source{Source: src, Note: note, Behind: note, Clock: clock, Damage: d}}, nil
	}}))
	return mux
}

// addresses are all that can be asked about a log: each question and each screen in each form, of the objects of all
// namespaces.
func (r *recorded) addresses(t *testing.T, space string) (all []string) {
	t.Helper()
	all = append(all, "/v1/jobs", "/v1/cronjobs", "/v1/failures", "/v1/failures?near-misses=true", "/v1/plan",
		"/v1/jobs?why=true")
	all = append(all, "/v1/events", "/v1/events?tail=9", "/v1/events?words=whole", "/v1/events?namespace="+space)
	all = append(all, "/v1/events?kind=Decided", "/v1/events?kind=JobAdded&limit=3&words=beside",
		"/v1/events?kind=Decided&tail=4", "/v1/events?kind=PodChanged&from=40&bare=true")
	for _, form := range []string{"", "?o=json", "?o=md", "?o=svg", "?o=file"} {
		all = append(all, "/"+form)
	}
	jobs, err := r.local.Jobs(t.Context(), history.JobsQuery{})
	if err != nil {
		t.Fatal(err)
	}
	others := 0
	for _, j := range jobs.Items {
		if j.Namespace != space {
			if others++; others > 3 {
				continue
			}
		}
		of := j.Namespace + "/" + j.Name
		all = append(all, "/v1/find?q="+j.Name, "/v1/find?q="+j.UID[:8], "/v1/get/job/"+j.Name, "/record/"+jsonNumber(j.Last))
		for _, q := range []string{"explain", "attempts", "timeline", "get", "events"} {
			all = append(all, "/v1/"+q+"/"+of)
		}
		all = append(all, "/v1/events/job/"+j.UID+"?words=whole", "/v1/events/"+of+"?tail=3")
		all = append(all, "/v1/explain/"+of+"?at="+jsonNumber(j.First))
		for _, form := range []string{"", "?o=json", "?o=md", "?o=svg", "?o=file"} {
			all = append(all, "/job/"+of+form)
		}
	}
	crons, err := r.local.CronJobs(t.Context(), history.CronJobsQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range crons.Items {
		of := c.Namespace + "/" + c.Name
		noon := url.QueryEscape(events.Time(c.Created).Go().UTC().Format("2006-01-02T15:04:05Z"))
		all = append(all, "/v1/ticks/"+of, "/v1/next/"+of, "/v1/why-not/"+of+"?time="+noon, "/v1/events/cronjob/"+of,
			"/v1/explain/cronjob/"+c.Name+"?namespace="+c.Namespace)
		for _, form := range []string{"", "?o=json", "?o=md", "?o=svg", "?o=file", "?time=" + noon} {
			all = append(all, "/cronjob/"+of+form)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func jsonNumber(n uint64) string { return strconv.FormatUint(n, 10) }

// TestNoAnswerNamesAnother: with the right to read one namespace, each answer, page, picture and file is that of a log
// which has only that namespace, and no byte of it names an object of another.
func TestNoAnswerNamesAnother(t *testing.T) {
	dirs, err := filepath.Glob("../../../examples/incidents/*/log")
	if err != nil || len(dirs) < 4 {
		t.Fatalf("the recorded incidents are %v, %v", dirs, err)
	}
	for _, dir := range dirs {
		t.Run(path.Base(path.Dir(dir)), func(t *testing.T) {
			r := openRecorded(t, dir)
			if len(r.spaces) < 2 {
				t.Fatalf("the log has the namespaces %v: one is no test", r.spaces)
			}
			at := r.log.Head().Time.Go().Add(time.Minute)
			asked := 0
			spaces := r.spaces
			if !effort.IsLong() {
				spaces = spaces[:1]
			}
			for _, space := range spaces {
				reduced := only{r.log, r.of, space}
				want := handlers(history.Local{Log: reduced, Lists: joblist.New(joblist.Config{Log: reduced})}, at)
				got := handlers(permit.Namespace(r.local, permit.Right{Namespace: space}), at)
				hidden := r.hidden(space)
				for _, address := range r.addresses(t, space) {
					asked++
					is, should := asks(got, address), asks(want, address)
					if is != should && !numbered(address) { // those of others are empty there, and not here
						t.Errorf("%s may be read: %s: %s", space, address, differ(is, should))
					}
					for _, name := range hidden {
						if strings.Contains(is, name) && !strings.Contains(address, name) {
							t.Errorf("%s may be read: %s names %q, of another", space, address, name)
						}
					}
				}
			}
			t.Logf("%d namespaces of %d, %d answers", len(spaces), len(r.spaces), asked)
		})
	}
}

// numbered reports whether an answer is about records by their numbers, whatever they are of.
func numbered(address string) bool {
	all := address == "/v1/events" || strings.HasPrefix(address, "/v1/events?")
	return strings.HasPrefix(address, "/record/") ||
		all && !strings.Contains(address, "kind=") && !strings.Contains(address, "namespace=")
}

// differ is the first line in which two answers differ.
func differ(is, should string) string {
	lines, wanted := strings.Split(is, "\n"), strings.Split(should, "\n")
	for i := range min(len(lines), len(wanted)) {
		if lines[i] != wanted[i] {
			return "line " + strconv.Itoa(i+1) + " is\n\t" + lines[i] + "\nand in the log of that namespace\n\t" + wanted[i]
		}
	}
	return strconv.Itoa(len(lines)) + " lines, and " + strconv.Itoa(len(wanted)) + " in the log of that namespace"
}

// hidden are the UIDs and names that only records of other namespaces say. Short names may be words.
func (r *recorded) hidden(space string) (names []string) {
	for other, said := range r.said {
		for name := range said {
			if other != space && !r.said[space][name] && len(name) > 8 && !strings.Contains(space, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// asks is what a handler answers: status, headers that tell something, and body.
func asks(handler http.Handler, address string) string {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
	var out strings.Builder
	for name, values := range w.Header() {
		if strings.HasPrefix(name, "Jobledger-") {
			out.WriteString(name + ": " + strings.Join(values, "; ") + "\n")
		}
	}
	lines := strings.Split(out.String(), "\n")
	slices.Sort(lines)
	return http.StatusText(w.Code) + strings.Join(lines, "\n") + "\n" + w.Body.String()
}
