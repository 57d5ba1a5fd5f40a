package joblist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/store"
)

// watched is a log that counts the records that it gives, and one of whose records is of a newer program.
type watched struct {
	store.Reader
	newer             events.Sequence
	records, searches int // of all reads; reads of one stream
	streams           []events.Stream
	met               bool
}

func (w *watched) given(all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range all {
			if w.records++; err == nil && r.Sequence == w.newer {
				w.met, r.Kind, r.Critical, r.Facts = true, 0xffff, true, &events.Unknown{}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (w *watched) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return w.given(w.Reader.Read(ctx, from))
}

func (w *watched) ReadStream(
	ctx context.Context, s events.Stream, from events.Sequence, d store.Direction,
) iter.Seq2[events.Record, error] {
	w.searches, w.streams = w.searches+1, append(w.streams, s)
	return w.given(w.Reader.ReadStream(ctx, s, from, d))
}

// asked are the lists' answers to a few questions.
var asked = map[string]func(ctx context.Context, l *Lists) (any, error){
	"jobs":     func(ctx context.Context, l *Lists) (any, error) { return l.Page(ctx, history.ListQuery{}) },
	"some":     func(ctx context.Context, l *Lists) (any, error) { return l.Page(ctx, history.ListQuery{Limit: 3}) },
	"of a UID": func(ctx context.Context, l *Lists) (any, error) { return l.Page(ctx, history.ListQuery{UID: "0"}) },
	"cronjobs": func(ctx context.Context, l *Lists) (any, error) { return l.CronJobs(ctx, history.CronListQuery{}) },
}

// TestWhatWholeListsCost is no record of the log, whatever is asked of them. A log in one file without a list costs
// one read of it: what is first told of an object is not looked for among earlier records.
func TestWhatWholeListsCost(t *testing.T) {
	c, file := lied(t)
	for name, ask := range asked {
		log := &watched{Reader: c.Log}
		whole := c
		whole.Log = log
		if _, err := ask(t.Context(), New(whole)); err != nil || log.records > 0 {
			t.Errorf("%s: %d records are read beside whole lists, %v", name, log.records, err)
		}
		one := Config{Log: log}
		_, err := ask(t.Context(), New(one))
		specs := log.records - int(file.End.Sequence)
		if err != nil || log.searches > 0 || specs < 0 || specs > int(file.End.Sequence)/4 {
			t.Errorf("%s: %d records are read of a log of %d, and %d streams, %v", name, log.records, file.End.Sequence,
				log.searches, err)
		}
	}
}

// TestARecordOfANewerProgram that an answer folds is its error, wherever it stands in the log, and whichever lists
// there are. An answer that does not need it is what it was.
func TestARecordOfANewerProgram(t *testing.T) {
	c, file := lied(t)
	all, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	middle := len(all) / 2
	for what, config := range map[string]Config{
		"without lists": {Log: c.Log, Files: c.Files},
		"in one file":   {Log: c.Log},
		"pruned": {
			Log:   historytest.Pruned{Reader: c.Log, First: all[middle].First},
			Files: func() ([]store.File, error) { return all[middle:], nil },
		},
		"pruned, with lists": {
			Log:   historytest.Pruned{Reader: c.Log, First: all[middle].First},
			Files: func() ([]store.File, error) { return all[middle:], nil }, Dir: c.Dir,
		},
	} {
		met := 0
		for name, ask := range asked {
			if name == "some" {
				continue
			}
			sound, err := ask(t.Context(), New(config))
			if err != nil {
				t.Fatal(what, name, err)
			}
			for at := events.Sequence(1); at <= file.End.Sequence; at += 1 + file.End.Sequence/13 {
				log := &watched{Reader: config.Log, newer: at}
				beside := config
				beside.Log = log
				got, err := ask(t.Context(), New(beside))
				if log.met {
					met++
				}
				refused := errors.Is(err, events.ErrNewer)
				if refused && !log.met || !refused && err != nil || what == "in one file" && !refused {
					t.Errorf("%s, %s, record %d is newer, and read: %t, but %v", what, name, at, log.met, err)
				}
				if !refused && text(t, got) != text(t, sound) {
					t.Errorf("%s, %s, record %d: %s", what, name, at, text(t, got))
				}
			}
		}
		if met == 0 && what != "pruned, with lists" { // the lists have all of most
			t.Errorf("%s: no newer record was read", what)
		}
	}
}

func text(t *testing.T, answer any) string {
	t.Helper()
	out, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestWhatBeginsWithTheKeptRecords: of a log whose first kept record is the first one of a Job or a CronJob, the
// object is none of those that began before. One record later it is.
func TestWhatBeginsWithTheKeptRecords(t *testing.T) {
	c, _ := lied(t)
	tried := map[events.StreamKind]int{}
	for r, err := range c.Log.Read(t.Context(), 2) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Previous != 0 || tried[r.Stream.Kind] == 4 || r.Stream.Kind != events.StreamJob &&
			r.Stream.Kind != events.StreamCronJob {
			continue
		}
		tried[r.Stream.Kind]++
		for behind := range events.Sequence(2) {
			first := r.Sequence + behind
			kept := historytest.Pruned{Reader: c.Log, First: first}
			searched := &watched{Reader: kept}
			lists := New(Config{Log: searched, Files: func() ([]store.File, error) {
				return []store.File{{First: first, End: c.Log.Head()}}, nil
			}})
			jobs, err := lists.Page(t.Context(), history.ListQuery{})
			if behind == 0 && slices.Contains(searched.streams, r.Stream) {
				t.Errorf("%s is searched for, and all its records are kept", r.Stream)
			}
			crons, failed := lists.CronJobs(t.Context(), history.CronListQuery{})
			one, missed := lists.Page(t.Context(), history.ListQuery{UID: r.Stream.ID})
			if err := errors.Join(err, failed, missed); err != nil {
				t.Fatal(err)
			}
			want, began := uint64(r.Sequence)*uint64(1-behind), []uint64{}
			for _, j := range append(slices.Clone(jobs.Jobs), one.Jobs...) {
				if j.UID == r.Stream.ID {
					began = append(began, j.First)
				}
			}
			for _, j := range crons.CronJobs {
				if j.UID == r.Stream.ID {
					began = append(began, j.First, j.First)
				}
			}
			if !slices.Equal(began, []uint64{want, want}) {
				t.Errorf("%s, kept from %d on: it begins at %v, want %d", r.Stream, first, began, want)
			}
			for i, j := range jobs.Jobs {
				if i > 0 && jobs.Jobs[i-1].First < j.First {
					t.Errorf("kept from %d on: %d comes behind %d", first, j.First, jobs.Jobs[i-1].First)
				}
			}
			if fresh, n := jobs.Jobs[0], 0; fresh.First > 0 {
				for own, err := range kept.ReadStream(t.Context(), events.Stream{Kind: events.StreamJob, ID: fresh.UID}, 0,
					store.Forward) {
					if n++; err != nil || own.Sequence < first {
						t.Fatal(err)
					}
				}
				if n != int(fresh.Records) {
					t.Errorf("%s has %d records, want %d", fresh.Name, fresh.Records, n)
				}
			}
		}
	}
	if fmt.Sprint(tried) == "map[]" {
		t.Error("no Job and no CronJob begins in the log")
	}
}
