package publish_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// TestAStreamOfBeforeIsRefused: the stream has stored messages of the last program before the first release. Nothing is
// published behind them, and one sentence says what to do. When the stream is deleted, a new one is made.
func TestAStreamOfBeforeIsRefused(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 40).Grow(0)
	js := s.JetStream()
	st, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: stream, Subjects: []string{nats.Everything(cluster)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range natstest.Before(t) {
		if _, err := js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	had, err := st.Info(t.Context())
	if err != nil || had.State.Msgs == 0 {
		t.Fatal(had, err)
	}
	p := natstest.Publish(t, s, l.Log)
	problem(t, p, "stream "+stream+" was written by a jobledger of before the first release, and this one does not read it: "+
		"keep it under a name and subjects of its own or delete it, and a new one is made")
	if info, err := st.Info(t.Context()); err != nil || info.State.LastSeq != had.State.LastSeq {
		t.Errorf("it holds more than before: %v", err)
	}
	if err := js.DeleteStream(t.Context(), stream); err != nil {
		t.Fatal(err)
	}
	p.CaughtUp(t)
	wantWhole(t, s, l.Log)
}
