package explain_test

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// kept are the texts of scenes: of each test a file in testdata/scenes, and in it a part for each log that the test
// stages, under the name of the row. A test says what its scene is about; the text has all the rest that is told of the
// scene, so that no change of it goes unseen.
type kept struct {
	sync.Mutex
	files map[string]map[string]string // by test, by the name of a part
	times map[string]int               // how often a row has told something
}

var keeping = kept{files: map[string]map[string]string{}, times: map[string]int{}}

const (
	keptIn   = "testdata/scenes"
	partHead = "##### "
)

// part is the text that is kept for what a test tells now. With -update it becomes the one that is given.
func (k *kept) part(t *testing.T, now string) (text, name string) {
	t.Helper()
	k.Lock()
	defer k.Unlock()
	test, name, _ := strings.Cut(t.Name(), "/")
	if k.times[t.Name()]++; k.times[t.Name()] > 1 {
		name = fmt.Sprintf("%s (%d)", name, k.times[t.Name()])
	}
	file := filepath.Join(keptIn, test+".txt")
	parts := k.files[test]
	if parts == nil {
		parts = map[string]string{}
		k.files[test] = parts
		whole := *update && flag.Lookup("test.run").Value.String() == "^"+test+"$" // what no row tells any more goes
		if content, err := os.ReadFile(file); err == nil && !whole {
			for _, p := range strings.Split("\n"+string(content), "\n"+partHead)[1:] {
				head, text, _ := strings.Cut(p, "\n")
				parts[head] = strings.TrimSuffix(text, "\n") + "\n"
			}
		}
	}
	if !*update {
		return parts[name], name
	}
	parts[name] = now
	var all bytes.Buffer
	names := make([]string, 0, len(parts))
	for head := range parts {
		names = append(names, head)
	}
	slices.Sort(names)
	for _, head := range names {
		fmt.Fprintf(&all, "%s%s\n%s", partHead, head, parts[head])
	}
	if err := os.MkdirAll(keptIn, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, all.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return now, name
}

// keep holds what is told of a scene against the text that is kept.
func keep(t *testing.T, src history.Source, told func(l *teller)) {
	t.Helper()
	l := &teller{t: t, src: src, free: true}
	l.object()
	told(l)
	text, name := keeping.part(t, l.out.String())
	want, got := strings.Split(text, "\n"), strings.Split(l.out.String(), "\n")
	for i := range got {
		if at(want, i) != got[i] && (got[i] != notSummed || !strings.Contains(at(want, i), sumWords)) {
			t.Errorf("line %d of %q is\n%s\nand the text that is kept has\n%s", i+1, name, got[i], at(want, i))
			return
		}
	}
	if len(want) > len(got) {
		t.Errorf("%q lacks %q", name, want[len(got)])
	}
}

// keepAll is keep of all that is told of a small log: of each Job and CronJob as of its end, and as of each record that
// brings it into another state, and of its due times and lists. Of what is told as of the other records, and of the
// scenes next to it, a sum is kept. When that differs, JOBLEDGER_TEXTS=DIR has the texts written there, here and at the
// commit before.
func keepAll(t *testing.T, src history.Source) {
	t.Helper()
	l := listOf(t, src)
	keep(t, src, func(told *teller) {
		told.scene(l)
		told.lists()
		fmt.Fprintln(&told.out, summed(t, func(s *summing) {
			s.points(src, l.records)
			s.neighbours(l)
		}))
	})
}

// notSummed stands for a sum that make test does not take. It matches each sum that is kept.
const notSummed = "(CI takes the sum: JOBLEDGER_WHOLE=1)"

// summed takes a sum and gives its line, in make test for every fourth row: which ones, their names decide.
func summed(t *testing.T, take func(s *summing)) string {
	t.Helper()
	name := fnv.New32a()
	fmt.Fprint(name, t.Name())
	if !*update && textsIn == "" && int(name.Sum32()>>8)%effort.Step(4) != 0 {
		return notSummed
	}
	s := newSum(t)
	take(s)
	return s.line()
}

// keepSum keeps the sum alone, and lets reads fail.
func keepSum(t *testing.T, src history.Source) {
	t.Helper()
	failingReads(t, src)
	keep(t, src, func(told *teller) {
		fmt.Fprintln(&told.out, summed(t, func(s *summing) { s.neighbours(listOf(t, src)) }))
	})
}

// scene writes what is told of the objects of a scene.
func (l *teller) scene(of list) {
	l.t.Helper()
	jobs, points := streams(of.records, events.StreamJob, len(of.records))
	for _, s := range jobs {
		l.object()
		state := history.State("")
		for _, at := range points[s][1:] { // the first is of its spec
			c, err := job.Read(l.t.Context(), l.src, s, history.Point{Sequence: at})
			if err == nil && c.Job.State != state {
				state = c.Job.State
				l.job(s, at, false)
			}
		}
		l.job(s, 0, true)
	}
	crons, points := streams(of.records, events.StreamCronJob, len(of.records))
	for _, s := range crons {
		l.object()
		state := history.CronState("")
		for _, at := range points[s] {
			c, err := cron.Read(l.t.Context(), l.src, s, history.Point{Sequence: at})
			if err == nil && c.State.State != state {
				state = c.State.State
				l.cronJob(s, at)
			}
		}
		l.cronJob(s, 0)
		l.dueTimes(s)
	}
}

// keepJob is keep of a Job as of one point, and of all its pods.
func keepJob(t *testing.T, src history.Source, s events.Stream, p history.Point) {
	t.Helper()
	keep(t, src, func(l *teller) { l.jobAt(s, p, true) })
}
