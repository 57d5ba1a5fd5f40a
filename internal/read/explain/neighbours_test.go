package explain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/explaintest"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// neighbour is a scene that differs from another one in one thing.
type neighbour struct {
	name string
	list list
}

// pauses are how much later the records from one on come: around the bounds that answers know.
var pauses = []time.Duration{time.Second, 4 * time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, time.Hour, 24 * time.Hour}

// mostNext is of how many records of a scene there are neighbours.
const mostNext = 40

// neighbours are the scenes next to one. In each a record was never made, cannot be read, comes later, or comes
// together with the one before it; all before it are pruned; or all records hold something else.
func neighbours(t *testing.T, of list) iter.Seq[neighbour] {
	records, n := of.records, 0
	return func(yield func(neighbour) bool) {
		give := func(records []events.Record, format string, args ...any) bool {
			return yield(neighbour{fmt.Sprintf(format, args...), list{Reader: of.Reader, records: records}})
		}
		for k := 2; k < len(records); k += 1 + len(records)/mostNext { // behind the beginnings of the log and of the controller
			r, pause := &records[k], pauses[n%len(pauses)]
			what := fmt.Sprintf("%s (%d)", r.Kind, r.Sequence)
			together := records[k-1].Time.Sub(r.Time)
			more := give(without(records, k), "without %s", what)
			switch n++; n % 4 {
			case 0:
				more = more && yield(neighbour{what + " is damaged", list{Reader: of.Reader, records: records, damaged: r.Sequence}})
			case 1, 3:
				more = more && give(later(records, k, pause), "%s %s later", what, pause)
			case 2:
				more = more && (together == 0 || give(later(records, k, together), "%s at once", what))
			}
			if !more {
				return
			}
		}
		for _, k := range []int{len(records) / 3, len(records) * 2 / 3} {
			if !give(pruned(t, records, k), "pruned before %d", records[k].Sequence) {
				return
			}
		}
		for i := len(records) % 5; i < len(jobsOtherwise); i += 5 {
			if x := &jobsOtherwise[i]; !give(otherwiseIn(records, x.change), "%s", x.name) {
				return
			}
		}
	}
}

// without are the records as if one had never been made.
func without(records []events.Record, k int) (out []events.Record) {
	gone := records[k].Sequence
	places := func(s events.Sequence) events.Sequence {
		switch {
		case s == gone:
			return records[k].Previous
		case s > gone:
			return s - 1
		}
		return s
	}
	for i := range records {
		if i != k {
			out = append(out, *explaintest.Rewritten(&records[i], nil, places))
		}
	}
	return out
}

// later are the records as if all from one on had come later, and all that they tell of that time.
func later(records []events.Record, k int, by time.Duration) (out []events.Record) {
	since := records[k].Time
	times := func(t events.Time) events.Time {
		if t >= since {
			return t.Add(by)
		}
		return t
	}
	for i := range records {
		if i < k {
			out = append(out, records[i])
		} else {
			out = append(out, *explaintest.Rewritten(&records[i], times, nil))
		}
	}
	return out
}

func otherwiseIn(records []events.Record, change func(*events.Record)) (out []events.Record) {
	for i := range records {
		r := explaintest.Rewritten(&records[i], nil, nil)
		change(r)
		out = append(out, *r)
	}
	return out
}

// pruned are the records of which all before one are no longer kept. In their place are the states to which they led.
func pruned(t *testing.T, records []events.Record, k int) (out []events.Record) {
	t.Helper()
	w, newest := projector.NewWorld(), map[events.Stream]events.Sequence{}
	for i := range records[:k] {
		w.Apply(&records[i])
		newest[records[i].Stream] = records[i].Sequence
	}
	state := func(s events.Stream, facts, names []byte) {
		ref := w.RefOf(s)
		out = append(out, events.Record{
			Header: events.Header{Time: records[k-1].Time, Stream: s, Kind: events.KindStateStored, Previous: newest[s], Critical: true, Last: true},
			Facts:  &events.StoredState{Encoded: facts}, Evidence: events.Evidence{Namespace: ref.Namespace, Name: ref.Name, State: names},
		})
	}
	state(events.Controller, w.ControllerState(), nil)
	for _, s := range w.Streams() {
		if facts, names, ok := w.StreamState(s); ok && s.Kind != events.StreamController {
			state(s, facts, names)
		}
	}
	for i := range out {
		out[i].Sequence = records[k].Sequence - events.Sequence(len(out)-i)
	}
	return append(out, records[k:]...)
}

// list is a log that is a slice, of which a record may not be readable.
type list struct {
	store.Reader // for what is not read from the records: where names are
	records      []events.Record
	damaged      events.Sequence
}

// listOf are the records of a small log.
func listOf(t *testing.T, src history.Source) list {
	t.Helper()
	l := list{Reader: src.(history.Local).Log}
	for r, err := range src.Read(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		l.records = append(l.records, r)
	}
	return l
}

func (l *list) Head() store.Head {
	h := l.Reader.Head()
	h.Sequence = l.records[len(l.records)-1].Sequence
	return h
}

func (l *list) Read(_ context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	if from != 0 && from < l.records[0].Sequence {
		return func(yield func(events.Record, error) bool) { yield(events.Record{}, store.ErrPruned) }
	}
	return l.all(store.Forward, func(r *events.Record) bool { return r.Sequence >= from })
}

func (l *list) ReadStream(_ context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return l.all(dir, func(r *events.Record) bool {
		return r.Stream == s && (from == 0 || r.Sequence == from || (dir == store.Forward) == (r.Sequence > from))
	})
}

func (l *list) all(dir store.Direction, wanted func(r *events.Record) bool) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		first := &l.records[0]
		for i := range l.records {
			r := &l.records[i]
			if dir == store.Backward {
				r = &l.records[len(l.records)-1-i]
			}
			if !wanted(r) {
				continue
			}
			if r.Sequence == l.damaged {
				yield(events.Record{}, &store.CorruptError{Path: "a.db", At: r.Sequence, Next: r.Sequence + 1})
				return
			}
			if !yield(*r, nil) {
				return
			}
			first = r
		}
		if dir == store.Backward && first.Previous != 0 && l.records[0].Sequence > 1 {
			yield(events.Record{}, store.ErrPruned)
		}
	}
}

func (l *list) Newest(s events.Stream, _ events.Time) (events.Sequence, error) {
	for i := range l.records {
		if r := &l.records[len(l.records)-1-i]; r.Stream == s {
			return r.Sequence, nil
		}
	}
	return 0, nil
}

func (l *list) source() history.Source {
	return history.Local{Log: l, Lists: joblist.New(joblist.Config{Log: l}), Damage: &store.Damage{}}
}

// sum is the sum of all that is told of some logs.
type sum struct {
	t       *testing.T
	out     io.Writer
	answers int
}

func (s *sum) value(v any) {
	s.t.Helper()
	s.answers++
	if err := json.NewEncoder(s.out).Encode(v); err != nil {
		s.t.Error(err)
	}
}

func (s *sum) failed(err error) {
	if err != nil {
		fmt.Fprintln(s.out, err)
	}
}

// job takes in what is told of a Job as of a point.
func (s *sum) job(src history.Source, of events.Stream, p history.Point) {
	c, err := job.Read(s.t.Context(), src, of, p)
	if s.failed(err); c == nil {
		return
	}
	s.value(c.Answer())
	if p == (history.Point{}) {
		s.failed(c.Compare(s.t.Context()))
		s.value(c.Answer())
	}
	rows, _ := c.Attempts(false, 0, 0)
	s.value(rows)
	s.value(c.Sum())
	s.value(c.Timeline(1))
	for _, t := range c.Tries {
		pod, err := c.PodAnswer(string(t.UID))
		s.failed(err)
		s.value(pod)
	}
	s.failed(c.Unread())
}

// mostDue is of how many due times of a CronJob it is asked what became of them.
const mostDue = 8

// cronJob takes in what is told of a CronJob as of a point, and as of now also of its due times.
func (s *sum) cronJob(src history.Source, of events.Stream, p history.Point) {
	c, err := cron.Read(s.t.Context(), src, of, p)
	if s.failed(err); c == nil {
		return
	}
	s.value(c.Answer())
	s.failed(c.Unread())
	if p != (history.Point{}) {
		return
	}
	due, err := duetimes.Read(s.t.Context(), src, of)
	if s.failed(err); due == nil {
		return
	}
	dues := due.All()
	for _, e := range dues[max(0, len(dues)-mostDue):] {
		for _, t := range []events.Time{e.First, e.Last.Add(time.Second)} {
			w, err := whynot.Read(s.t.Context(), src, []events.Stream{of}, t.Go(), words.Zone{})
			s.failed(err)
			s.value(w)
		}
	}
}

// log takes in all that is told of a log as of its end.
func (s *sum) log(src history.Source, records []events.Record) {
	jobs, _ := streams(records, events.StreamJob, 1)
	for _, of := range jobs {
		s.job(src, of, history.Point{})
	}
	crons, _ := streams(records, events.StreamCronJob, 1)
	for _, of := range crons {
		s.cronJob(src, of, history.Point{})
	}
	failures, err := failures.Find(s.t.Context(), src, failures.Query{Survived: true})
	s.failed(err)
	s.value(failures)
	page, err := src.Jobs(s.t.Context(), history.JobsQuery{})
	s.failed(err)
	lines := verdicts.LinesOf(src)
	for i := range page.Items {
		why, err := lines.Of(s.t.Context(), &page.Items[i], history.Point{})
		s.failed(err)
		s.value(why)
	}
}

// points takes in what is told of the objects of a log as of each of their records.
func (s *sum) points(src history.Source, records []events.Record) {
	for i := range records {
		switch r := &records[i]; r.Stream.Kind {
		case events.StreamJob:
			s.job(src, r.Stream, history.Point{Sequence: r.Sequence})
		case events.StreamCronJob:
			s.cronJob(src, r.Stream, history.Point{Sequence: r.Sequence})
		}
	}
}

// textsIn is where all texts are written whose sums differ from those that are kept: to compare them with those of
// another commit.
var textsIn = os.Getenv("JOBLEDGER_TEXTS")

// summing is a sum of what is told of a scene and of its neighbours.
type summing struct {
	*sum
	hash  hash.Hash64
	texts strings.Builder
}

func newSum(t *testing.T) *summing {
	t.Helper()
	s := &summing{hash: fnv.New64a()}
	s.sum = &sum{t: t, out: s.hash}
	if textsIn != "" {
		s.out = io.MultiWriter(s.hash, &s.texts)
	}
	return s
}

// neighbours takes in all that is told of a scene's neighbours.
func (s *summing) neighbours(of list) {
	s.t.Helper()
	name := ""
	defer func() {
		if p := recover(); p != nil {
			s.t.Fatalf("%s: %v\n%s", name, p, debug.Stack())
		}
	}()
	for n := range neighbours(s.t, of) {
		name = n.name
		fmt.Fprintf(s.out, "== %s\n", name)
		s.log(n.list.source(), n.list.records)
	}
}

const sumWords = "answers as of its records and of the scenes next to it"

// line is the sum in a line of a text that is kept.
func (s *summing) line() string {
	s.t.Helper()
	if textsIn != "" {
		file := filepath.Join(textsIn, strings.ReplaceAll(s.t.Name(), "/", ".")+".txt")
		if err := os.WriteFile(file, []byte(s.texts.String()), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	return fmt.Sprintf("%d "+sumWords+": %016x", s.answers, s.hash.Sum64())
}
