package stream_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

// good are the settings of a stream that Make makes on three servers.
func good() *jetstream.StreamConfig {
	return &jetstream.StreamConfig{
		Name: "a", Subjects: []string{stream.Subject("a")}, Replicas: 3, Storage: jetstream.FileStorage,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, DenyDelete: true, MaxMsgs: -1, MaxBytes: -1,
		MaxMsgsPerSubject: -1,
	}
}

// TestEachSettingThatLosesDataIsNamed: one sentence each, and none of a stream that is as it should be.
func TestEachSettingThatLosesDataIsNamed(t *testing.T) {
	const server = "2.15.2"
	if wrong := stream.Wrong("a", good(), server, false); len(wrong) > 0 {
		t.Errorf("of a good stream it says %q", wrong)
	}
	for says, change := range map[string]func(*jetstream.StreamConfig){
		"num_replicas":         func(c *jetstream.StreamConfig) { c.Replicas = 1 },
		"its storage is":       func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage },
		"persist_mode":         func(c *jetstream.StreamConfig) { c.PersistMode = jetstream.AsyncPersistMode },
		"retention":            func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy },
		"discard":              func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
		"max_age":              func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
		"max_msgs is":          func(c *jetstream.StreamConfig) { c.MaxMsgs = 9 },
		"max_msgs_per_subject": func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 9 },
		"deny_delete":          func(c *jetstream.StreamConfig) { c.DenyDelete = false },
		"allow_rollup":         func(c *jetstream.StreamConfig) { c.AllowRollup = true },
		"allow_direct":         func(c *jetstream.StreamConfig) { c.AllowDirect = true },
		"TTL":                  func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true },
		"counters":             func(c *jetstream.StreamConfig) { c.AllowMsgCounter = true },
		"schedules":            func(c *jetstream.StreamConfig) { c.AllowMsgSchedules = true },
		"batches":              func(c *jetstream.StreamConfig) { c.AllowAtomicPublish = true },
		"mirror":               func(c *jetstream.StreamConfig) { c.Mirror = &jetstream.StreamSource{Name: "b"} },
		"sources":              func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "b"}} },
		"transform":            func(c *jetstream.StreamConfig) { c.SubjectTransform = new(jetstream.SubjectTransformConfig) },
		"no_ack":               func(c *jetstream.StreamConfig) { c.NoAck = true },
		"sealed":               func(c *jetstream.StreamConfig) { c.Sealed = true },
		"subjects":             func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, "b") },
	} {
		c := good()
		change(c)
		if wrong := stream.Wrong("a", c, server, false); len(wrong) != 1 || !strings.Contains(wrong[0], says) {
			t.Errorf("%s: it says %q", says, wrong)
		}
	}
	for server, old := range map[string]bool{
		"2.14.4": true, "2.14.5": false, "v2.14.5": false, "2.14.5-RC.1": false, "2.9.30": true, "3.0.0": false,
		"": true, "dev": true,
	} {
		if wrong := stream.Wrong("a", good(), server, false); (len(wrong) == 1) != old {
			t.Errorf("of server %q it says %q", server, wrong)
		}
	}
	one := good()
	one.Replicas = 1
	if wrong := stream.Wrong("a", one, server, true); len(wrong) > 0 {
		t.Errorf("of one server, which is wanted, it says %q", wrong)
	}
}

// TestAStreamThatIsMadeIsAsItShouldBe: the server gives back what is not wrong, with the metadata that it was made
// with.
func TestAStreamThatIsMadeIsAsItShouldBe(t *testing.T) {
	js := natstest.NewServer(t, natstest.Inside).Start().JetStream(stream.Options()...)
	ctx, cancel := patience.Context(context.Background())
	defer cancel()
	if _, err := stream.Make(ctx, js, stream.Config{Name: "a", Metadata: map[string]string{"log": "6f"}}); err != nil {
		t.Fatal(err)
	}
	s, err := stream.Make(ctx, js, stream.Config{Name: "a", Metadata: map[string]string{"log": "70"}})
	if err != nil {
		t.Fatal("whoever comes second does not find what the first one made:", err)
	}
	now, err := s.Ask(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if wrong := stream.Wrong("a", now.Config, now.Server, true); len(wrong) > 0 {
		t.Errorf("of the stream that was made it says %q", wrong)
	}
	if got := now.Config.Metadata["log"]; got != "6f" {
		t.Errorf("its metadata say %q, want those of who made it", got)
	}
}
