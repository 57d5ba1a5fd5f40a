package history_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
)

// refusing is a log of which the reads of single records fail while it refuses.
type refusing struct {
	history.Local
	refuses bool
}

func (r *refusing) Records(ctx context.Context, q history.Query) iter.Seq2[events.Record, error] {
	if r.refuses {
		return func(yield func(events.Record, error) bool) { yield(events.Record{}, historytest.ErrRead) }
	}
	return r.Local.Records(ctx, q)
}

// TestALiveAnswerThatFailedIsWholeTheNextTime: what a fold that began with a stored state lacks is read again, if it
// could not be read for the answer before.
func TestALiveAnswerThatFailedIsWholeTheNextTime(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	records := historytest.Records(t, log)
	failed := 0
	for i := range records {
		r := &records[i]
		if r.Stream.Kind != events.StreamCronJob || r.Kind != events.KindStateStored {
			continue
		}
		src := &refusing{Local: history.Local{Log: log}}
		answer := func(l *history.Live, refuses bool) (string, error) {
			src.refuses = refuses
			job, _, err := l.CronJob(t.Context(), r.Stream, r)
			return text(t, job), err
		}
		begun := func() *history.Live {
			l := history.LiveJob(src, r.Stream)
			if _, err := l.Take(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			return l
		}
		want, err := answer(begun(), false)
		if err != nil {
			t.Fatal(err)
		}
		l := begun()
		if _, err := answer(l, true); err == nil {
			continue // nothing was to be read
		} else if !errors.Is(err, historytest.ErrRead) {
			t.Fatal(err)
		}
		failed++
		got, err := answer(l, false)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "after a read that failed", want, got)
	}
	if failed < 3 {
		t.Errorf("%d answers failed: this proves too little", failed)
	}
}
