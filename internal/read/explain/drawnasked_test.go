package explain_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
)

// Drawn scenes of which parts are asked for. TestDrawnScenes has others.
const (
	firstAsked  = 7000
	askedScenes = 60
)

// TestPartsOfDrawnScenes: whoever asks for a part of a list, page by page or by a condition, gets what the whole list
// has of it.
func TestPartsOfDrawnScenes(t *testing.T) {
	for i := 0; i < askedScenes; i += effort.Step(3) {
		seed := uint64(firstAsked + i)
		l := listOf(t, drawScene(newScene(t, seed%2 == 0), seed, 10+int(seed)%drawnDeeds).source())
		a := &parter{t: t, src: l.source(), records: l.records, of: fmt.Sprintf("the scene of seed %d", seed)}
		a.jobs()
		a.cronJobs()
		a.recordsOf()
		a.ticks()
	}
}

// parter asks a log for parts of its lists.
type parter struct {
	t       *testing.T
	src     history.Source
	records []events.Record
	of      string
}

func (a *parter) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatalf("%s: %v", a.of, err)
	}
}

func (a *parter) same(what string, want, got any) {
	a.t.Helper()
	if d := cmp.Diff(texted(a.t, want), texted(a.t, got)); d != "" {
		a.t.Errorf("%s, %s (-the whole +a part):\n%.2000s", a.of, what, d)
	}
}

// texted are values as programs read them: nothing, and an empty list, are the same.
func texted(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) == "null" {
		return "[]"
	}
	return string(text)
}

// since is the first record that is not older than a time.
func (a *parter) since(at events.Time) events.Sequence {
	for i := range a.records {
		if a.records[i].Time >= at {
			return a.records[i].Sequence
		}
	}
	return a.records[len(a.records)-1].Sequence + 1
}

func (a *parter) jobs() {
	a.t.Helper()
	ask := func(q history.JobsQuery) (all []history.Summary) {
		a.t.Helper()
		for {
			page, err := a.src.Jobs(a.t.Context(), q)
			a.must(err)
			all = append(all, page.Items...)
			if q.Limit > 0 && len(page.Items) > q.Limit || page.Continue == "" {
				return all
			}
			q.Continue = page.Continue
		}
	}
	whole := ask(history.JobsQuery{})
	for limit := 1; limit <= len(whole)+1; limit++ {
		a.same(fmt.Sprintf("pages of %d Jobs", limit), whole, ask(history.JobsQuery{Limit: limit}))
	}
	filter := func(is func(s *history.Summary) bool) (out []history.Summary) {
		for i := range whole {
			if is(&whole[i]) {
				out = append(out, whole[i])
			}
		}
		return out
	}
	for i := range whole {
		w := &whole[i]
		a.same("Jobs of a state", filter(func(s *history.Summary) bool { return s.State == w.State }),
			ask(history.JobsQuery{States: []history.State{w.State}, Limit: 1}))
		a.same("Jobs of a name", filter(func(s *history.Summary) bool { return strings.HasPrefix(s.Name, w.Name) }),
			ask(history.JobsQuery{Name: w.Name}))
		a.same("the Job of a UID", filter(func(s *history.Summary) bool { return strings.HasPrefix(s.UID, w.UID) }),
			ask(history.JobsQuery{UID: w.UID, Namespace: w.Namespace}))
		a.same("Jobs of another namespace", nil, ask(history.JobsQuery{UID: w.UID, Namespace: "elsewhere"}))
	}
	for i := 0; i < len(a.records); i += 1 + len(a.records)/6 {
		for _, at := range []events.Time{a.records[i].Time, a.records[i].Time.Add(1)} {
			first := a.since(at)
			a.same("Jobs since a time", filter(func(s *history.Summary) bool { return events.Sequence(s.Last) >= first }),
				ask(history.JobsQuery{Since: at}))
		}
	}
}

func (a *parter) cronJobs() {
	a.t.Helper()
	ask := func(q history.CronJobsQuery) (all []history.CronSummary) {
		a.t.Helper()
		for {
			page, err := a.src.CronJobs(a.t.Context(), q)
			a.must(err)
			all = append(all, page.Items...)
			if q.Limit > 0 && len(page.Items) > q.Limit || page.Continue == "" {
				return all
			}
			q.Continue = page.Continue
		}
	}
	whole := ask(history.CronJobsQuery{})
	for limit := 1; limit <= len(whole)+1; limit++ {
		a.same(fmt.Sprintf("pages of %d CronJobs", limit), whole, ask(history.CronJobsQuery{Limit: limit}))
	}
	filter := func(is func(s *history.CronSummary) bool) (out []history.CronSummary) {
		for i := range whole {
			if is(&whole[i]) {
				out = append(out, whole[i])
			}
		}
		return out
	}
	for i := range whole {
		w := &whole[i]
		a.same("CronJobs of a state", filter(func(s *history.CronSummary) bool { return s.State == w.State }),
			ask(history.CronJobsQuery{States: []history.CronState{w.State}, Namespace: w.Namespace}))
		a.same("the CronJob of a UID", filter(func(s *history.CronSummary) bool { return strings.HasPrefix(s.UID, w.UID) }),
			ask(history.CronJobsQuery{UID: w.UID, Name: w.Name}))
		a.same("CronJobs of another namespace", nil, ask(history.CronJobsQuery{Namespace: "elsewhere"}))
	}
	for i := 0; i < len(a.records); i += 1 + len(a.records)/6 {
		at := a.records[i].Time
		first := a.since(at)
		a.same("CronJobs since a time", filter(func(s *history.CronSummary) bool { return events.Sequence(s.Last) >= first }),
			ask(history.CronJobsQuery{Since: at}))
	}
}

func (a *parter) recordsOf() {
	a.t.Helper()
	middle := &a.records[len(a.records)/2]
	last := &a.records[len(a.records)-1]
	for _, q := range []history.Query{
		{}, {From: middle.Sequence}, {From: last.Sequence + 1}, {Limit: 3},
		{Stream: &middle.Stream}, {Stream: &middle.Stream, From: middle.Sequence},
		{Since: middle.Time}, {Until: middle.Time}, {Since: middle.Time, Until: middle.Time},
		{Since: middle.Time.Add(1)}, {Until: middle.Time.Add(-1)}, {Since: last.Time.Add(1)},
		{Kinds: []events.Kind{middle.Kind, last.Kind}}, {Kinds: []events.Kind{middle.Kind}, Limit: 1},
		{Namespace: "batch"}, {Namespace: "elsewhere"},
	} {
		var got, want []events.Sequence
		for r, err := range a.src.Records(a.t.Context(), q) {
			a.must(err)
			got = append(got, r.Sequence)
		}
		for i := range a.records {
			r := &a.records[i]
			if !isWanted(&q, r) {
				continue
			}
			if want = append(want, r.Sequence); len(want) == q.Limit {
				break
			}
		}
		a.same(fmt.Sprintf("records by %+v", q), want, got)
	}
}

// isWanted reports whether a query wants a record of a scene, whose objects are of the namespace batch.
func isWanted(q *history.Query, r *events.Record) bool {
	of := r.Evidence.Namespace
	if of == "" && r.Stream != events.Controller {
		of = "batch"
	}
	switch {
	case r.Sequence < q.From, q.Stream != nil && r.Stream != *q.Stream, q.Namespace != "" && of != q.Namespace,
		q.Since != 0 && r.Time < q.Since, q.Until != 0 && r.Time > q.Until:
		return false
	}
	return len(q.Kinds) == 0 || slices.Contains(q.Kinds, r.Kind)
}

func (a *parter) ticks() {
	a.t.Helper()
	crons, _ := streams(a.records, events.StreamCronJob, 1)
	for _, s := range crons {
		whole, err := duetimes.Read(a.t.Context(), a.src, s)
		a.must(err)
		parts, err := duetimes.Parts(a.t.Context(), a.src, s)
		a.must(err)
		if len(parts) != 1 {
			a.t.Errorf("%s: %d parts of %s", a.of, len(parts), s)
		}
		told := func(c *duetimes.CronJob) (out []history.Tick) {
			for _, e := range c.All() {
				out = append(out, history.TickOf(&e.Tick, e.Record))
			}
			return out
		}
		all := told(whole)
		a.same("the due times of all parts", all, told(parts[0]))
		for n := range len(whole.Entries) + 2 {
			c, err := duetimes.Newest(a.t.Context(), a.src, s, n)
			a.must(err)
			got := told(c)
			a.same(fmt.Sprintf("the newest due times, at least %d", n), all[max(0, len(all)-len(got)):], got)
			if len(c.Entries) < min(n, len(whole.Entries)) {
				a.t.Errorf("%s: of %d entries there are %d of the newest %d", a.of, len(whole.Entries), len(c.Entries), n)
			}
			a.same("the open due time", whole.Open(), c.Open())
		}
	}
}

// TestNarrowPagesOfDrawnScenes: a narrow page says what a wide one says, in the same words and order, and no line is
// wider than it may be.
func TestNarrowPagesOfDrawnScenes(t *testing.T) {
	for seed := range uint64(askedScenes) {
		seed += firstAsked
		l := listOf(t, drawScene(newScene(t, seed%2 == 0), seed, 10+int(seed)%drawnDeeds).source())
		src := l.source()
		page := func(width int, write func(p *show.Page) error) string {
			var b bytes.Buffer
			if err := write(&show.Page{Out: &b, Width: width}); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		narrow := func(what string, write func(p *show.Page) error) {
			t.Helper()
			wide := strings.Join(strings.Fields(page(0, write)), " ")
			for _, width := range []int{72, 80, 132} {
				text := page(width, write)
				for line := range strings.Lines(text) {
					line = strings.TrimRight(line, "\n")
					longest := slices.MaxFunc(append(strings.Fields(line), ""), func(a, b string) int { return len(a) - len(b) })
					if n := utf8.RuneCountInString(line); n > width && len(longest) < width/3 {
						t.Errorf("the scene of seed %d, %s: a line of %d columns is wider than %d:\n%s", seed, what, n, width, line)
					}
				}
				if got := strings.Join(strings.Fields(text), " "); got != wide {
					t.Errorf("the scene of seed %d, %s: in %d columns it says\n%s\nand in all\n%s", seed, what, width, got, wide)
				}
			}
		}
		jobs, _ := streams(l.records, events.StreamJob, 1)
		for _, s := range jobs {
			if c, err := job.Read(t.Context(), src, s, history.Point{}); err == nil {
				a := c.Answer()
				narrow("explain", func(p *show.Page) error { return p.Answer(&a, true) })
			}
		}
		crons, _ := streams(l.records, events.StreamCronJob, 1)
		for _, s := range crons {
			if c, err := cron.Read(t.Context(), src, s, history.Point{}); err == nil {
				a := c.Answer()
				narrow("explain of a CronJob", func(p *show.Page) error { return p.Answer(&a, true) })
			}
		}
	}
}
