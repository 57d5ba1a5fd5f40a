package history_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// hole is a log whose records from one to before another cannot be read: a file of it is damaged, and the next one is
// whole.
type hole struct {
	store.Reader
	at, next events.Sequence
	noStep   bool // an index tells that the controller has no record there, so the clock was not set
}

func (h *hole) err() error { return &store.CorruptError{Path: "a.db", At: h.at, Next: h.next} }

func (h *hole) readable(from events.Sequence, all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		if h.at <= from && from < h.next {
			yield(events.Record{}, h.err())
			return
		}
		for r, err := range all {
			if from < h.next && r.Sequence >= h.at {
				yield(events.Record{}, h.err())
				return
			}
			if !yield(r, err) {
				return
			}
		}
		if from < h.at && h.Head().Sequence >= h.at && h.at != 0 {
			yield(events.Record{}, h.err()) // of a stream that may have had records there
		}
	}
}

func (h *hole) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return h.readable(max(from, 1), h.Reader.Read(ctx, from))
}

func (h *hole) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, d store.Direction) iter.Seq2[events.Record, error] {
	if h.noStep {
		return h.Reader.ReadStream(ctx, s, from, d)
	}
	return h.readable(max(from, 1), h.Reader.ReadStream(ctx, s, from, d))
}

// second is the time of a record of these logs.
func second(n int) events.Time {
	return events.At(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)).Add(time.Duration(n) * time.Second)
}

// logOf is a log with a record at each of the seconds. Where they go back, the clock was set.
func logOf(t *testing.T, seconds []int) *memlog.Log {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
	last := map[events.Stream]events.Sequence{}
	for i, at := range seconds {
		s, kind, f := events.JobStream("uid"), events.KindTimerFired, events.Facts(&events.TimerFired{})
		switch {
		case i == 0:
			s, kind, f = events.Controller, events.KindLogCreated, &events.LogCreated{LogID: "0f0f", Epoch: 1, Format: events.Format}
		case at < seconds[i-1]:
			step := time.Duration(at-seconds[i-1]) * time.Second
			s, kind, f = events.Controller, events.KindClockStepped, &events.ClockStepped{Step: step}
		}
		n := events.Sequence(i + 1)
		c := log.Append(events.Batch{Records: []events.Record{{
			Header: events.Header{Sequence: n, Time: second(at), Stream: s, Previous: last[s], Kind: kind, Critical: kind.Critical(), Last: true},
			Facts:  f, FactsSalt: events.Salt{1}, EvidenceSalt: events.Salt{2},
		}}}, true)
		<-c.Done()
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		last[s] = n
	}
	return log
}

// TestTimesBesideAHole asks a log for every range of times, with each of its parts damaged in turn. It gives the
// records of that time up to the damage, and the damage, unless the records around it say that it is of another time:
// then it gives all that are of that time. Of damage that is longer than a record it may say once too often that it is
// there.
func TestTimesBesideAHole(t *testing.T) {
	for _, seconds := range [][]int{{1, 2, 2, 4, 5, 7, 7, 8}, {3}, {1, 1, 1}} {
		log := logOf(t, seconds)
		n := events.Sequence(len(seconds))
		for at := events.Sequence(0); at <= n; at++ {
			for next := at; next <= n+1 && (at > 0 || next == 0); next++ {
				for since := 0; since <= 9; since++ {
					for until := 0; until <= 9; until++ {
						(&hole{log, at, next, false}).ask(t, seconds, since, until)
						(&hole{log, at, next, true}).ask(t, seconds, since, until)
					}
				}
			}
		}
	}
}

func (h *hole) ask(t *testing.T, seconds []int, since, until int) {
	t.Helper()
	if until != 0 && since > until {
		return
	}
	if h.next > events.Sequence(len(seconds)) || h.at == h.next {
		h = &hole{h.Reader, 0, 0, false}
	}
	n := events.Sequence(len(seconds))
	timeOf := func(at events.Sequence) int { return seconds[at-1] }
	damaged := h.at != 0
	if damaged && since != 0 && h.noStep && h.next <= n && timeOf(h.next) < since || damaged && until != 0 && h.at > 1 && timeOf(h.at-1) > until {
		damaged = false
	}
	var want []events.Sequence
	for at := events.Sequence(1); at <= n; at++ {
		if damaged && at >= h.at {
			break
		}
		if (since == 0 || timeOf(at) >= since) && (until == 0 || timeOf(at) <= until) && (at < h.at || at >= h.next) {
			want = append(want, at)
		}
	}
	q := history.Query{}
	if since != 0 {
		q.Since = second(since)
	}
	if until != 0 {
		q.Until = second(until)
	}
	var got []events.Sequence
	var met error
	for r, err := range (history.Local{Log: h}).Records(t.Context(), q) {
		if met = err; err == nil {
			got = append(got, r.Sequence)
		}
	}
	what := fmt.Sprintf("records at %v, %d to %d are damaged, from %d to %d", seconds, h.at, h.next, since, until)
	if is := errors.Is(met, store.ErrCorrupt); is && !damaged && h.next > h.at+1 {
		want, damaged = slices.DeleteFunc(want, func(at events.Sequence) bool { return at >= h.at }), true
	}
	if !slices.Equal(got, want) || damaged != errors.Is(met, store.ErrCorrupt) || !damaged && met != nil {
		t.Errorf("%s: %v and %v, want %v and damage: %v", what, got, met, want, damaged)
	}
}

// TestTimesOfAClockThatWasSetBack: every range of times of a log whose clock was set back, twice.
func TestTimesOfAClockThatWasSetBack(t *testing.T) {
	seconds := []int{2, 5, 6, 3, 4, 8, 1, 2, 9}
	h := &hole{Reader: logOf(t, seconds)}
	for since := 0; since <= 10; since++ {
		for until := 0; until <= 10; until++ {
			h.ask(t, seconds, since, until)
		}
	}
}

// TestAPartThatBeginsWithDamage: the record before is of another clock, and says nothing of when that was.
func TestAPartThatBeginsWithDamage(t *testing.T) {
	h := &hole{logOf(t, []int{5, 6, 3, 4}), 3, 4, true}
	var met error
	for _, err := range (history.Local{Log: h}).Records(t.Context(), history.Query{Until: second(3)}) {
		met = err
	}
	if !errors.Is(met, store.ErrCorrupt) {
		t.Errorf("the error is %v", met)
	}
}
