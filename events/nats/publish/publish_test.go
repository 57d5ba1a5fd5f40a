package publish_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/store"
)

// wantWhole compares the stream with the log: every record once, in order, as it is.
func wantWhole(t *testing.T, s *natstest.Server, log store.Reader) []nats.Event {
	t.Helper()
	all := messages(t, s)
	i := 0
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if i >= len(all) {
			t.Fatalf("the stream ends after %d messages, before record %d", i, r.Sequence)
		}
		if chain, err := log.Chain(r.Sequence); err != nil || i < len(all) && all[i].Chain != chain {
			t.Fatalf("message %d says that the chain value is %s, the log %s (%v)", i+1, all[i].Chain, chain, err)
		}
		if all[i].ID.Sequence != r.Sequence {
			t.Fatalf("message %d is record %d, want %d", i+1, all[i].ID.Sequence, r.Sequence)
		}
		if !reflect.DeepEqual(r, all[i].Record) { // a diff of each would take most of the time of these tests
			if diff := cmp.Diff(r, all[i].Record); diff != "" {
				t.Fatalf("record %d (-log +stream):\n%s", r.Sequence, diff)
			}
		}
		i++
	}
	if i != len(all) {
		t.Fatalf("the stream has %d messages for %d records", len(all), i)
	}
	return all
}

func TestEveryRecordIsPublishedOnceInOrder(t *testing.T) {
	for _, contentType := range []string{nats.Protobuf, nats.JSON} {
		t.Run(contentType, func(t *testing.T) {
			s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 2000).Grow(1000)
			p := natstest.Publish(t, s, l.Log, func(c *publish.Config) { c.ContentType = contentType })
			p.CaughtUp(t)
			l.Grow(0) // while it runs
			p.CaughtUp(t)
			previous := map[events.Stream]events.Sequence{}
			for _, e := range wantWhole(t, s, l.Log) {
				if e.Previous != previous[e.Stream] {
					t.Fatalf("record %d says that %d was before it in its stream, but it was %d", e.ID.Sequence, e.Previous, previous[e.Stream])
				}
				previous[e.Stream] = e.ID.Sequence
				if e.Floor != 1 || e.ID.Log != life {
					t.Fatalf("record %d has floor %d and log %s", e.ID.Sequence, e.Floor, e.ID.Log)
				}
				if e.Stream.Kind == events.StreamJob && (e.Subject.Name == "" || e.Subject.Namespace == "" || e.Job.Name != e.Subject.Name) {
					t.Fatalf("record %d (%s) is about %+v", e.ID.Sequence, e.Subject.Event, e.Subject)
				}
			}
			if at, err := l.Log.Offset(publish.Consumer); at != l.Log.Head().Sequence || err != nil {
				t.Errorf("the offset is %d (%v), want %d", at, err, l.Log.Head().Sequence)
			}
		})
	}
}

func TestWhileTheServerIsAwayTheOffsetStaysAndThenAllFollows(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 12_000).Grow(1500)
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	s.Stop()
	at, _ := l.Log.Offset(publish.Consumer)
	l.Grow(0) // more than 10,000 records
	natstest.Eventually(t, "the lag shows, and why", func() error {
		if st := p.Status(); st.Lag < 10_000 || st.Behind == 0 || !strings.Contains(st.Problem, "no connection") || st.Server != "" {
			return fmt.Errorf("status %+v", st)
		}
		return nil
	})
	if now, _ := l.Log.Offset(publish.Consumer); now != at {
		t.Errorf("the offset went from %d to %d while the server was away", at, now)
	}
	if err := p.CatchUp(t.Context()); err == nil {
		t.Error("a stop would wait for a server that is away")
	}
	s.Start()
	p.CaughtUp(t)
	wantWhole(t, s, l.Log)
}

func TestWithoutAServerFromTheStartNothingElseIsWrong(t *testing.T) {
	s, l := natstest.NewServer(t), natstest.NewLedger(t, 2000)
	p := natstest.Publish(t, s, l.Log)
	l.Grow(0) // the log does not wait for NATS
	natstest.Eventually(t, "it says what is wrong", func() error {
		if st := p.Status(); !strings.Contains(st.Problem, "connection") {
			return fmt.Errorf("status %+v", st)
		}
		return nil
	})
	s.Start()
	p.CaughtUp(t)
	wantWhole(t, s, l.Log)
}

// TestAStartAsksTheStreamAndNotTheOffset: after a crash the offset may be old, and the window for duplicates may be
// over.
func TestAStartAsksTheStreamAndNotTheOffset(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 3000).Grow(2000)
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	p.Stop()
	for _, at := range []events.Sequence{0, 17, 1000} {
		if err := l.Log.SetOffset(publish.Consumer, at); err != nil {
			t.Fatal(err)
		}
		again := natstest.Publish(t, s, l.Log)
		again.CaughtUp(t)
		if st := again.Status(); st.Messages != 0 {
			t.Errorf("from offset %d, %d messages were sent again", at, st.Messages)
		}
		again.Stop()
	}
	l.Grow(0)
	natstest.Publish(t, s, l.Log).CaughtUp(t)
	wantWhole(t, s, l.Log)
}

func TestWhatTheServerLostIsPublishedAgain(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 3000).Grow(1000)
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	s.Stop()
	saved := t.TempDir()
	copyTree(t, s.Dir, saved)
	s.Start()
	l.Grow(2000)
	p.CaughtUp(t)
	s.Stop()
	copyTree(t, saved, s.Dir) // as after a power cut: what was acknowledged since is gone
	s.Start()
	natstest.Eventually(t, "the loss is noticed", func() error {
		l.Grow(int(l.Log.Head().Sequence) + 1)
		if len(messages(t, s)) < 2000 {
			return fmt.Errorf("the stream has %d messages", len(messages(t, s)))
		}
		return nil
	})
	p.CaughtUp(t)
	wantWhole(t, s, l.Log)
}

func TestAStreamThatIsMadeAnewGetsAllThatTheLogHas(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 2000).Grow(1000)
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	if err := s.JetStream().DeleteStream(t.Context(), stream); err != nil {
		t.Fatal(err)
	}
	l.Grow(0)
	p.CaughtUp(t)
	wantWhole(t, s, l.Log)
}

// TestAStreamWhosePlacesDoNotBeginWithOneGetsAllThatTheLogHas: the stream looks like one with deleted messages, but it
// never had any.
func TestAStreamWhosePlacesDoNotBeginWithOneGetsAllThatTheLogHas(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 500).Grow(300)
	publishAll(t, s, l)
	natstest.RemakeStream(t, s.JetStream(), jetstream.StreamConfig{
		Name: stream, Subjects: []string{nats.Everything(cluster)}, Storage: jetstream.FileStorage, FirstSeq: 1000,
	})
	publishAll(t, s, l.Grow(0))
	wantWhole(t, s, l.Log)
}

func TestMessagesThatWereDeletedByHandStayDeleted(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 2000).Grow(1000)
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	p.Stop()
	got, err := s.JetStream().Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	head := uint64(l.Log.Head().Sequence)
	for n := range uint64(3) {
		if err := got.DeleteMsg(t.Context(), head-n); err != nil {
			t.Fatal(err)
		}
	}
	l.Grow(0)
	again := natstest.Publish(t, s, l.Log)
	again.CaughtUp(t)
	all := messages(t, s)
	if want := int(l.Log.Head().Sequence) - 3; len(all) != want {
		t.Fatalf("the stream has %d messages, want %d", len(all), want)
	}
	again.Stop()
	if err := got.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Controller(events.KindControllerStopped, &events.ControllerStopped{})
	natstest.Publish(t, s, l.Log).CaughtUp(t)
	if all := messages(t, s); len(all) != 1 || all[0].ID.Sequence != l.Log.Head().Sequence || all[0].Floor != 1 {
		t.Fatalf("after a purge the stream has %d messages", len(all))
	}
}

func TestTheTooLargeIsPublishedWithoutItsEvidence(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 200).Grow(100)
	big := events.JobStream("99999999-9999-4999-8999-999999999999")
	l.Append(events.Batch{Records: []events.Record{{
		Header: events.Header{
			Sequence: l.Log.Head().Sequence + 1, Time: l.Log.Head().Time + 1, Stream: big, Kind: events.KindJobAdded, Critical: true, Last: true,
		},
		Facts:    &events.JobSeen{Version: 1},
		Evidence: events.Evidence{Namespace: "prod", Name: "big", Message: strings.Repeat("x", 2<<20)}, // more than a server takes
	}}})
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	all := messages(t, s)
	last := all[len(all)-1]
	if !last.EvidenceOmitted || last.FactsOmitted || last.Job.Name != "big" || last.ID.Sequence != l.Log.Head().Sequence {
		t.Errorf("the message says %+v, omitted evidence %t, facts %t", last.Head, last.EvidenceOmitted, last.FactsOmitted)
	}
}

func TestOverCoreNATSWhoListensGetsAllInOrder(t *testing.T) {
	s, l := natstest.NewServer(t, natstest.Inside).Start(), natstest.NewLedger(t, 3000)
	conn, err := natsgo.Connect(s.URL(), natsgo.Timeout(patience.Time()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sub, err := conn.SubscribeSync(nats.Everything(cluster))
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	p := natstest.Publish(t, s, l.Log, func(c *publish.Config) { c.Core = true; c.MaxInFlight = 100 })
	l.Grow(0)
	p.CaughtUp(t)
	for want := events.Sequence(1); want <= l.Log.Head().Sequence; want++ {
		m, err := sub.NextMsg(patience.Time())
		if err != nil {
			t.Fatal(err)
		}
		e, err := nats.Decode(&nats.Message{Subject: m.Subject, Header: m.Header, Data: m.Data})
		if err != nil || e.ID.Sequence != want {
			t.Fatalf("got record %d (%v), want %d", e.ID.Sequence, err, want)
		}
	}
	if at, _ := l.Log.Offset(publish.Consumer); at != l.Log.Head().Sequence {
		t.Errorf("the offset is %d, want %d", at, l.Log.Head().Sequence)
	}
	if names := s.Run.NumSubscriptions(); names == 0 {
		t.Error("nobody listened")
	}
	if _, err := s.JetStream().Stream(t.Context(), stream); err == nil {
		t.Error("a stream was made")
	}
}
