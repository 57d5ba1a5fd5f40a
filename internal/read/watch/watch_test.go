package watch_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/watch"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// ended is a source whose log grows no more: who follows it comes to an end.
type ended struct {
	history.Local
	log *memlog.Log
}

func (e ended) Follow(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return e.log.Read(ctx, from)
}

// said is all that is said of a Job, but how many records it has.
func said(j history.Summary) (uid string, last uint64, rest any) {
	last = j.Last
	j.Records, j.Last = 0, 0
	return j.UID, last, j
}

func text(t *testing.T, j history.Summary) string {
	t.Helper()
	_, _, rest := said(j)
	b, err := json.Marshal(rest)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestEachChangeIsShownOnce: whoever follows a log from any record on is shown what differs and nothing else, no Job
// twice for one batch, and in the end has of each Job what the list says.
func TestEachChangeIsShownOnce(t *testing.T) {
	for seed := range uint64(3) {
		log := historytest.Hard(t, seed)
		src := ended{history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}, log}
		jobs, err := src.Jobs(t.Context(), history.JobsQuery{})
		if err != nil || len(jobs.Items) < 3 {
			t.Fatalf("%d Jobs, %v", len(jobs.Items), err)
		}
		head := log.Head().Sequence
		for _, from := range []events.Sequence{1, head / 2, head} {
			seen := watch.Shown[history.Summary]{Said: said}
			live, shown, batch := history.LiveJobs(src), map[string]string{}, map[string]events.Sequence{}
			at, times := events.Sequence(0), 0
			one := func(s events.Stream, r *events.Record) (history.Summary, bool, error) {
				at = r.Sequence
				j, ok := live.Summary(s)
				return j, ok, nil
			}
			err := seen.Follow(t.Context(), src, live, from, one, func(j history.Summary) error {
				if now := text(t, j); now == shown[j.UID] {
					t.Errorf("seed %d, record %d: Job %s is shown again as it was: %s", seed, at, j.Name, now)
				} else {
					shown[j.UID] = now
				}
				if batch[j.UID] == at {
					t.Errorf("seed %d, record %d: Job %s is shown twice for one batch", seed, at, j.Name)
				}
				batch[j.UID] = at
				times++
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if from == 1 && times < 3*len(jobs.Items) {
				t.Errorf("seed %d: %d Jobs were shown %d times only", seed, len(jobs.Items), times)
			}
			for _, j := range jobs.Items {
				if got := shown[j.UID]; got != text(t, j) && (from == 1 || got != "") {
					t.Errorf("seed %d, from %d: Job %s was shown last as %s, and is %s", seed, from, j.Name, got, text(t, j))
				}
			}
		}
	}
}

// TestWhatIsShownIsRemembered: an object is shown again if something else is said of it, and not by an older record.
func TestWhatIsShownIsRemembered(t *testing.T) {
	type object struct {
		uid   string
		last  uint64
		state string
	}
	s := watch.Shown[object]{Said: func(o object) (string, uint64, any) { return o.uid, o.last, o.state }}
	for i, row := range []struct {
		object
		want bool
	}{
		{object{"a", 1, "Running"}, true},
		{object{"b", 2, "Running"}, true},
		{object{"a", 3, "Running"}, false},
		{object{"a", 4, "Failed"}, true},
		{object{"a", 3, "Running"}, false}, // of before: it was read late
		{object{"a", 4, "Complete"}, false},
		{object{"a", 5, "Running"}, true},
		{object{"c", 0, "Due"}, true},
		{object{"c", 0, "Due"}, false},
		{object{"c", 0, "Late"}, true}, // by the clock alone
	} {
		if got, err := s.Changed(row.object); got != row.want || err != nil {
			t.Errorf("row %d, %+v: changed %t, %v; want %t", i, row.object, got, err, row.want)
		}
	}
	odd := watch.Shown[object]{Said: func(o object) (string, uint64, any) { return o.uid, o.last, func() {} }}
	if changed, err := odd.Changed(object{}); changed || err == nil {
		t.Errorf("what cannot be written: changed %t, %v", changed, err)
	}
}

// TestAWatchEndsWithItsFirstError: of the log, of the one who is asked, and of the one who shows; and an interrupt is
// none.
func TestAWatchEndsWithItsFirstError(t *testing.T) {
	log := historytest.Hard(t, 1)
	src := ended{history.Local{Log: log}, log}
	broken := errors.New("broken")
	for name, fail := range map[string]struct{ one, show error }{"one": {one: broken}, "show": {show: broken}} {
		calls := 0
		seen := watch.Shown[history.Summary]{Said: said}
		live := history.LiveJobs(src)
		err := seen.Follow(t.Context(), src, live, 1, func(s events.Stream, _ *events.Record) (history.Summary, bool, error) {
			j, ok := live.Summary(s)
			return j, ok, fail.one
		}, func(history.Summary) error { calls++; return fail.show })
		if !errors.Is(err, broken) || calls > 1 {
			t.Errorf("%s fails: %v after %d calls", name, err, calls)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := watch.UnlessInterrupted(ctx, broken); !errors.Is(err, broken) {
		t.Errorf("not interrupted: %v", err)
	}
	cancel()
	if err := watch.UnlessInterrupted(ctx, broken); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	if at, err := watch.EndOf(t.Context(), src, true); at != log.Head().Sequence || err != nil {
		t.Errorf("the end is %d, %v; want %d", at, err, log.Head().Sequence)
	}
	if at, err := watch.EndOf(t.Context(), src, false); at != 0 || err != nil {
		t.Errorf("an end that is not wanted is %d, %v", at, err)
	}
}
