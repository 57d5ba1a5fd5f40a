package history_test

import (
	"bytes"
	"fmt"
	"hash"
	"hash/fnv"
	"path/filepath"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
)

// recordedLogs are logs that were recorded, and that are too long to keep each state of them as a text.
var recordedLogs = []string{
	"examples/incidents/observed", "examples/incidents/cronjobs-run", "test/incidents/testdata/generated/run", "test/incidents/testdata/generated/observe",
}

// sums is a sum of all that is told of each object.
type sums struct {
	order []string
	of    map[string]hash.Hash32
	n     map[string]int
}

func (s *sums) add(t *testing.T, of string, told any) {
	t.Helper()
	if s.of[of] == nil {
		s.order = append(s.order, of)
		s.of[of] = fnv.New32a()
	}
	s.n[of]++
	s.of[of].Write([]byte(text(t, told)))
}

// TestStatesOfRecordedLogsAreAsKept: the state of a Job or CronJob after each of its records, whole and in brief, and
// as of times between. A sum of these is kept for each object: 'go test ./internal/read/history -run AsKept -update'
// makes them anew.
func TestStatesOfRecordedLogsAreAsKept(t *testing.T) {
	var out bytes.Buffer
	for _, dir := range recordedLogs {
		log := incident(t, filepath.Join("../../..", dir, "log"))
		src := history.Local{Log: log, Clock: func() events.Time { return log.Head().Time.Add(90 * time.Second) }}
		all := sums{of: map[string]hash.Hash32{}, n: map[string]int{}}
		fold, brief := history.NewFold(), history.NewFold()
		brief.Brief = true
		records := 0
		for r, err := range log.Read(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			records++
			fold.Apply(&r)
			brief.Apply(&r)
			if a := fold.Account(r.Stream); a != nil {
				job := history.JobOf(fold, a, r.Sequence, r.Time)
				all.add(t, fmt.Sprint(r.Stream), job)
				sum := history.SummaryOf(a)
				same(t, fmt.Sprintf("%s in brief, at %d", job.Name, r.Sequence), sum, history.SummaryOf(brief.Account(r.Stream)))
				all.add(t, fmt.Sprint(r.Stream), sum)
			}
			if a := fold.CronAccount(r.Stream); a != nil {
				sum := history.CronSummaryOf(a)
				all.add(t, fmt.Sprint(r.Stream), sum)
				same(t, fmt.Sprintf("%s in brief, at %d", sum.Name, r.Sequence), sum, history.CronSummaryOf(brief.CronAccount(r.Stream)))
			}
			if every := map[events.StreamKind]int{events.StreamJob: 60, events.StreamCronJob: 6}[r.Stream.Kind]; every == 0 || records%every > 0 {
				continue
			}
			for _, at := range []history.Point{{Sequence: r.Sequence}, {Time: r.Time - 1}} {
				all.at(t, src, r.Stream, at)
			}
		}
		fmt.Fprintf(&out, "== %s: %d records\n", dir, records)
		for _, a := range fold.Accounts()[:5] {
			all.at(t, src, a.Stream, history.Point{})
		}
		for _, a := range fold.CronAccounts() {
			all.at(t, src, a.Stream, history.Point{})
			all.at(t, src, a.Stream, history.Point{Time: log.Head().Time.Add(30 * time.Second)})
		}
		for _, of := range all.order {
			fmt.Fprintf(&out, "%s: %d, %08x\n", of, all.n[of], all.of[of].Sum32())
		}
	}
	historytest.Keep(t, *update, "testdata/recorded.txt", out.String())
}

// at adds the state as of a point.
func (s *sums) at(t *testing.T, src history.Source, of events.Stream, at history.Point) {
	t.Helper()
	var told any
	var err error
	switch of.Kind {
	case events.StreamJob:
		told, err = unlessUnknown(history.JobAt(t.Context(), src, of, at))
	case events.StreamCronJob:
		told, err = unlessUnknown(history.CronJobAt(t.Context(), src, of, at))
	default:
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	s.add(t, fmt.Sprint(of), told)
}
