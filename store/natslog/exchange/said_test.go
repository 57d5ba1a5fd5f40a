package exchange_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store/natslog/exchange"
)

// TestEachReplicaSaysItsHeadWhenItIsAsked: one answer with the log's seal, as of now. Those with another key or without
// one are not heard, as little as a replica of another log.
func TestEachReplicaSaysItsHeadWhenItIsAsked(t *testing.T) {
	log, asks, who := two(t)
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	heads, err := asks.Survey(ctx, func(all []exchange.Head) bool { return len(all) == 1 })
	if err != nil || len(heads) != 1 {
		t.Fatalf("%+v answer, %v", heads, err)
	}
	h := heads[0]
	if h.Who != who || h.Replica != "a" || h.Head != log.Head() || h.Term != 3 || h.Incarnation != "1a" || !h.Leads {
		t.Errorf("it answers %+v", h)
	}
	bound, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	heads, err = asks.Survey(bound, func(all []exchange.Head) bool { return len(all) == 2 })
	if err != nil || len(heads) != 1 {
		t.Errorf("within a bound %+v answer, %v", heads, err)
	}
}

// TestAnOldAnswerIsNoAnswer: who listens to the account can send again what a replica has said. That answers no later
// request, and is no head of that second.
func TestAnOldAnswerIsNoAnswer(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	conn := server.JetStream().Conn()
	asks, err := exchange.New(exchange.Config{Conn: conn, Stream: "log", LogID: "log", Replica: "b", Name: "b", Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	other, err := exchange.New(exchange.Config{
		Conn: server.JetStream().Conn(), Stream: "log", LogID: "log", Replica: "a", Name: "a", Key: &key,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { // ends with stop
		ended <- other.Run(running, nil, func() exchange.Head { return exchange.Head{Place: 7} })
	}()
	old := make(chan []byte, 1)
	natstest.Eventually(t, "a replica answers", func() error {
		m, err := conn.RequestWithContext(ctx, exchange.Subject("log")+".all", headRequest(t))
		if err == nil {
			old <- m.Data
		}
		return err
	})
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	answer := <-old
	if _, err := conn.Subscribe(exchange.Subject("log")+".all", func(m *natsgo.Msg) {
		_ = m.Respond(bytes.Clone(answer)) // a lost one is no answer either
	}); err != nil {
		t.Fatal(err)
	}
	heard := len(asks.Known())
	if err := conn.Publish(exchange.Subject("log"), answer); err != nil {
		t.Fatal(err)
	}
	bound, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	heads, err := asks.Survey(bound, func(all []exchange.Head) bool { return len(all) > 0 })
	if err != nil || len(heads) > 0 || len(asks.Known()) != heard {
		t.Errorf("%+v answer, %v; known are %+v", heads, err, asks.Known())
	}
}

// headRequest is a request for heads by somebody else.
func headRequest(t *testing.T) []byte {
	t.Helper()
	m, err := proto.Marshal(&pb.ReplicaAsk{
		LogId: "log", Kind: pb.ReplicaAskKind_REPLICA_ASK_KIND_HEAD, Nonce: []byte("somebody else's"),
	})
	if err != nil {
		t.Fatal(err)
	}
	framed := append([]byte{1}, m...)
	return binary.LittleEndian.AppendUint32(framed, crc32.Checksum(framed, crc32.MakeTable(crc32.Castagnoli)))
}
