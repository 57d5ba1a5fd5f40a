package explain_test

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Scenes are drawn in groups, so that a mutant need not be tried with all of them, and of each a sum is kept.
const (
	drawnGroups = 8
	drawnScenes = 30 // of a group
	drawnDeeds  = 40
)

// drawnText is what is told of a drawn scene: as of its end, with all pages, and as of a few of its records.
func drawnText(t *testing.T, seed uint64) (text string, answers int) {
	t.Helper()
	var b strings.Builder
	s := &sum{t: t, out: &b}
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("the scene of seed %d: %v\n%s", seed, p, debug.Stack())
		}
	}()
	l := listOf(t, drawScene(newScene(t, seed%2 == 0), seed, 10+int(seed)%drawnDeeds).source())
	src := l.source()
	s.log(src, l.records)
	for i := 3; i < len(l.records); i += 1 + len(l.records)/5 {
		s.points(src, l.records[i:i+1])
	}
	s.lives(src, l.records)
	s.otherwise(l, seed)
	told := &teller{t: t, src: src, told: map[string]bool{}, free: true}
	told.scene(l)
	told.lists()
	told.narrow(int(seed))
	told.records(l)
	return b.String() + told.out.String(), s.answers
}

// narrow writes the lists as a terminal shows them, or a pipe, and in another zone.
func (l *teller) narrow(seed int) {
	l.t.Helper()
	zone := words.Zone{}
	if seed%3 == 0 {
		zone.Location = time.FixedZone("X", 5400)
	}
	page := show.Page{
		Out: &l.out, Width: []int{80, 100, 132}[seed%3], Whole: seed%2 == 0, Asked: seed%4 == 0, Wide: seed%5 == 0, Zone: zone,
	}
	if seed%7 == 0 {
		page.Namespace = "batch"
	}
	failures, err := failures.Find(l.t.Context(), l.src, failures.Query{Survived: true})
	l.must(err)
	l.must(page.Failures(&failures))
	jobs, err := l.src.Jobs(l.t.Context(), history.JobsQuery{})
	l.must(err)
	table, why, lines := page.Jobs(), page.JobsWhy(), verdicts.LinesOf(l.src)
	for i := range jobs.Items {
		table.Row(&jobs.Items[i])
		jobs.Items[i].Why, err = lines.Of(l.t.Context(), &jobs.Items[i], history.Point{})
		l.must(err)
		why.Row(&jobs.Items[i])
		a, err := job.Read(l.t.Context(), l.src, events.JobStream(types.UID(jobs.Items[i].UID)), history.Point{})
		l.must(err)
		answer := a.Answer()
		l.must(page.Answer(&answer, seed%3 == 1))
		rows, _ := a.Attempts(false, 0, 0)
		l.must(page.Attempts(rows, a.Sum()))
	}
	l.must(table.Flush())
	l.must(why.Flush())
	crons, err := l.src.CronJobs(l.t.Context(), history.CronJobsQuery{})
	l.must(err)
	all := page.CronJobs()
	for i := range crons.Items {
		all.Row(&crons.Items[i])
	}
	l.must(all.Flush())
}

// records writes each record as 'events' does, in words and for programs.
func (l *teller) records(of list) {
	names := history.NamesOf(l.t.Context(), l.src)
	for i := range of.records {
		r := &of.records[i]
		names.Learn(r)
		fmt.Fprintf(&l.out, "%s %s | %s\n%s\n", names.Object(r), names.Detail(r), names.DetailWide(r), names.RecordJSON(r))
		names.Forget(r)
	}
}

func (l *teller) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Error(err)
	}
}

// lives takes in what is told of instants around records of CronJobs of one name, and of failures within bounds.
func (s *sum) lives(src history.Source, records []events.Record) {
	crons, _ := streams(records, events.StreamCronJob, 1)
	slices.Reverse(crons)
	for i := range records {
		r := &records[i]
		if len(crons) == 0 || r.Stream.Kind == events.StreamJob || i%3 > 0 {
			continue
		}
		for _, t := range []time.Time{r.Time.Go(), r.Time.Go().Truncate(time.Minute)} {
			w, err := whynot.Read(s.t.Context(), src, crons, t, words.Zone{})
			s.failed(err)
			s.value(w)
		}
	}
	middle := records[len(records)/2].Time
	for _, q := range []failures.Query{{Limit: 1}, {Until: middle}, {Since: middle, Survived: true},
		{Since: middle, Until: middle.Add(time.Minute)}} {
		failures, err := failures.Find(s.t.Context(), src, q)
		s.failed(err)
		s.value(failures)
	}
}

// otherwise takes in what is told of the scene where it is pruned, or has damage.
func (s *sum) otherwise(of list, seed uint64) {
	k := 2 + int(seed)%(len(of.records)-2)
	other := list{Reader: of.Reader, records: of.records, damaged: of.records[k].Sequence}
	if seed%4 < 2 {
		other = list{Reader: of.Reader, records: pruned(s.t, of.records, k)}
	}
	s.log(other.source(), other.records)
}

// TestDrawnScenes keeps a sum of all that is told of scenes that are drawn, so that no change of it goes unseen. Where
// it differs, JOBLEDGER_TEXTS=DIR has the texts written there, here and at the commit before: compare them, and if each
// difference is wanted, JOBLEDGER_WHOLE=1 and -update. make test draws every fourth group.
func TestDrawnScenes(t *testing.T) {
	for group := 0; group < drawnGroups; group += effort.Step(4) {
		t.Run(fmt.Sprint(group), func(t *testing.T) {
			total := newSum(t)
			answers := 0
			for i := range drawnScenes {
				seed := uint64(group*drawnScenes + i)
				text, n := drawnText(t, seed)
				answers += n
				fmt.Fprintf(total.out, "== seed %d\n%s", seed, text)
			}
			keep(t, nil, func(l *teller) {
				total.answers = answers
				fmt.Fprintln(&l.out, total.line())
			})
		})
	}
}
