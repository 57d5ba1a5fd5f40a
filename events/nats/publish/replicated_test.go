package publish_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// makeReplicated makes the stream on three servers, as its owner might. It returns a JetStream for the test.
func makeReplicated(t *testing.T, c serverCluster, atomic bool) jetstream.JetStream {
	t.Helper()
	js := natstest.JetStream(t, c.url())
	natstest.Eventually(t, "the stream is made", func() error {
		bound, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := js.CreateOrUpdateStream(bound, jetstream.StreamConfig{
			Name: stream, Subjects: []string{nats.Everything(cluster)}, Storage: jetstream.FileStorage, Replicas: 3, AllowAtomicPublish: atomic,
		})
		return err
	})
	c.leader(t, js)
	return js
}

// TestASecondWriterDoesNotKillAReplicatedStream: another client publishes by mistake to the stream on three servers,
// while our messages are in flight. Some of ours are refused then. With the header Nats-Expected-Last-Msg-Id one
// refusal stopped the stream on every server, for good (see TestOneWrongRecordBeforeKillsAReplicatedStream).
func TestASecondWriterDoesNotKillAReplicatedStream(t *testing.T) {
	for _, row := range []struct {
		sentence string
		atomic   bool
	}{
		{"with atomic batches", true},
		{"of a stream that takes none", false},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			c, l := newCluster(t), natstest.NewLedger(t, 3000)
			js := makeReplicated(t, c, row.atomic)
			p := natstest.Publish(t, c[0], l.Log, func(config *publish.Config) { config.Dial.URL = c.url() })
			l.Grow(100)
			p.CaughtUp(t)
			other := anotherLog(t, 1)
			q := natstest.Publish(t, c[0], other.Log, func(config *publish.Config) { config.Dial.URL = c.url() })
			q.CaughtUp(t)
			for n := 200; n <= 2600; n += 200 {
				l.Grow(n)
				other.Controller(events.KindControllerStopped, &events.ControllerStopped{})
				publishStray(t, js)
				p.CaughtUp(t)
				q.CaughtUp(t)
			}
			if p.Status().Retreats == 0 {
				t.Error("no message was refused: the test shows nothing")
			}
			t.Logf("%d and %d times publishing went back", p.Status().Retreats, q.Status().Retreats)
			c.leader(t, js) // the stream is whole on all three
			p.Stop()
			q.Stop()
			wantBothWhole(t, c[0], l, other)
		})
	}
}

// TestAReplicatedStreamThatIsMadeTakesAtomicBatches: without them each record would take a round trip.
func TestAReplicatedStreamThatIsMadeTakesAtomicBatches(t *testing.T) {
	c, l := newCluster(t), natstest.NewLedger(t, 100).Grow(0)
	p := natstest.Publish(t, c[0], l.Log, func(config *publish.Config) { config.Dial.URL, config.Stream.Replicas = c.url(), 3 })
	p.CaughtUp(t)
	st, err := natstest.JetStream(t, c.url()).Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	if !st.CachedInfo().Config.AllowAtomicPublish {
		t.Error("it does not")
	}
}

// TestOneWrongRecordBeforeKillsAReplicatedStream shows why the publisher does not tell several servers which record its
// message follows. It tests the servers, not us. When it fails, they have been mended.
func TestOneWrongRecordBeforeKillsAReplicatedStream(t *testing.T) {
	c := newCluster(t)
	js := makeReplicated(t, c, false)
	subject := nats.Prefix + "." + cluster + ".x"
	if _, err := js.Publish(t.Context(), subject, nil, jetstream.WithMsgID("first")); err != nil {
		t.Fatal(err)
	}
	m := natsgo.NewMsg(subject)
	m.Header.Set(jetstream.ExpectedLastMsgIDHeader, "another")
	if err := js.Conn().PublishMsg(m); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the stream takes nothing more", func() error {
		bound, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		a, err := js.Publish(bound, subject, nil, jetstream.WithRetryAttempts(0))
		if err == nil {
			return fmt.Errorf("it took message %d", a.Sequence)
		}
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, natsgo.ErrNoResponders) && !strings.Contains(err.Error(), "no response") {
			return err
		}
		return nil
	})
}

// TestARecordThatSeveralServersKnewIsNotWaitedFor: messages were deleted by hand. The servers refuse their records, and
// each batch with one of them, for as long as they know duplicates.
func TestARecordThatSeveralServersKnewIsNotWaitedFor(t *testing.T) {
	c, l := newCluster(t), natstest.NewLedger(t, 900)
	js := makeReplicated(t, c, true)
	at := func(config *publish.Config) { config.Dial.URL = c.url() }
	p := natstest.Publish(t, c[0], l.Grow(300).Log, at)
	p.CaughtUp(t)
	p.Stop()
	st, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	deleted := uint64(l.Log.Head().Sequence)
	for n := range uint64(3) {
		if err := st.DeleteMsg(t.Context(), deleted-n); err != nil {
			t.Fatal(err)
		}
	}
	l.Grow(0)
	p = natstest.Publish(t, c[0], l.Log, at)
	p.CaughtUp(t)
	c.leader(t, js)
	next := events.Sequence(1)
	for i, e := range messages(t, c[0]) {
		if next == events.Sequence(deleted-2) {
			next += 3
		}
		if e.ID.Sequence != next {
			t.Fatalf("message %d is record %d, want %d", i+1, e.ID.Sequence, next)
		}
		next++
	}
	if head := l.Log.Head().Sequence; next != head+1 {
		t.Errorf("the stream ends before record %d of %d", next, head)
	}
}
