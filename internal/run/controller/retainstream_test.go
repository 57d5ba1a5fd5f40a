package controller

import (
	"iter"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/livetail"
)

// TestAStreamThatIsAwayIsPassedOver: a NATS server is away until the log has no room to wait for it. When it is back,
// the stream goes on with the oldest record that is kept. What it lacks is what records say that it missed, and the
// stream has those records.
func TestAStreamThatIsAwayIsPassedOver(t *testing.T) {
	most, records := int64(6<<20), 36_000
	long := effort.IsLong() // half an hour of 500 records in a second, of which the server is away for 10 minutes
	if long {
		most, records = 40_000_000, 900_000
	}
	k := keep(t, most, publish.Consumer)
	server := natstest.NewServer(t).Start()
	p := natstest.Publish(t, server, livetail.New(k.log, 0))
	cfg := joblog.Busy(records)
	cfg.Parked, cfg.Single = 200, 1000
	away := false
	cfg.Between = func(now events.Time, l *loop.Loop) error {
		k.loop = l
		switch at := int(k.log.Head().Sequence); {
		case !away && len(k.missed) == 0 && at > records/3:
			p.CaughtUp(t)
			server.Stop()
			away = true
		case away && len(k.missed) > 0 && (!long || at > records/3*2):
			server.Start()
			away = false
		}
		return k.second(now)
	}
	if _, err := joblog.Write(k.log, cfg); err != nil {
		t.Fatal(err)
	}
	if len(k.missed) == 0 {
		t.Fatal("nothing was missed")
	}
	p.CaughtUp(t)
	p.Stop()
	if !k.streamLacks(server) {
		t.Error("the stream lacks nothing")
	}
	if err := k.log.Close(); err != nil {
		t.Fatal(err)
	}
}

// streamLacks checks that the stream has every record through the end of the log, but for those that records say it
// missed. It reports whether there are any: what the publisher had read ahead is in the stream, though the log let it
// go.
func (k *keeping) streamLacks(server *natstest.Server) (lacks bool) {
	k.t.Helper()
	missed := events.Missed{From: k.missed[0].From, Through: k.missed[len(k.missed)-1].Through}
	next, floor, said := events.Sequence(1), events.Sequence(0), 0
	for e := range published(k.t, server) {
		at := e.ID.Sequence
		if at != next {
			if floor = at; next < missed.From || at > missed.Through+1 {
				k.t.Errorf("the stream lacks records %d to %d; recorded is that it missed %d to %d", next, at-1, missed.From, missed.Through)
			}
		}
		if floor != 0 && e.Floor != floor {
			k.t.Errorf("record %d has floor %d, want %d", at, e.Floor, floor)
		}
		if f, ok := e.Record.Facts.(*events.Pruned); ok {
			said += len(f.Missed)
		}
		next = at + 1
	}
	if next != k.log.Head().Sequence+1 || said == 0 {
		k.t.Errorf("the stream ends before record %d, and says %d times that it missed records", next, said)
	}
	k.t.Logf("missed %d to %d, the stream goes on with %d; the log had %d bytes at most", missed.From, missed.Through, floor, k.largest)
	return floor != 0
}

// published are the messages of the stream, in order.
func published(t *testing.T, server *natstest.Server) iter.Seq[nats.Event] {
	t.Helper()
	js := server.JetStream()
	var stream jetstream.Stream
	for name := range js.StreamNames(t.Context()).Name() {
		var err error
		if stream, err = js.Stream(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	info, err := stream.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := stream.OrderedConsumer(t.Context(), jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(nats.Event) bool) {
		messages, err := consumer.Messages()
		if err != nil {
			t.Fatal(err)
		}
		defer messages.Stop()
		for range info.State.Msgs {
			m, err := messages.Next()
			if err != nil {
				t.Fatal(err)
			}
			e, err := nats.Decode(&nats.Message{Subject: m.Subject(), Header: m.Headers(), Data: m.Data()})
			if err != nil {
				t.Fatal(err)
			}
			if !yield(e) {
				return
			}
		}
	}
}
