package exchange_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	natsd "github.com/nats-io/nats-server/v2/server"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/natslog/exchange"
	"github.com/jobledger/jobledger/store/storetest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// payload is the server's max_payload: a part of it has 64 KiB.
const payload = 128 << 10

// key is that of the log.
var key = events.Key{1: 'k'}

// two are replicas of a log. The first one gives what log has, whose first record has 150 KiB.
func two(t *testing.T) (log *boltlog.Log, asks *exchange.Exchange, who string) {
	t.Helper()
	server := natstest.NewServer(t, func(o *natsd.Options) { o.MaxPayload = payload }).Start()
	log, err := boltlog.Open(t.TempDir(), store.Options{RotateBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	w := storetest.NewWriter(t, log)
	w.Create()
	w.Durable(storetest.Text("job-a", 150<<10), storetest.Pod("job-a", 0))
	for n := 0; log.NextFile() < 60; n++ {
		w.Durable(storetest.Text("job-a", 5000), storetest.Pod("job-b", n), storetest.Text("job-c", 70<<10))
	}
	made := func(replica, logID string, key *events.Key) *exchange.Exchange {
		x, err := exchange.New(exchange.Config{
			Conn: server.JetStream().Conn(), Stream: "log", LogID: logID, Replica: replica, Name: replica, Key: key,
		})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	run := func(x *exchange.Exchange) {
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { // ends with stop
			ended <- x.Run(ctx, log, func() exchange.Head {
				return exchange.Head{Head: log.Head(), First: 1, Place: 7, Leads: true, Term: 3, Incarnation: "1a"}
			})
		}()
		t.Cleanup(func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	asks = made("b", log.Identity().LogID, &key)
	run(made("other", "another-log", &key))
	run(made("forged", log.Identity().LogID, &events.Key{}))
	run(made("bare", log.Identity().LogID, nil))
	run(made("a", log.Identity().LogID, &key))
	natstest.Eventually(t, "the other replica is heard", func() error {
		if len(asks.Heads()) == 0 {
			return errors.New("nothing was heard")
		}
		return nil
	})
	h := asks.Heads()
	if len(h) != 1 || h[0].Replica != "a" || h[0].Head != log.Head() || h[0].Place != 7 || !h[0].Leads || h[0].Away() {
		t.Fatalf("heard %+v", h)
	}
	return log, asks, h[0].Who
}

// TestRecordsComeInWholeBatches: also those with a record that no message has room for, from each record that follows
// a batch, and never two files in one group.
func TestRecordsComeInWholeBatches(t *testing.T) {
	log, asks, who := two(t)
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	files, err := log.Files()
	if err != nil {
		t.Fatal(err)
	}
	begins := map[events.Sequence]bool{}
	for _, f := range files {
		begins[f.First] = true
	}
	var want [][]byte
	for stored, err := range log.ReadStored(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, stored)
	}
	for from := events.Sequence(1); int(from) <= len(want); {
		before, err := log.Chain(from - 1)
		if err != nil {
			t.Fatal(err)
		}
		next := from
		for g, err := range asks.Groups(ctx, who, from, before, log.Head().Sequence) {
			if err != nil {
				t.Fatal(err)
			}
			after, err := log.Chain(g.First + events.Sequence(len(g.Records)) - 1)
			if g.First != next || g.BeginsFile != begins[g.First] || err != nil || g.After != after {
				t.Fatalf("a group begins with record %d (want %d), a file: %v; %v", g.First, next, g.BeginsFile, err)
			}
			for i, stored := range g.Records {
				if !bytes.Equal(stored, want[next-1]) || i > 0 && begins[next] {
					t.Fatalf("record %d is another one, or begins a file inside of a group", next)
				}
				next++
			}
		}
		if next != log.Head().Sequence+1 {
			t.Fatalf("from record %d they end with %d", from, next-1)
		}
		for from++; int(from) <= len(want); from++ {
			if h, err := events.DecodeHeader(want[from-2]); err != nil {
				t.Fatal(err)
			} else if h.Last {
				break
			}
		}
	}
}

// TestAFileComesAsItIs, and its edges as the log has them.
func TestAFileComesAsItIs(t *testing.T) {
	log, asks, who := two(t)
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	has, err := asks.Files(ctx, who, 5)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := log.Chain(5)
	if err != nil || has.Chain == nil || *has.Chain != chain || has.Head != log.Head() || len(has.Files) < 2 {
		t.Fatalf("it has %+v, %v", has, err)
	}
	before := store.Head{}
	for i, f := range has.Files {
		if f.Before != before || f.Sealed != (i < len(has.Files)-1) {
			t.Fatalf("file %d is %+v, behind %+v", i, f, before)
		}
		if before = f.End; !f.Sealed {
			break
		}
		var got bytes.Buffer
		if err := asks.File(who, f.First)(ctx, &got); err != nil {
			t.Fatal(err)
		}
		own, err := log.Share(f.First)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, own.Bytes)
		if _, err := own.Content.ReadAt(want, 0); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("the file of record %d has %d bytes, want %d; %v", f.First, got.Len(), len(want), err)
		}
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	}
	if before != log.Head() {
		t.Errorf("the files end with %+v", before)
	}
}

// TestWhatIsNotThereIsRefused: records that are to come, files that are written, records of another chain.
func TestWhatIsNotThereIsRefused(t *testing.T) {
	log, asks, who := two(t)
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	head := log.Head()
	for _, err := range asks.Groups(ctx, who, head.Sequence+1, head.Hash, head.Sequence+1) {
		if err == nil {
			t.Error("there is a record behind the head")
		}
	}
	for _, err := range asks.Groups(ctx, who, 1, events.Hash{1}, 1) {
		if !errors.Is(err, store.ErrDiverged) {
			t.Errorf("records of another chain come with %v", err)
		}
	}
	if err := asks.File(who, log.NextFile())(ctx, &bytes.Buffer{}); err == nil {
		t.Error("the file that is written is given")
	}
	if err := asks.File(who, 2)(ctx, &bytes.Buffer{}); !errors.Is(err, store.ErrPruned) {
		t.Errorf("a file that there is not ends with %v", err)
	}
}
