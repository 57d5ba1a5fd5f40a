package loop_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/projector"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// BenchmarkLive measures all work of the loop for a record while a busy cluster runs: intake, fold, decision, encoding
// and chaining. The work of the simulated cluster is included. The fold alone and the encoding alone run beside it.
func BenchmarkLive(b *testing.B) {
	cfg := joblog.Busy(50_000)
	if testing.Short() {
		cfg.Records = 20_000
	}
	l := joblog.New(b, cfg)
	sidebyside.Compare(b, "record",
		sidebyside.Computing("live", l.Len(), func() {
			if _, err := joblog.Write(memlog.New(l.Identity()), cfg); err != nil {
				b.Fatal(err)
			}
		}),
		sidebyside.Computing("fold", l.Len(), func() {
			w := projector.NewWorld()
			for i := range l.Records {
				w.Apply(&l.Records[i])
			}
		}),
		sidebyside.Computing("encode", l.Len(), func() {
			var buffer []byte
			var err error
			for i := range l.Records {
				if buffer, err = events.AppendRecord(buffer[:0], &l.Records[i]); err != nil {
					b.Fatal(err)
				}
			}
		}))
}

// BenchmarkSnapshot encodes and stores the state of 1,000 Jobs that run (200 with -short), and loads it again. Beside
// the saving, a file of the same size is written and synced. Beside the loading, such a file is read and protobuf
// decodes its messages, and a log is recovered without a snapshot.
func BenchmarkSnapshot(b *testing.B) {
	cfg := joblog.Config{Seed: 1, Records: 200_000, Running: 1000, Finished: 200}
	if testing.Short() {
		cfg.Records, cfg.Running = 50_000, 200
	}
	log, err := boltlog.Open(b.TempDir(), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = log.Close() })
	l, err := joblog.Write(log, cfg)
	if err != nil {
		b.Fatal(err)
	}
	streams := l.World().Len() + l.World().Stubs() + 1
	content := encodedState(b, l)
	path := filepath.Join(b.TempDir(), "state")
	b.Run("write", func(b *testing.B) {
		sidebyside.Compare(b, "stream",
			sidebyside.Computing("snapshot", streams, func() {
				l.Snapshot()
				s, ok := l.TakeSnapshot()
				if !ok {
					b.Fatal("the snapshot is not ready")
				}
				if err := log.SaveSnapshot(b.Context(), s); err != nil {
					b.Fatal(err)
				}
			}),
			sidebyside.Computing("file", streams, func() { writeSynced(b, path, bytes.Join(content, nil)) }))
		b.ReportMetric(float64(len(bytes.Join(content, nil)))/float64(streams), "B/stream")
	})
	b.Run("load", func(b *testing.B) {
		sidebyside.Compare(b, "stream",
			sidebyside.Computing("snapshot", streams, func() { recovered(b, log) }),
			sidebyside.Computing("protobuf", streams, func() {
				if _, err := os.ReadFile(path); err != nil {
					b.Fatal(err)
				}
				for _, state := range content {
					if err := proto.Unmarshal(state, &pb.JobState{}); err != nil {
						b.Fatal(err)
					}
				}
			}),
			sidebyside.Computing("log", streams, func() { recovered(b, withoutSnapshot{log}) }))
	})
}

// withoutSnapshot is a log without a snapshot.
type withoutSnapshot struct{ store.Log }

func (withoutSnapshot) LoadSnapshot(context.Context) (store.Snapshot, bool, error) {
	return store.Snapshot{}, false, nil
}

func recovered(b *testing.B, log store.Log) {
	if _, err := loop.Recover(b.Context(), log); err != nil {
		b.Fatal(err)
	}
}

// encodedState returns the state of each stream except the controller's.
func encodedState(b *testing.B, l *loop.Loop) [][]byte {
	var content [][]byte
	for _, s := range l.World().Streams() {
		facts, _, ok := l.World().StreamState(s)
		if !ok {
			b.Fatalf("there is no state of %s", s)
		}
		content = append(content, facts)
	}
	return content
}

func writeSynced(b *testing.B, path string, content []byte) {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(content); err != nil {
		b.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
}
