package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

func world(t *testing.T) (context.Context, jetstream.JetStream) {
	ctx, cancel := patience.Context(t.Context())
	t.Cleanup(cancel)
	return ctx, natstest.NewServer(t, natstest.Inside).Start().JetStream(stream.Options()...)
}

// TestAMessageGoesToItsPlaceOrNowhere: and what is in a place is read as it was sent, as large as a server takes it.
func TestAMessageGoesToItsPlaceOrNowhere(t *testing.T) {
	ctx, js := world(t)
	s, err := stream.Make(ctx, js, stream.Config{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Make(ctx, js, stream.Config{Name: "a"}); err != nil {
		t.Errorf("making it again: %v", err)
	}
	large := bytes.Repeat([]byte{0xff, 0}, (s.MaxMessage()-64<<10)/2)
	all := [][]byte{[]byte("one"), large, []byte("three")}
	for i, m := range all {
		if place, err := s.Newest(ctx); err != nil || place != uint64(i) {
			t.Errorf("the newest of %d is %d, %v", i, place, err)
		}
		if place, err := s.Send(ctx, uint64(i), m); err != nil || place != uint64(i+1) {
			t.Fatalf("message %d is in place %d, %v", i+1, place, err)
		}
		for _, last := range []uint64{0, uint64(i), uint64(i + 2)} {
			if place, err := s.Send(ctx, last, m); err == nil || errors.Is(err, store.ErrNoRoom) {
				t.Errorf("of %d messages one behind place %d is in place %d, %v", i+1, last, place, err)
			}
		}
	}
	r := s.Read(1)
	defer r.Stop()
	for i, m := range all {
		data, found, err := s.At(ctx, uint64(i+1))
		if err != nil || !found || !bytes.Equal(data, m) {
			t.Errorf("place %d: %d bytes, %t, %v", i+1, len(data), found, err)
		}
		next, err := r.Next(ctx)
		if err != nil || next.Place != uint64(i+1) || !bytes.Equal(next.Data, m) || next.Last != (i == len(all)-1) {
			t.Errorf("read place %d, %d bytes, %t, %v", next.Place, len(next.Data), next.Last, err)
		}
	}
	if _, found, err := s.At(ctx, 4); err != nil || found {
		t.Errorf("place 4: %t, %v", found, err)
	}
}

// TestARefusalForRoomSaysSo: of a stream that is as large as it may be. The oldest messages stay.
func TestARefusalForRoomSaysSo(t *testing.T) {
	ctx, js := world(t)
	s, err := stream.Make(ctx, js, stream.Config{Name: "a", MaxBytes: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	last := uint64(0)
	for ; err == nil; last++ {
		_, err = s.Send(ctx, last, make([]byte, 1<<10))
	}
	if last != 4 || !errors.Is(err, store.ErrNoRoom) {
		t.Errorf("message %d: %v", last, err)
	}
	if first, err := s.First(ctx); err != nil || first != 1 {
		t.Errorf("it begins with %d, %v", first, err)
	}
}

// TestWhatProvesNothingIsRefused: settings with which an answer means something else.
func TestWhatProvesNothingIsRefused(t *testing.T) {
	ctx, js := world(t)
	for i, spoil := range []func(*jetstream.StreamConfig){
		func(c *jetstream.StreamConfig) { c.AllowDirect = true },
		func(c *jetstream.StreamConfig) { c.DenyDelete = false },
		func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, c.Name) },
	} {
		name := fmt.Sprintf("a%d", i)
		c := jetstream.StreamConfig{Name: name, Subjects: []string{stream.Subject(name)}, DenyDelete: true}
		spoil(&c)
		if _, err := js.CreateStream(ctx, c); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Open(ctx, js, name); err == nil {
			t.Errorf("opened with %+v", c)
		}
	}
	if _, err := stream.Open(ctx, js, "none"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("a stream that is not there: %v", err)
	}
	if _, err := stream.Open(ctx, natstest.JetStream(t, js.Conn().ConnectedUrl()), "a0"); err == nil {
		t.Error("opened with a connection that keeps messages")
	}
}

// TestAReaderGoesOnBehindARestart: from where it was.
func TestAReaderGoesOnBehindARestart(t *testing.T) {
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	server := natstest.NewServer(t, natstest.Inside).Start()
	s, err := stream.Make(ctx, server.JetStream(stream.Options()...), stream.Config{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Read(1)
	defer r.Stop()
	for last := range uint64(6) {
		natstest.Eventually(t, "a message is stored", func() error {
			ctx, cancel := context.WithTimeout(ctx, time.Second) // as a writer does: an answer that the restart took never comes
			defer cancel()
			_, err := s.Send(ctx, last, []byte{byte(last)})
			if data, found, _ := s.At(ctx, last+1); found && data[0] == byte(last) {
				return nil
			}
			return err
		})
		m, err := r.Next(ctx)
		if err != nil || m.Place != last+1 || m.Data[0] != byte(last) {
			t.Fatalf("message %d: %+v, %v", last, m, err)
		}
		if last%2 == 1 {
			server.Stop()
			server.Start()
		}
	}
}
