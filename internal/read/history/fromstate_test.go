package history_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
)

// kept is a CronJob that is folded from some record of its stream on.
type kept struct {
	from events.Sequence
	one  *history.Live // whole answers
	all  *history.Live // summaries
}

func (k *kept) take(t *testing.T, s events.Stream, r *events.Record) (answer, summary string) {
	t.Helper()
	for _, l := range []*history.Live{k.one, k.all} {
		if _, err := l.Take(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	job, known, err := k.one.CronJob(t.Context(), s, r)
	if err != nil || !known {
		t.Fatalf("record %d: the CronJob is known: %t, %v", r.Sequence, known, err)
	}
	sum, _ := k.all.CronSummary(s)
	sum.First = 0 // which record is the first is searched for elsewhere
	return text(t, job), text(t, sum)
}

// mostFolds bounds the folds of a CronJob that go on: the first, and the newest ones.
const mostFolds = 3

// TestAFoldFromEachStoredStateSaysTheSame: whole answers about a CronJob, and its summaries, are the same whether the
// fold began with the first record of the CronJob or with a state that the log stores, and so is what is read as of
// each record.
func TestAFoldFromEachStoredStateSaysTheSame(t *testing.T) {
	states, answers := 0, 0
	for seed := uint64(1); seed <= 8; seed += uint64(effort.Step(3)) {
		log := historytest.HardCrons(t, seed)
		src := history.Local{Log: log}
		records := historytest.Records(t, log)
		folds := map[events.Stream][]*kept{}
		for i := range records {
			r := &records[i]
			s := r.Stream
			if s == events.Controller {
				for _, all := range folds {
					for _, k := range all {
						for _, l := range []*history.Live{k.one, k.all} {
							if _, err := l.Take(t.Context(), r); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
			}
			if s.Kind != events.StreamCronJob {
				continue
			}
			if len(folds[s]) == 0 || r.Kind == events.KindStateStored {
				if states++; len(folds[s]) > mostFolds {
					folds[s] = slices.Delete(folds[s], 1, 2)
				}
				folds[s] = append(folds[s], &kept{r.Sequence, history.LiveJob(src, s), history.LiveCronJobs(src)})
			}
			var whole, sum string
			for n, k := range folds[s] {
				answer, summary := k.take(t, s, r)
				what := fmt.Sprintf("seed %d, record %d of %s, folded from record %d on", seed, r.Sequence, s.ID, k.from)
				if n == 0 {
					whole, sum = answer, summary
					continue
				}
				answers++
				same(t, what, whole, answer)
				same(t, what+", in short", sum, summary)
			}
			job, err := history.CronJobAt(t.Context(), src, s, history.Point{Sequence: r.Sequence})
			if err != nil {
				t.Fatal(err)
			}
			if !job.Gone { // what became of its Jobs is read from their own records
				same(t, fmt.Sprintf("seed %d, as of record %d of %s", seed, r.Sequence, s.ID), whole, text(t, job))
			}
		}
	}
	if states < 60 || answers < 1000 {
		t.Errorf("%d folds, %d answers", states, answers)
	}
}
