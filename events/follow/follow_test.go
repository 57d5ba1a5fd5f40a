package follow

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// written is a log of many Jobs.
func written(t *testing.T, records int) *memlog.Log {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
	if _, err := joblog.Write(log, joblog.Busy(records)); err != nil {
		t.Fatal(err)
	}
	return log
}

// all are its records.
func all(t *testing.T, log store.Reader) (out []events.Record) {
	t.Helper()
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// rewritten is a log of these records.
func rewritten(t *testing.T, records []events.Record) *memlog.Log {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
	for from, i := 0, 0; i < len(records); i++ {
		if records[i].Last {
			commit := log.Append(events.Batch{Records: slices.Clone(records[from : i+1])}, true)
			<-commit.Done()
			if err := commit.Err(); err != nil {
				t.Fatal(err)
			}
			from = i + 1
		}
	}
	return log
}

// TestWhichCommandEnded asks of each end in a log which command it was: after all records before it were shown, after
// none, and after those from some record on. The answer must be that of the decisions.
func TestWhichCommandEnded(t *testing.T) {
	log := written(t, 1500)
	records := all(t, log)
	kept := rewritten(t, records)
	decided := map[events.CommandID]events.Command{}
	told := map[events.CommandID]bool{}
	full, late, none := Commands{Log: kept}, Commands{Log: kept}, Commands{Log: kept}
	ends, said := 0, 0
	for i := range records {
		r := &records[i]
		if name, ok := End(r); ok {
			want := decided[name]
			if told[name] {
				want = nil
			}
			ends++
			if want != nil && TypeOf(r) == want.Traits().Kind {
				said++
			} else if TypeOf(r) != 0 && want != nil {
				t.Fatalf("record %d says that the command was a %s, it was a %s", r.Sequence, TypeOf(r), want.Traits().Name)
			}
			for way, c := range map[string]*Commands{"all": &full, "late": &late, "none": &none} {
				got, err := c.Ended(t.Context(), r)
				if err != nil || (got == nil) != (want == nil) || got != nil && events.Describe(got) != events.Describe(want) {
					t.Fatalf("record %d, %s shown: got %v, %v, want %v", r.Sequence, way, got, err, want)
				}
			}
			told[name] = told[name] || concludes(r)
		}
		if f, ok := r.Facts.(*events.Decision); ok {
			for place, c := range f.Commands() {
				decided[events.CommandID{Decided: r.Sequence, Place: uint32(place)}] = c
			}
		}
		full.Shown(r)
		if i > len(records)/2 {
			late.Shown(r)
		}
	}
	switch {
	case ends < 200:
		t.Errorf("%d ends: this tests nothing", ends)
	case said < ends*9/10:
		t.Errorf("%d of %d ends say what the command was", said, ends)
	}
	if full.open > len(decided)/2 {
		t.Errorf("%d commands are remembered of %d", full.open, len(decided))
	}
}

// TestCommandsAreForgotten: a command is forgotten when it has ended and when its Job is retired. All are forgotten
// when they are too many.
func TestCommandsAreForgotten(t *testing.T) {
	stream := events.JobStream("uid-demo")
	at := events.Sequence(0)
	record := func(kind events.Kind, f events.Facts) *events.Record {
		at++
		return &events.Record{Header: events.Header{Sequence: at, Stream: stream, Kind: kind}, Facts: f}
	}
	decision := func(commands ...events.Command) *events.Decision {
		return &events.Decision{Steps: []events.Step{{Commands: commands}}}
	}
	var c Commands
	c.Shown(record(events.KindWouldDecide, decision(&events.CreatePod{})))
	c.Shown(record(events.KindDecided, decision(&events.CreatePod{Ordinal: 1}, &events.WriteStatus{}, &events.Withdraw{})))
	if n := c.Open(stream); n != 2 {
		t.Fatalf("%d commands are remembered, want the two that have an end", n)
	}
	end := func(place uint32, how events.Ending, class events.RefusalClass) *events.Record {
		return record(events.KindCommandEnded, &events.CommandEnded{Command: events.CommandID{Decided: 2, Place: place}, Ending: how, Class: class})
	}
	c.Shown(end(0, events.Refused, events.RefusedQuota)) // it may be accepted later
	c.Shown(end(1, events.Refused, events.RefusedConflict))
	if n := c.Open(stream); n != 1 || c.Of(stream, events.CommandID{Decided: 2}) == nil {
		t.Fatalf("%d commands are remembered, want the create", n)
	}
	c.Shown(end(0, events.Done, 0))
	c.Shown(end(0, events.Done, 0))
	if c.open != 0 || len(c.streams) != 0 {
		t.Fatalf("%d commands of %d streams are remembered", c.open, len(c.streams))
	}
	c.Shown(record(events.KindDecided, decision(&events.ReadJob{})))
	c.Shown(record(events.KindJobRetired, &events.JobRetired{}))
	if c.open != 0 || len(c.streams) != 0 {
		t.Fatalf("%d commands of a Job that is retired are remembered", c.open)
	}
	many := slices.Repeat([]events.Command{&events.ReadJob{}}, MaxCommands/4)
	for range 9 {
		c.Shown(record(events.KindDecided, decision(many...)))
		if c.open > MaxCommands || c.open != c.Open(stream) {
			t.Fatalf("%d commands are remembered, %d of the stream", c.open, c.Open(stream))
		}
	}
}

// TestWhoAStreamIs asks of each record of a Job which Job it is about, with and without the records before it.
func TestWhoAStreamIs(t *testing.T) {
	log := written(t, 2000)
	shown := Jobs{Log: log}
	names := 0
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		fresh := Jobs{Log: log}
		got, err := shown.Of(t.Context(), &r)
		want, err2 := fresh.Of(t.Context(), &r)
		if err != nil || err2 != nil || got != want {
			t.Fatalf("record %d: %v, %v with the records before it, %v, %v without", r.Sequence, got, err, want, err2)
		}
		if r.Stream.Kind == events.StreamJob {
			if names++; got.Name == "" || string(got.UID) != r.Stream.ID {
				t.Fatalf("record %d is about %v", r.Sequence, got)
			}
		} else if got != (events.JobRef{}) {
			t.Fatalf("record %d of %s is about %v", r.Sequence, r.Stream, got)
		}
		shown.Shown(&r)
	}
	if names < 1000 {
		t.Errorf("%d records of Jobs: this tests nothing", names)
	}
}

// TestACursorGoesOnWhereItsConsumerFailed: a record is given again when its consumer failed on it, and never otherwise.
func TestACursorGoesOnWhereItsConsumerFailed(t *testing.T) {
	log := written(t, 300)
	failed, idle := errors.New("not now"), 0
	var taken []events.Sequence
	fails := map[events.Sequence]bool{1: true, 17: true, log.Head().Sequence: true}
	c := Cursor{
		Log:  log,
		Idle: func(context.Context) error { idle++; return nil },
		Take: func(_ context.Context, r *events.Record) error {
			if fails[r.Sequence] {
				delete(fails, r.Sequence)
				return failed
			}
			taken = append(taken, r.Sequence)
			return nil
		},
	}
	for range 3 {
		if err := c.CatchUp(t.Context()); !errors.Is(err, failed) {
			t.Fatalf("got %v", err)
		}
	}
	if err := c.CatchUp(t.Context()); err != nil || idle != 1 {
		t.Fatalf("got %v, idle %d times", err, idle)
	}
	for i, at := range taken {
		if at != events.Sequence(i+1) {
			t.Fatalf("record %d was taken as number %d", at, i+1)
		}
	}
	if head := log.Head().Sequence; events.Sequence(len(taken)) != head || c.Next != head+1 {
		t.Errorf("%d of %d records were taken, and record %d comes next", len(taken), head, c.Next)
	}
}

// TestAFollowerIsStoppedInGoodOrder by its context or by the end of the log.
func TestAFollowerIsStoppedInGoodOrder(t *testing.T) {
	log := written(t, 300)
	ctx, cancel := context.WithCancel(t.Context())
	c := Cursor{Log: log, Take: func(_ context.Context, r *events.Record) error {
		if r.Sequence == log.Head().Sequence {
			cancel()
		}
		return nil
	}}
	if err := c.Run(ctx); err != nil || c.Next != log.Head().Sequence+1 {
		t.Errorf("stopped by its context: %v, before record %d", err, c.Next)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Errorf("stopped by the end of the log: %v", err)
	}
	failed := errors.New("no")
	broken := Cursor{Log: written(t, 300), Take: func(context.Context, *events.Record) error { return failed }}
	if err := broken.Run(t.Context()); !errors.Is(err, failed) {
		t.Errorf("an error of the consumer: %v", err)
	}
}
