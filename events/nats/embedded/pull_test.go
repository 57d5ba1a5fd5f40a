package embedded_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
)

// fill publishes n messages of that size, on the subjects of many Jobs.
func (w *world) fill(n, size int) {
	w.t.Helper()
	_, js := connect(w.t, "", w.Options()...)
	for i := range n {
		job := nats.Subject{Cluster: "c", Namespace: "n", Kind: nats.KindJob, Name: fmt.Sprint("j", i/8), Event: fmt.Sprint("E", i%8)}
		if _, err := js.PublishAsync(job.String(), make([]byte, size), jetstream.WithStallWait(time.Minute)); err != nil {
			w.t.Fatal(err)
		}
	}
	<-js.PublishAsyncComplete()
	w.stored += uint64(n)
}

// TestRequestsForMessagesAreBounded: a request is refused if JetStream would answer it with a thousand heartbeats in a
// second, or with all messages that it has.
func TestRequestsForMessagesAreBounded(t *testing.T) {
	w := newWorld(t)
	conn, js, _ := w.readAs()
	if _, err := js.CreateConsumer(t.Context(), records, jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ sentence, request, says string }{
		{"heartbeats without end", `{"batch":1,"expires":3600000000000,"idle_heartbeat":1}`, "want at least 500ms"},
		{"all messages", `{"batch":1000000000}`, "want at most 10000"},
		{"all messages, as a number", `1000000000`, "want at most 10000"},
		{"many bytes", `{"batch":1000000000,"max_bytes":1000000000}`, "max_bytes"},
		{"a group", `{"batch":1,"group":"g"}`, "may not set group"},
		{"something", `{"batch":`, "no JSON object"},
		{"a word", `all`, "no number"},
	} {
		answer, err := conn.Request("$JS.API.CONSUMER.MSG.NEXT.records.d", []byte(row.request), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if says := answer.Header.Get("Description"); answer.Header.Get("Status") != "400" || !strings.Contains(says, row.says) {
			t.Errorf("%s: %v, want %q", row.sentence, answer.Header, row.says)
		}
	}
	for request, want := range map[string]int{"": 1, "3": 3, `{"batch":5,"no_wait":true}`: 5, `{"batch":1000000,"max_bytes":1000000,"no_wait":true}`: 11} {
		inbox := natsgo.NewInbox()
		sub, err := conn.SubscribeSync(inbox)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.records.d", inbox, []byte(request)); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if m, err := sub.NextMsg(time.Minute); err != nil || m.Subject != subject {
				t.Fatalf("%q: message %d is %+v, %v", request, i+1, m, err)
			}
		}
	}
}

// TestAReaderThatAsksForAllAtOnceDoesNotFillTheMemory: forty consumers ask for all messages, many times the memory of a
// controller. Messages are published at the same time.
func TestAReaderThatAsksForAllAtOnceDoesNotFillTheMemory(t *testing.T) {
	const messages, size, consumers, most = 20_000, 1000, 40, 400 << 20
	w := newWorld(t)
	w.fill(messages, size)
	_, js, _ := w.readAs()
	names := make([]string, consumers)
	for i := range names {
		consumer, err := js.CreateConsumer(t.Context(), records, jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		names[i] = consumer.CachedInfo().Name
	}
	for i, name := range names {
		conn, _, _ := w.readAs() // one alone is ended, as it does not keep up
		inbox := fmt.Sprint("_INBOX.", i)
		sub, err := conn.Subscribe(inbox, func(*natsgo.Msg) {})
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.SetPendingLimits(-1, -1); err != nil {
			t.Fatal(err)
		}
		for range messages / 10_000 {
			if err := conn.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.records."+name, inbox, []byte(`{"batch":10000,"expires":60000000000}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	peak := uint64(0)
	for range 100 {
		w.publish()
		var memory runtime.MemStats
		if runtime.ReadMemStats(&memory); memory.HeapAlloc > most {
			t.Fatalf("what readers ask for takes %d MB", memory.HeapAlloc>>20)
		}
		peak = max(peak, memory.HeapAlloc)
	}
	t.Logf("at most %d MB", peak>>20)
	w.unharmed()
}
