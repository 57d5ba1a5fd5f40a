package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
)

// TestCronJobsOfScenesAreAsKept writes how the CronJob of each scene stands after each of its records, at times
// between, and in the list.
func TestCronJobsOfScenesAreAsKept(t *testing.T) {
	var out bytes.Buffer
	for _, x := range historytest.Scenes {
		log := historytest.Played(t, x.Steps)
		src := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}
		fmt.Fprintln(&out, "==", x.Name)
		f := film{was: map[string]map[string]string{}}
		stands := func(r *events.Record, of string, at history.Point) {
			job, err := history.CronJobAt(t.Context(), src, historytest.Nightly, at)
			switch {
			case errors.Is(err, history.ErrNoCronJob):
				fmt.Fprintf(&f.out, "%d %s: none\n", r.Sequence, of)
			case err != nil:
				t.Fatal(x.Name, err)
			default:
				f.shot(r, of, lines(t, job))
			}
		}
		fold, last := history.NewFold(), events.Record{}
		for r, err := range log.Read(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			fold.Apply(&r)
			stands(&r, "then", history.Point{Sequence: r.Sequence})
			if a := fold.CronAccount(historytest.Nightly); a != nil {
				for _, later := range []time.Duration{4 * time.Second, 5 * time.Second, 90 * time.Second, 10 * time.Minute} {
					all := []history.CronSummary{history.CronSummaryOf(a)}
					if err := history.Settle(t.Context(), history.Local{Log: upTo{log, r.Sequence}}, all, r.Time.Add(later)); err != nil {
						t.Fatal(x.Name, err)
					}
					f.shot(&r, later.String()+" later", lines(t, all[0]))
				}
			}
			last = r
		}
		for at := historytest.At("08:00:45"); at < last.Time.Add(2*time.Minute); at = at.Add(45 * time.Second) {
			stands(&last, "at", history.Point{Time: at})
		}
		stands(&last, "now", history.Point{})
		page, err := src.CronJobs(t.Context(), history.CronJobsQuery{})
		if err != nil {
			t.Fatal(err)
		}
		f.shot(&last, "list", lines(t, page.Items))
		out.Write(f.out.Bytes())
	}
	historytest.Keep(t, *update, "testdata/scenes.txt", out.String())
}

// upTo is a log as it was when that record was the newest.
type upTo struct {
	store.Reader
	at events.Sequence
}

func (u upTo) cut(all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range all {
			if r.Sequence <= u.at && !yield(r, err) {
				return
			}
		}
	}
}

func (u upTo) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, d store.Direction) iter.Seq2[events.Record, error] {
	return u.cut(u.Reader.ReadStream(ctx, s, from, d))
}

func (u upTo) Head() store.Head {
	head := u.Reader.Head()
	head.Sequence = u.at
	return head
}
