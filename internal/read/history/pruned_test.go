package history_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// TestWhatIsKeptIsTold: wherever the log begins, each file of it stands alone. The newest records are those that are
// kept, a CronJob is what the whole log says but for its first record, and a Job all of whose records are kept is what
// the whole log says.
func TestWhatIsKeptIsTold(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	records := historytest.Records(t, log)
	last := records[len(records)-1]
	whole := history.Local{Log: log}
	for _, r := range records {
		if r.Kind != events.KindStateStored || r.Stream != events.Controller {
			continue
		}
		src := history.Local{Log: historytest.Pruned{Reader: log, First: r.Sequence}}
		begins, err := history.PrunedBefore(t.Context(), src)
		if err != nil || begins == nil || begins.Sequence != uint64(r.Sequence) || begins.Time != recordjson.Instant(r.Time) {
			t.Errorf("it begins at %+v, want %d: %v", begins, r.Sequence, err)
		}
		settings, listing, err := history.RunsNow(t.Context(), src, 0)
		if err != nil || settings == nil || !settings.RunsCronJobs() || listing {
			t.Errorf("from %d on, CronJobs are run by %+v, %v", r.Sequence, settings, err)
		}
		if now, err := history.PassedAt(t.Context(), src, history.Place{Sequence: uint64(r.Sequence), Time: recordjson.Instant(r.Time)}, "", true); err != nil || len(now) > 0 {
			t.Errorf("%v, %v", now, err)
		}
		first := map[events.Stream]events.Sequence{}
		for _, x := range records {
			if first[x.Stream] == 0 {
				first[x.Stream] = x.Sequence
			}
		}
		for s, begins := range first {
			for _, q := range []history.Query{{Stream: &s}, {Stream: &s, From: r.Sequence + 20}, {}} {
				got, err := history.Newest(t.Context(), src, q, 1000, last.Sequence)
				want, failed := history.Newest(t.Context(), whole, q, 1000, last.Sequence)
				want = slices.DeleteFunc(want, func(x events.Record) bool { return x.Sequence < r.Sequence })
				if err != nil || failed != nil || len(got) != len(want) || len(got) > 0 && got[0].Sequence != want[0].Sequence {
					t.Fatalf("from %d on, %s has %d records, want %d: %v %v", r.Sequence, s, len(got), len(want), err, failed)
				}
			}
			switch {
			case s.Kind == events.StreamCronJob:
				got, err := unlessUnknown(history.CronJobAt(t.Context(), src, s, history.Point{}))
				want, failed := unlessUnknown(history.CronJobAt(t.Context(), whole, s, history.Point{}))
				if g, ok := got.(history.CronJob); ok && err == nil && failed == nil {
					w := want.(history.CronJob)
					if (g.First == 0) != (begins < r.Sequence) || begins >= r.Sequence && g.First != w.First || g.State != w.State || !slices.Equal(g.Runs, w.Runs) && !g.Gone {
						t.Errorf("from %d on, %s is %s with %d Jobs since %d, want %s with %d since %d", r.Sequence, s, g.State, len(g.Runs), g.First, w.State, len(w.Runs), w.First)
					}
				} else if err != nil || failed != nil {
					t.Error(err, failed)
				}
			case s.Kind == events.StreamJob && begins >= r.Sequence:
				got, err := history.JobAt(t.Context(), src, s, history.Point{})
				want, failed := history.JobAt(t.Context(), whole, s, history.Point{})
				if err != nil || failed != nil {
					t.Fatal(err, failed)
				}
				same(t, s.String(), want, got)
			}
		}
	}
}

// TestAJobBesideDamage: whichever file is damaged from a record on, a Job is what the whole log says as of the record
// that the answer names, and the damage is named. Behind it the next file stands alone, so a Job that has records there
// is told as of the end; of one that had ended before, these may say no more than that it has.
func TestAJobBesideDamage(t *testing.T) {
	before, behind := 0, 0
	for seed := uint64(3); seed < 7; seed++ {
		b, e := jobBesideDamage(t, seed)
		before, behind = before+b, behind+e
	}
	if before < 5 || behind < 5 {
		t.Errorf("%d states of before the damage, %d of behind it", before, behind)
	}
}

// jobBesideDamage damages the log of a seed from each fourth record on. It counts the Jobs that are told as of before
// the damage, and behind it.
func jobBesideDamage(t *testing.T, seed uint64) (before, behind int) {
	t.Helper()
	log := historytest.Hard(t, seed)
	records := historytest.Records(t, log)
	last := records[len(records)-1].Sequence
	for i := range records {
		at := records[i].Sequence
		next := last + 1
		for k := i + 1; k < len(records); k++ {
			if records[k].Kind == events.KindStateStored && records[k].Stream == events.Controller {
				next = records[k].Sequence
				break
			}
		}
		if i%4 > 0 || records[i].Stream.Kind != events.StreamJob || next > last {
			continue
		}
		s := records[i].Stream
		src := history.Local{Log: &historytest.Failing{Reader: log, Bad: func(n events.Sequence) error {
			if at <= n && n < next {
				return &store.CorruptError{Path: "x", At: at, Next: next}
			}
			return nil
		}}}
		job, err := history.JobAt(t.Context(), src, s, history.Point{})
		if !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("from %d to %d damaged, and the error is %v", at, next, err)
		}
		if job.UID == "" {
			continue
		}
		want, failed := history.JobAt(t.Context(), history.Local{Log: log}, s, history.Point{Sequence: events.Sequence(job.AsOf.Sequence)})
		if job.State == history.StateFinished && (want.State == history.StateComplete || want.State == history.StateFailed) {
			want.State, want.Counts = job.State, job.Counts // how it ended is in the damage, and is not guessed
		}
		if failed != nil || want.State != job.State || want.Last != job.Last || want.Counts != job.Counts || want.Finished != job.Finished {
			t.Errorf("from %d to %d damaged, as of %d it is %s %+v by %d, want %s %+v by %d: %v", at, next, job.AsOf.Sequence, job.State, job.Counts, job.Last,
				want.State, want.Counts, want.Last, failed)
		}
		if job.AsOf.Sequence == uint64(last) {
			behind++
		} else {
			before++
		}
	}
	return before, behind
}

// TestGapsBesideDamage: whichever record of the controller's is damaged, each gap that it does not tell of is there as
// it was, and one whose end is damaged ends with the next record.
func TestGapsBesideDamage(t *testing.T) {
	log := historytest.Hard(t, 3)
	whole, err := history.AllGaps(t.Context(), history.Local{Log: log})
	if err != nil || len(whole) < 3 {
		t.Fatal(len(whole), err)
	}
	var own []events.Record
	for _, r := range historytest.Records(t, log) {
		if r.Stream == events.Controller {
			own = append(own, r)
		}
	}
	cut := 0
	for i, r := range own[:len(own)-1] {
		bad := &store.CorruptError{Path: "x", At: r.Sequence, Next: r.Sequence + 1}
		got, err := history.AllGaps(t.Context(), history.Local{Log: &historytest.Failing{Reader: log, Bad: only(r.Sequence, bad)}})
		if !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("record %d is damaged, and the error is %v", r.Sequence, err)
		}
		for _, g := range whole {
			lies := uint64(r.Sequence) >= g.Listing && (g.Synced == 0 || uint64(r.Sequence) <= g.Synced)
			k := slices.IndexFunc(got, func(x *history.Gap) bool { return x.Listing == g.Listing })
			switch {
			case !lies && (k < 0 || got[k].From != g.From || got[k].Until != g.Until || got[k].Synced != g.Synced):
				t.Errorf("record %d is damaged, and the gap of record %d is %+v", r.Sequence, g.Listing, got)
			case lies && k >= 0 && got[k].Until != recordjson.Instant(own[i+1].Time):
				t.Errorf("record %d is damaged, and the gap of record %d lasts until %d, want %d", r.Sequence, g.Listing, got[k].Until, own[i+1].Time)
			case lies && k >= 0:
				cut++
			}
		}
	}
	if cut == 0 {
		t.Error("no gap was cut")
	}
}
