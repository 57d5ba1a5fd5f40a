package explain_test

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/explain/explaintest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestNoAnswerIsFalse asks the recorded incidents for all that they can tell, in make test every third of them.
func TestNoAnswerIsFalse(t *testing.T) {
	for _, dir := range effort.Each(3, logs(t)) {
		t.Run(filepath.Base(dir), func(t *testing.T) { neverFalse(t, openRecorded(t, dir)) })
	}
	for seed := range hardSeeds() {
		for name, hard := range map[string]func(*testing.T, uint64) *memlog.Log{"hard": historytest.Hard, "crons": historytest.HardCrons} {
			t.Run(fmt.Sprintf("%s-%d", name, seed), func(t *testing.T) {
				log := hard(t, seed)
				neverFalse(t, history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})})
			})
		}
	}
}

// hardSeeds is how many simulated logs are looked at.
func hardSeeds() uint64 {
	if effort.IsLong() {
		return 100
	}
	return uint64(2 / effort.Step(2))
}

// TestTimesOfAnotherDay moves the recorded incidents, so that midnight falls among them. In make test it moves every
// fourth of them.
func TestTimesOfAnotherDay(t *testing.T) {
	for _, dir := range effort.Each(4, logs(t)) {
		src := openRecorded(t, dir)
		mid := src.records[len(src.records)/2].Time.Go()
		by := mid.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(mid).Truncate(time.Minute) // due times are whole minutes
		neverFalse(t, &moved{Source: src, by: by})
	}
}

// moved is a log of another time.
type moved struct {
	history.Source
	by time.Duration
}

func (m *moved) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return m.all(m.Source.Read(ctx, from))
}

func (m *moved) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return m.all(m.Source.ReadStream(ctx, s, from, dir))
}

func (m *moved) Records(ctx context.Context, q history.Query) iter.Seq2[events.Record, error] {
	for _, t := range []*events.Time{&q.Since, &q.Until} {
		if *t != 0 {
			*t = t.Add(-m.by)
		}
	}
	return m.all(m.Source.Records(ctx, q))
}

func (m *moved) all(records iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range records {
			if _, is := r.Facts.(*events.StoredState); is {
				continue // its times are encoded; the records before it say the same
			}
			if !yield(*explaintest.Moved(&r, m.by), err) {
				return
			}
		}
	}
}

// Jobs are those of the list, with their times moved.
func (m *moved) Jobs(ctx context.Context, q history.JobsQuery) (history.JobsPage, error) {
	page, err := m.Source.Jobs(ctx, q)
	for i := range page.Items {
		s := &page.Items[i]
		for _, at := range []*recordjson.Instant{&s.Created, &s.Started, &s.Finished} {
			if *at != 0 {
				*at = recordjson.Instant(events.Time(*at).Add(m.by))
			}
		}
	}
	return page, err
}

func neverFalse(t *testing.T, src history.Source) {
	t.Helper()
	r, err := explaintest.Check(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Error(f)
	}
	if r.Sentences == 0 {
		t.Error("no answer says anything")
	}
	t.Logf("%d sentences of %d answers", r.Sentences, r.Answers)
}
