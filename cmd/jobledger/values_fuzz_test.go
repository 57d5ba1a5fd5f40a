package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/say/words"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// FuzzValues puts another value into one field of one record, as a forger can who corrects the checksums. An impossible
// value is refused with an error that names record and field. With any other value the log is read, replayed and
// listed, without a panic, and in at most the time of a hundred unchanged logs.
func FuzzValues(f *testing.F) {
	logs := valuesLogs(f)
	for which, l := range logs {
		for n := uint16(0); int(n) < len(l.records); n += uint16(len(l.records)/60 + 1) {
			for k, value := range []uint64{0, 1, ^uint64(0), 1 << 63, 1<<31 - 1, 1 << 62} {
				f.Add(byte(which), n, uint16(k)*31+n, value)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which byte, record, field uint16, value uint64) {
		l := logs[int(which)%len(logs)]
		at := int(record) % len(l.records)
		changed, name, ok := l.with(t, at, field, value)
		if !ok {
			return
		}
		r, err := events.DecodeParts(changed)
		if err != nil {
			var wrong *events.RangeError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), fmt.Sprintf("record %d", at+1)) || wrong.Field != name {
				t.Fatalf("record %d, %s: %v", at+1, name, err)
			}
			return
		}
		began := processor(t)
		l.useWith(t.Context(), at, r)
		if spent := processor(t) - began; spent > 100*l.usual+time.Second {
			t.Errorf("record %d with another %s takes %s of a processor; as it was, %s", at+1, name, spent, l.usual)
		}
	})
}

// processor is the time that this process has had so far.
func processor(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// valued is a log with values that are changed.
type valued struct {
	records []events.Record
	parts   []events.Parts
	usual   time.Duration // of a processor, for all that is done with it
}

// valuesLogs are a log of Jobs and one of CronJobs.
var valuesLogs = func() func(testing.TB) []*valued {
	var once sync.Once
	var all []*valued
	return func(t testing.TB) []*valued {
		once.Do(func() {
			for _, write := range []func(testing.TB, store.Log){
				func(t testing.TB, log store.Log) { season(t, log, 5, nil) },
				someDues,
			} {
				log := memlog.New(events.Identity{LogID: testLogID, Epoch: 1}, memlog.FileBytes(6000))
				write(t, log)
				all = append(all, newValued(t, log))
			}
		})
		return all
	}
}()

func newValued(t testing.TB, log store.Log) *valued {
	t.Helper()
	var l valued
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := events.EncodeParts(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		l.records, l.parts = append(l.records, r), append(l.parts, p)
	}
	began := processor(t)
	l.useWith(t.Context(), 0, l.records[0])
	l.usual = processor(t) - began
	return &l
}

// someDues writes the log of three CronJobs in two nights. The run of the first night lasts beyond the second, so the
// next one is held back. One run is refused, another is triggered, and no controller watched for an hour.
func someDues(t testing.TB, log store.Log) {
	c := newCronCluster(t, log, events.At(march(27, "23:40:00")))
	etl := c.addCron("prod", "etl", "30 1,2 * * *", "Europe/Berlin", func(s *events.CronJobSeen) { s.Policy = "Forbid" })
	report := c.addCron("prod", "report", "0 * * * *", "", func(s *events.CronJobSeen) { s.Deadline = new(int64(120)) })
	old := c.addCron("web", "old", "*/10 * * * *", "", func(s *events.CronJobSeen) { s.Suspend = true })
	c.until(march(28, "00:00:01"))
	c.run(report, time.Minute, 0, "")
	c.until(march(28, "00:30:01"))
	c.start(c.running(etl))
	c.away(time.Hour)
	c.change(report, "jobledger-trigger", func(s *events.CronJobSeen) {
		s.Trigger = &events.RunTrigger{Value: "2026-03-28T01:30:00.000Z 1 alice", Asked: c.now, By: "alice by jobledger-trigger"}
	})
	c.run(report, time.Minute, 3, "no such file")
	c.byHand(etl, "etl-rerun")
	c.deleteCron(old)
	c.refused = &events.TaskResult{
		Ended:    events.CommandEnded{Ending: events.Refused, Class: events.RefusedQuota},
		Evidence: events.Evidence{Message: `jobs.batch %q is forbidden: exceeded quota: objects, requested: count/jobs.batch=1`},
	}
	c.until(march(28, "02:03:00"))
	c.change(report, "kubectl-edit", func(s *events.CronJobSeen) { s.Schedule = "0 3 1 * *" })
	c.snapshot()
	c.until(march(29, "01:40:00")) // the clocks of Berlin are put on at 01:00 UTC
	c.durable()
}

// useWith does with the log what commands and a start do, with one record replaced.
func (l *valued) useWith(ctx context.Context, at int, r events.Record) {
	records := append([]events.Record(nil), l.records...)
	records[at] = r
	again := replay.New()
	for _, r := range records {
		if _, err := again.Record(r); err != nil {
			break
		}
	}
	log := batchesOf(records)
	_, _ = loop.Recover(ctx, log) // it may refuse
	lists := joblist.New(joblist.Config{Log: log})
	_, _ = lists.Page(ctx, history.ListQuery{})
	_, _ = lists.CronJobs(ctx, history.CronListQuery{})
	src := history.Local{Log: log, Lists: lists}
	switch s := r.Stream; s.Kind {
	case events.StreamCronJob:
		l.askCronJob(ctx, src, s, r.Time)
	case events.StreamJob:
		if found, _ := job.Read(ctx, src, s, history.Point{}); found != nil {
			found.Answer()
		}
		one := replay.New()
		one.Partly()
		for r, err := range oneJob(ctx, history.Local{Log: log}, s, one) {
			if err != nil {
				break
			}
			if _, err := one.Record(r); err != nil {
				break
			}
		}
	}
}

// askCronJob does what commands about one CronJob do.
func (l *valued) askCronJob(ctx context.Context, src history.Source, s events.Stream, at events.Time) {
	if found, _ := cron.Read(ctx, src, s, history.Point{}); found != nil {
		found.Answer()
	}
	_, _ = whynot.Read(ctx, src, []events.Stream{s}, at.Go(), words.Zone{})
	ticks := ask.Ticks.New()
	if err := ticks.Read([]string{"cronjob/" + s.ID}); err == nil {
		_, _ = ticks.Ask(ctx, ask.Source{Source: src, Note: func(string) {}, Clock: time.Now, Damage: &store.Damage{}})
	}
}

// with gives the parts of a record with that value in one of its fields, and the field's name.
func (l *valued) with(t *testing.T, at int, field uint16, value uint64) (p events.Parts, name string, ok bool) {
	p = l.parts[at]
	r := &l.records[at]
	var m protoreflect.Message
	switch {
	case r.Kind == events.KindStateStored && r.Stream == events.Controller:
		m = (&pb.WorldState{}).ProtoReflect()
	default:
		of := (&pb.PublishedRecord{}).ProtoReflect()
		f := of.Descriptor().Fields().ByNumber(protowire.Number(100 + r.Kind))
		m = of.NewField(f).Message()
	}
	if err := proto.Unmarshal(p.Facts, m.Interface()); err != nil {
		t.Fatal(err)
	}
	places := placesOf(m, nil)
	if len(places) == 0 {
		return p, "", false
	}
	place := places[int(field)%len(places)]
	place.set(value)
	facts, err := proto.MarshalOptions{Deterministic: true}.Marshal(m.Interface())
	if err != nil {
		return p, "", false
	}
	p.Facts = facts
	return p, string(place.message.Descriptor().Name()) + "." + string(place.field.Name()), true
}

// place is a field of a message, set or not.
type place struct {
	message protoreflect.Message
	field   protoreflect.FieldDescriptor
}

func placesOf(m protoreflect.Message, all []place) []place {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsMap():
		case f.Message() == nil:
			all = append(all, place{m, f})
		case f.IsList():
			list := m.Get(f).List()
			for i := range list.Len() {
				all = placesOf(list.Get(i).Message(), all)
			}
		case m.Has(f):
			all = placesOf(m.Get(f).Message(), all)
		}
	}
	return all
}

func (p place) set(value uint64) {
	v := map[protoreflect.Kind]protoreflect.Value{
		protoreflect.BoolKind:     protoreflect.ValueOfBool(value%2 == 1),
		protoreflect.Int32Kind:    protoreflect.ValueOfInt32(int32(value)),
		protoreflect.Sint32Kind:   protoreflect.ValueOfInt32(int32(value)),
		protoreflect.Uint32Kind:   protoreflect.ValueOfUint32(uint32(value)),
		protoreflect.Int64Kind:    protoreflect.ValueOfInt64(int64(value)),
		protoreflect.Sfixed64Kind: protoreflect.ValueOfInt64(int64(value)),
		protoreflect.Uint64Kind:   protoreflect.ValueOfUint64(value),
		protoreflect.EnumKind:     protoreflect.ValueOfEnum(protoreflect.EnumNumber(int32(value))),
		protoreflect.StringKind:   protoreflect.ValueOfString(fmt.Sprint(value)),
		protoreflect.BytesKind:    protoreflect.ValueOfBytes(binary.BigEndian.AppendUint64(nil, value)),
	}[p.field.Kind()]
	if p.field.IsList() {
		list := p.message.Mutable(p.field).List()
		if list.Len() == 0 {
			list.Append(v)
		} else {
			list.Set(int(value%uint64(list.Len())), v)
		}
		return
	}
	p.message.Set(p.field, v)
}
