package history_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// TestJobAtIsWhatTheWholeLogSays: the state of a Job as of any record, folded from its own stream and the controller's,
// is what a fold of the whole log up to there gives.
func TestJobAtIsWhatTheWholeLogSays(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			log := historytest.Hard(t, seed)
			src := history.Local{Log: log}
			whole := history.NewFold()
			compared := 0
			for i, r := range historytest.Records(t, log) {
				whole.Apply(&r)
				if i%17 != 0 && r.Stream.Kind != events.StreamJob {
					continue
				}
				for _, a := range whole.Accounts() {
					if i%17 != 0 && a.Stream != r.Stream {
						continue
					}
					compared++
					want := text(t, history.JobOf(whole, a, r.Sequence, r.Time))
					job, err := history.JobAt(t.Context(), src, a.Stream, history.Point{Sequence: r.Sequence})
					if err != nil {
						t.Fatalf("%s at %d: %v", a.Stream, r.Sequence, err)
					}
					if d := cmp.Diff(want, text(t, job)); d != "" {
						t.Fatalf("%s at record %d (-whole log +own stream):\n%s", a.Stream, r.Sequence, d)
					}
				}
			}
			if compared < 100 {
				t.Errorf("only %d states were compared", compared)
			}
		})
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := recordjson.Indented(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSummariesAreThoseOfAWholeFold: of a controller that had a hard time, whatever of the lists of its Jobs there is.
// A list goes on from the states that it keeps, through restarts, a rewind and files that begin anew.
func TestSummariesAreThoseOfAWholeFold(t *testing.T) {
	for seed := uint64(0); seed < 60; seed += uint64(effort.Step(4)) {
		log := historytest.Hard(t, 9+seed)
		whole := history.NewFold()
		for _, r := range historytest.Records(t, log) {
			whole.Apply(&r)
		}
		want := []history.Summary{}
		for _, a := range slices.Backward(whole.Accounts()) {
			want = append(want, history.SummaryOf(a))
		}
		if len(want) < 4 {
			t.Errorf("only %d Jobs", len(want))
		}
		config := joblist.Config{Log: log, Files: func() ([]store.File, error) { return filesOf(t, log), nil }, Dir: t.TempDir(), Every: 40}
		for what, keep := range map[string]func(context.Context) error{
			"no lists":    func(context.Context) error { return nil },
			"some lists":  joblist.NewKeeper(config, nil).CatchUp,
			"whole lists": joblist.NewKeeper(config, nil).Finish,
		} {
			if err := keep(t.Context()); err != nil {
				t.Fatal(err)
			}
			page, err := history.Local{Log: log, Lists: joblist.New(config)}.Jobs(t.Context(), history.JobsQuery{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(text(t, want), text(t, page.Items)); d != "" {
				t.Errorf("seed %d, %s (-whole +brief):\n%s", seed, what, d)
			}
		}
	}
}

// filesOf are the files that a log on disk would have: each begins with the state of the controller.
func filesOf(t *testing.T, log store.Reader) []store.File {
	t.Helper()
	files := []store.File{{First: 1}}
	for r, err := range log.ReadStream(t.Context(), events.Controller, 0, store.Forward) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == events.KindStateStored {
			files[len(files)-1].End, files[len(files)-1].Sealed = head(t, log, r.Sequence-1), true
			files = append(files, store.File{First: r.Sequence})
		}
	}
	files[len(files)-1].End = log.Head()
	if len(files) < 3 {
		t.Fatalf("the history has %d files only", len(files))
	}
	return files
}

func head(t *testing.T, log store.Reader, at events.Sequence) store.Head {
	t.Helper()
	r, err := history.Record(t.Context(), history.Local{Log: log}, at)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := log.Chain(at)
	if err != nil {
		t.Fatal(err)
	}
	return store.Head{Sequence: at, Time: r.Time, Hash: hash}
}

// watched is the first record whose time lies in no gap: a state as of a time in a gap says that nobody watched then.
func watched(t *testing.T, src history.Source, records []events.Record) events.Record {
	t.Helper()
	for _, r := range records {
		gaps, err := history.GapsAt(t.Context(), src, r.Time)
		if err != nil {
			t.Fatal(err)
		}
		if len(gaps) == 0 {
			return r
		}
	}
	t.Fatal("all of it lies in gaps")
	return events.Record{}
}

func TestJobAtATime(t *testing.T) {
	log := historytest.Hard(t, 3)
	src := history.Local{Log: log}
	records := historytest.Records(t, log)
	r := watched(t, src, records[len(records)/2:])
	streams, err := src.Find(t.Context(), "default", "job-0")
	if err != nil || len(streams) != 1 {
		t.Fatalf("streams %v, %v", streams, err)
	}
	var last events.Sequence // of that time: a batch has one
	for _, x := range records {
		if x.Time <= r.Time {
			last = x.Sequence
		}
	}
	bySequence, err1 := history.JobAt(t.Context(), src, streams[0], history.Point{Sequence: last})
	byTime, err2 := history.JobAt(t.Context(), src, streams[0], history.Point{Time: r.Time})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	byTime.AsOf, bySequence.AsOf = history.Place{}, history.Place{}
	if d := cmp.Diff(text(t, bySequence), text(t, byTime)); d != "" {
		t.Errorf("(-by sequence +by time):\n%s", d)
	}
	if _, err := history.JobAt(t.Context(), src, streams[0], history.Point{Time: 1}); !errors.Is(err, history.ErrNoJob) {
		t.Errorf("before the Job there was: %v", err)
	}
	if _, err := history.JobAt(t.Context(), src, streams[0], history.Point{Sequence: log.Head().Sequence + 1}); err == nil {
		t.Error("there is a state behind the end of the log")
	}
	if _, err := history.JobAt(t.Context(), src, events.JobStream("nobody"), history.Point{}); !errors.Is(err, history.ErrNoJob) {
		t.Errorf("of a Job that never was: %v", err)
	}
}
