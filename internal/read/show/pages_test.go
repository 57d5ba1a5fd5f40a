package show

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

var update = flag.Bool("update", false, "write the texts that are kept anew")

// formats are the pages on which everything is shown, incidents on the first three.
var formats = []Page{
	{Width: 60}, {Width: 80, Namespace: "payments"}, {Width: 120, Wide: true, Zone: words.Zone{Location: time.FixedZone("X", 7200)}},
	{Width: 70, Whole: true, Asked: true}, {Whole: true, Colour: true},
}

// sheets are pages that are written one after the other. Of those of one thing a line stands once, where it comes
// first.
type sheets struct {
	t    *testing.T
	out  bytes.Buffer
	told map[string]bool
}

func (s *sheets) about(head string) {
	fmt.Fprintln(&s.out, "== "+head)
	s.told = map[string]bool{}
}

func (s *sheets) show(most int, write func(p *Page) error) {
	s.t.Helper()
	for i := range most {
		p := formats[i]
		fmt.Fprintf(&s.out, "-- %d\n", i)
		for line := range strings.Lines(textOf(s.t, &p, write)) {
			if line = strings.ReplaceAll(strings.TrimRight(line, " \n"), "\x1b", "^"); line != "" && !s.told[line] {
				s.told[line] = true
				fmt.Fprintln(&s.out, line)
			}
		}
	}
}

// keep compares what was written with the text that is kept.
func (s *sheets) keep(name string) {
	s.t.Helper()
	name = filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(name, s.out.Bytes(), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	want, got := strings.Split(string(kept), "\n"), strings.Split(s.out.String(), "\n")
	for i := range want {
		if i >= len(got) || want[i] != got[i] {
			s.t.Fatalf("line %d of %s is\n%s\nwant\n%s", i+1, name, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), want[i])
		}
	}
	if len(got) != len(want) {
		s.t.Fatalf("%s has %d lines, want %d", name, len(got), len(want))
	}
}

// shapes are tables with what is hard to fit.
var shapes = []struct {
	name string
	t    Table
	rows [][]Cell
}{
	{"short", Table{Head: []string{"A", "BB", "C"}}, [][]Cell{{{Text: "a"}, {Text: "b"}, {Text: "c"}}, {{Text: "aaaa"}, {}, {Text: "c"}}, {{Text: "a rule"}}}},
	{"only a head", Table{Head: []string{"A", "B"}}, [][]Cell{}},
	{"long names", Table{Head: []string{"NAMESPACE", "NAME", "STATE"}}, [][]Cell{
		{{Text: "team-payments-of-the-north", Name: true}, {Text: "settlement-settlement-29300280", Name: true}, {Text: "Failed, and a text that is a little longer"}},
		{{Text: "a", Name: true}, {Text: "b", Name: true}, {Text: "Complete", Style: Trouble}},
	}},
	{"a long first column that is no name", Table{Head: []string{"TEXT", "NAME"}}, [][]Cell{
		{{Text: strings.Repeat("text ", 14)}, {Text: "settlement-29300280-abcdefgh-1234567890", Name: true}},
	}},
	{"one long word last", Table{Head: []string{"A", "B"}}, [][]Cell{{{Text: "a", Style: Strong}, {Text: strings.Repeat("word", 40)}}, {{Text: "a"}, {Text: "(" + strings.Repeat("why ", 40)}}}},
	{"folded", Table{Head: []string{"SINCE", "JOB", "WHY"}, Fold: true}, [][]Cell{
		{{Text: "12:00"}, {Text: "settlement-29300280", Name: true}, {Text: longWhy, Style: Trouble}}, {{Text: "12:01"}, {Text: "x", Name: true}, {Text: "short"}},
		{{Text: "a line of its own between the rows that is long enough to be folded where there are eighty columns or fewer"}},
	}},
	{"folded with a long name", Table{Head: []string{"SINCE", "JOB", "WHY"}, Fold: true}, [][]Cell{
		{{Text: "2026-03-02 12:00:00Z"}, {Text: strings.Repeat("settlement-", 6), Name: true}, {Text: "a reason of thirty columns, ok"}},
		{{Text: "2026-03-02 12:00:00Z"}, {Text: strings.Repeat("settlement-", 6), Name: true}, {Text: longWhy}},
	}},
	{"columns that may go", Table{Head: []string{"NAMESPACE", "NAME", "ACTIVE", "FAILED", "AGE", "STATE"}, Drop: []string{"ACTIVE", "NONE", "FAILED", "AGE"}}, [][]Cell{
		{
			{Text: "payments", Name: true}, {Text: "settlement-29300280-of-the-north", Name: true}, {Text: "10"}, {Text: "12"}, {Text: "3h12m"},
			{Text: "Running, deleted"},
		},
		{{Text: "p", Name: true}, {Text: "s", Name: true}, {Text: "1"}, {Text: "1"}, {Text: "1s"}, {Text: "Complete"}},
		{{Text: "a rule"}},
	}},
	{"folded columns that may go", Table{Head: []string{"NAME", "NODE", "EXITS"}, Drop: []string{"NODE"}, Fold: true}, [][]Cell{
		{{Text: "settlement-29300280", Name: true}, {Text: "ip-10-0-113-207.eu-central-1", Name: true}, {Text: "main 137 (OOMKilled), istio-proxy 143"}},
	}},
	{"widths at least", Table{Head: []string{"KIND", "N", "DETAIL"}, Least: []int{12, 1}}, [][]Cell{{{Text: "x"}, {Text: "1"}, {Text: "y"}}}},
	{"two columns a character", Table{Head: []string{"A", "B"}}, [][]Cell{{{Text: "磁盘空间不足磁盘空间不足磁盘空间不足", Name: true}, {Text: "磁盘空间不足 磁盘空间不足 磁盘空间不足 磁盘空间不足"}}}},
}

// TestTablesAreAsKept writes tables of each shape in widths from narrower than fits to none at all. After a change 'go
// test ./internal/read/show -run AsKept -update' writes the texts anew: read the difference.
func TestTablesAreAsKept(t *testing.T) {
	var out bytes.Buffer
	for _, shape := range shapes {
		for _, width := range []int{0, 20, 36, 44, 57, 60, 61, 80, 120} {
			for _, form := range []Table{{}, {Whole: true}, {Colour: true}} {
				table := shape.t
				table.Out, table.Width, table.Whole, table.Colour = &out, width, form.Whole, form.Colour
				fmt.Fprintf(&out, "== %s in %d, whole %t, colour %t\n", shape.name, width, form.Whole, form.Colour)
				for _, row := range shape.rows {
					table.Row(slices.Clone(row)...)
				}
				if err := table.Flush(); err != nil {
					t.Fatal(err)
				}
				if left := table.LeftOut(); left != "" {
					fmt.Fprintln(&out, left)
				}
			}
		}
	}
	s := sheets{t: t}
	s.out.WriteString(strings.ReplaceAll(out.String(), "\x1b", "^"))
	s.keep("tables")
}

// TestPagesAreAsKept writes all pages with all their fields set, in each state, and pages of recorded incidents.
func TestPagesAreAsKept(t *testing.T) {
	s := sheets{t: t}
	for i, x := range allShown() {
		s.about(fmt.Sprintf("%s %d", x.name, i))
		s.show(len(formats), x.write)
	}
	s.keep("pages")
}

// incidents are Jobs and CronJobs of recorded incidents whose pages are kept.
var incidents = map[string][]string{
	"delegated":         {"oom", "report-daily", "train", "ingest", "badimage", "crashloop", "matrix", "shards"},
	"cronjobs-observed": {""},
}

func TestPagesOfIncidentsAreAsKept(t *testing.T) {
	s := sheets{t: t}
	for _, name := range []string{"delegated", "cronjobs-observed"} {
		log := historytest.Recorded(t, name)
		s.incident(history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log, Files: store.FilesOf(log)})}, name)
	}
	s.keep("incidents")
}

func (s *sheets) incident(src history.Source, name string) {
	ctx := s.t.Context()
	jobs, err := src.Jobs(ctx, history.JobsQuery{})
	if err != nil {
		s.t.Fatal(err)
	}
	crons, err := src.CronJobs(ctx, history.CronJobsQuery{})
	if err != nil {
		s.t.Fatal(err)
	}
	failures, err := failures.Find(ctx, src, failures.Query{Survived: true})
	if err != nil {
		s.t.Fatal(err)
	}
	s.about(name)
	s.show(3, func(p *Page) error {
		table, whys, rows := p.Jobs(), p.JobsWhy(), p.CronJobs()
		for i := range jobs.Items {
			table.Row(&jobs.Items[i])
			whys.Row(&jobs.Items[i])
		}
		for i := range crons.Items {
			rows.Row(&crons.Items[i])
		}
		for _, flush := range []func() error{table.Flush, whys.Flush, rows.Flush} {
			if err := flush(); err != nil {
				return err
			}
		}
		return p.Failures(&failures)
	})
	for i := range jobs.Items {
		if slices.Contains(incidents[name], jobs.Items[i].Name) {
			s.job(src, &jobs.Items[i])
		}
	}
	for i := range crons.Items {
		c, err := cron.Read(ctx, src, events.CronJobStream(types.UID(crons.Items[i].UID)), history.Point{})
		if err != nil {
			s.t.Fatal(err)
		}
		a := c.Answer()
		s.about(crons.Items[i].Name)
		s.show(3, func(p *Page) error { return p.CronJob(&c.State) })
		s.show(3, func(p *Page) error { return p.Answer(&a, true) })
	}
}

func (s *sheets) job(src history.Source, of *history.Summary) {
	c, err := job.Read(s.t.Context(), src, events.JobStream(types.UID(of.UID)), history.Point{})
	if err != nil {
		s.t.Fatal(err)
	}
	a := c.Answer()
	rows, _ := c.Attempts(false, 0, 0)
	s.about(of.Name)
	s.show(3, func(p *Page) error { return p.Job(&c.Job) })
	s.show(3, func(p *Page) error { return p.Answer(&a, false) })
	s.show(3, func(p *Page) error { return p.Attempts(rows, c.Sum()) })
	s.show(3, func(p *Page) error {
		n := p.Width
		if n == 0 {
			n = 100
		}
		timeline := c.Timeline(n)
		return p.Timeline(&timeline)
	})
	fmt.Fprintln(&s.out, Markdown(&a, words.Zone{}))
}
