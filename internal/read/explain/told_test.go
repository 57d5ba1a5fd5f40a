package explain_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

// teller writes down what is told of a log. A line stands once for each object, where it is first told.
type teller struct {
	t    *testing.T
	src  history.Source
	out  bytes.Buffer
	told map[string]bool
	kept []byte // the text that is kept, when it is compared
	name string
	free bool // it is compared at the end
}

// tell opens the text that is kept.
func tell(t *testing.T, name string, src history.Source) *teller {
	t.Helper()
	l := &teller{t: t, name: filepath.Join("testdata", name+".txt"), src: src}
	if *update {
		return l
	}
	var err error
	if l.kept, err = os.ReadFile(l.name); err != nil {
		t.Fatal(err)
	}
	return l
}

// about begins a part. A text that is another one already is not told to its end: what is to come would only take time.
func (l *teller) about(head string, args ...any) {
	l.t.Helper()
	if !l.free && !*update && !bytes.HasPrefix(l.kept, l.out.Bytes()) {
		l.compare()
		l.t.FailNow()
	}
	fmt.Fprintf(&l.out, "== "+head+"\n", args...)
}

func (l *teller) object() { l.told = map[string]bool{} }

// page writes as a page does.
func (l *teller) page(write func(p *show.Page) error) {
	l.t.Helper()
	var b bytes.Buffer
	if err := write(&show.Page{Out: &b, Width: 240, Wide: true}); err != nil {
		l.t.Error(err)
	}
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimRight(line, " \n"); line != "" && !l.told[line] {
			l.told[line] = true
			fmt.Fprintln(&l.out, line)
		}
	}
}

// value writes what programs read.
func (l *teller) value(v any) {
	l.t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		l.t.Error(err)
	}
	if !l.told[string(text)] {
		l.told[string(text)] = true
		fmt.Fprintln(&l.out, string(text))
	}
}

// job writes all that is told of a Job as of a point.
func (l *teller) job(s events.Stream, at events.Sequence, whole bool) {
	l.t.Helper()
	l.jobAt(s, history.Point{Sequence: at}, whole)
}

func (l *teller) jobAt(s events.Stream, p history.Point, whole bool) {
	l.t.Helper()
	at := p.Sequence
	c, err := job.Read(l.t.Context(), l.src, s, p)
	if c == nil {
		l.about("%s at %d: %v", s, at, err)
		return
	}
	a := c.Answer()
	l.about("%s/%s at %d: %s", a.Namespace, a.Name, at, a.State)
	l.page(func(p *show.Page) error { return p.Answer(&a, true) })
	if err := c.Compare(l.t.Context()); err != nil {
		l.t.Error(err)
	}
	compared := c.Answer()
	l.page(func(p *show.Page) error { return p.Answer(&compared, !whole) })
	rows, _ := c.Attempts(false, 0, 0)
	l.page(func(p *show.Page) error { return p.Attempts(rows, c.Sum()) })
	l.page(func(p *show.Page) error { return p.Job(&c.Job) })
	if !whole {
		return
	}
	for i := range rows {
		l.value(rows[i])
	}
	failed, all := c.Attempts(true, 1, 1)
	for i := range failed {
		fmt.Fprintf(&l.out, "the second of %d tries that failed is %s\n", all, failed[i].Pod)
	}
	if few := c.Timeline(1); few.More > 0 {
		l.value(few)
	}
	timeline := c.Timeline(60)
	l.page(func(p *show.Page) error { return p.Timeline(&timeline) })
	for _, t := range c.Tries {
		pod, err := c.PodAnswer(string(t.UID))
		if err != nil {
			l.t.Error(err)
		}
		l.page(func(p *show.Page) error { return p.Answer(&pod, true) })
	}
}

// cronJob writes all that is told of a CronJob as of a point.
func (l *teller) cronJob(s events.Stream, at events.Sequence) {
	l.t.Helper()
	c, err := cron.Read(l.t.Context(), l.src, s, history.Point{Sequence: at})
	if c == nil {
		l.about("%s at %d: %v", s, at, err)
		return
	}
	a := c.Answer()
	l.about("cronjob %s/%s at %d: %s", a.Namespace, a.Name, at, a.State)
	l.page(func(p *show.Page) error { return p.Answer(&a, true) })
	l.page(func(p *show.Page) error { return p.CronJob(&c.State) })
}

// dueTimes writes what became of each due time, and of instants that are none.
func (l *teller) dueTimes(s events.Stream) {
	l.t.Helper()
	due, err := duetimes.Read(l.t.Context(), l.src, s)
	if err != nil {
		l.t.Error(err)
		return
	}
	for i := range due.Entries {
		e := &due.Entries[i]
		l.value(history.TickOf(&e.Tick, e.Record))
		for _, t := range []events.Time{e.First, e.First.Add(time.Second)} {
			w, err := whynot.Read(l.t.Context(), l.src, []events.Stream{s}, t.Go(), words.Zone{})
			if err != nil {
				l.t.Error(err)
				continue
			}
			l.page(func(p *show.Page) error { return p.Sentences(w.Sentences) })
		}
	}
	l.value(due.Open())
}

// lists writes the lists of the log.
func (l *teller) lists() {
	l.t.Helper()
	l.object()
	l.about("lists")
	failures, err := failures.Find(l.t.Context(), l.src, failures.Query{Survived: true})
	if err != nil {
		l.t.Error(err)
	}
	l.page(func(p *show.Page) error { return p.Failures(&failures) })
	for i := range failures.Items {
		l.value(failures.Items[i])
	}
	jobs, err := l.src.Jobs(l.t.Context(), history.JobsQuery{})
	if err != nil {
		l.t.Error(err)
	}
	lines := verdicts.LinesOf(l.src)
	for i := range jobs.Items {
		if jobs.Items[i].Why, err = lines.Of(l.t.Context(), &jobs.Items[i], history.Point{}); err != nil {
			l.t.Error(err)
		}
		l.value(jobs.Items[i])
	}
	crons, err := l.src.CronJobs(l.t.Context(), history.CronJobsQuery{})
	if err != nil {
		l.t.Error(err)
	}
	for i := range crons.Items {
		l.value(crons.Items[i])
	}
}

// streams are those of a kind, in the order of their first records, each with some of its records.
func streams(records []events.Record, kind events.StreamKind, most int) (out []events.Stream, points map[events.Stream][]events.Sequence) {
	all := map[events.Stream][]events.Sequence{}
	for i := range records {
		if s := records[i].Stream; s.Kind == kind {
			if all[s] == nil {
				out = append(out, s)
			}
			all[s] = append(all[s], records[i].Sequence)
		}
	}
	for s, own := range all {
		var some []events.Sequence
		for i := range min(len(own), most) {
			some = append(some, own[i*len(own)/min(len(own), most)])
		}
		all[s] = some
	}
	return out, all
}

// TestAnswersAreAsKept compares all that is told of the recorded incidents with texts that are kept, so that no change
// of an answer goes unseen. That the texts are true is for package explaintest, and for test/incidents. After a change
// of words 'go test ./internal/read/explain -run AsKept -update' writes them anew: read the difference.
func TestAnswersAreAsKept(t *testing.T) {
	for _, dir := range append(logs(t), generated(t)...) {
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			src := openRecorded(t, dir)
			l := tell(t, "told-"+name, src)
			most := 4
			if strings.HasPrefix(name, "generated-") {
				most = 1
			}
			jobs, points := streams(src.records, events.StreamJob, most)
			for _, s := range jobs {
				l.object()
				l.job(s, 0, true)
				if ofCronJobs(dir) == 0 {
					for _, at := range points[s] {
						l.job(s, at, false)
					}
				}
			}
			crons, points := streams(src.records, events.StreamCronJob, 24)
			for _, s := range crons {
				l.object()
				for _, at := range append(points[s], 0) {
					l.cronJob(s, at)
				}
				l.dueTimes(s)
			}
			l.lists()
			l.compare()
		})
	}
}

// TestLookalikesAreAsKept writes what is told of the incidents as they would be with another cause.
func TestLookalikesAreAsKept(t *testing.T) {
	open := map[string]*recorded{}
	for _, dir := range logs(t) {
		open[filepath.Base(dir)] = openRecorded(t, dir)
	}
	l := tell(t, "lookalikes", nil)
	for _, x := range lookalikes {
		other := *open[x.log]
		other.records = slices.Clone(other.records)
		for i := range other.records {
			x.change(&other.records[i])
		}
		l.src = &other
		l.object()
		l.about("%s", x.name)
		l.job(open[x.log].job(t, x.job), 0, true)
	}
	l.compare()
}

// compare holds what was written against the text that is kept.
func (l *teller) compare() {
	l.t.Helper()
	if *update {
		if err := os.WriteFile(l.name, l.out.Bytes(), 0o644); err != nil {
			l.t.Fatal(err)
		}
		return
	}
	if bytes.Equal(l.kept, l.out.Bytes()) {
		return
	}
	a, b := strings.Split(string(l.kept), "\n"), strings.Split(l.out.String(), "\n")
	for i := range b {
		if i >= len(a) || a[i] != b[i] {
			l.t.Errorf("line %d of %s is\n%s\nwant\n%s", i+1, l.name, b[i], at(a, i))
			return
		}
	}
	l.t.Errorf("%s has %d lines, want %d", l.name, len(b), len(a))
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}
