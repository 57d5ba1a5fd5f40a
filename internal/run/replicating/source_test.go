package replicating_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/run/cloning"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// cloned makes a clone of the stream's log.
func cloned(t *testing.T, c replicating.Config, listen time.Duration) (dir string, report store.Report, err error) {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	dir = filepath.Join(t.TempDir(), "clone")
	report, err = cloning.Run(ctx, &cloning.Config{To: dir, Open: func(ctx context.Context) (*cloning.Source, error) {
		return replicating.OfStream(ctx, replicating.VerifyConfig{
			Dial: c.Dial, Stream: c.Stream, Reader: c.Reader, Listen: listen,
		})
	}})
	return dir, report, err
}

// TestALogThatWasAloneBecomesAReplica: a log of several files begins a stream with its head as the base, and grows by it.
// Another replica, whose directory is empty, fetches the files. A third one, which has an older copy of the log, fetches
// the records between. A clone of the stream is the log, made of what one of the
// two gives, also while it grows. Without a controller there is none.
func TestALogThatWasAloneBecomesAReplica(t *testing.T) {
	server := natstest.NewServer(t, natstest.Inside).Start()
	c := config(t, server)
	alone, err := boltlog.Open(c.Dir, smallFiles)
	if err != nil {
		t.Fatal(err)
	}
	w := storetest.NewWriter(t, alone)
	w.Create()
	grow(t, w, alone, 3)
	key, _, err := alone.Key()
	if err != nil {
		t.Fatal(err)
	}
	if err := alone.Close(); err != nil {
		t.Fatal(err)
	}
	late := config(t, server)
	late.Key = key
	if err := os.CopyFS(late.Dir, os.DirFS(c.Dir)); err != nil {
		t.Fatal(err)
	}
	if alone, err = boltlog.Open(c.Dir, smallFiles); err != nil {
		t.Fatal(err)
	}
	grow(t, storetest.NewWriter(t, alone), alone, 4)
	base, id := alone.Head(), alone.Identity()
	if err := alone.Close(); err != nil {
		t.Fatal(err)
	}

	c.Key = key
	a, first := filled(t, c, replicating.Own{LogID: id.LogID, LogOf: id.LogID})
	leads(t, a, 3) // it was written alone in two
	if first.Head() != base || a.LogID() != id.LogID {
		t.Fatalf("it leads with %+v of log %s, want %+v of %s", first.Head(), a.LogID(), base, id.LogID)
	}
	if _, _, err := cloned(t, c, 300*time.Millisecond); err == nil || !strings.Contains(err.Error(), "no controller with a replica was heard") {
		t.Errorf("a clone while no controller gives its files: %v", err)
	}
	exchanges(t, a)
	w = storetest.NewWriter(t, a.Log(first))
	grow(t, w, first, 5)

	other := config(t, server)
	other.Key = key
	b, second := filled(t, other, replicating.Own{Lease: a.Named(), LogOf: a.LogID()})
	follows(t, b, second, first)
	exchanges(t, b)
	own := replicating.Own{LogID: id.LogID, Lease: a.Named(), LogOf: id.LogID}
	third, behind := filled(t, late, own)
	follows(t, third, behind, first)

	grown := make(chan store.Head)
	go func() { // ends with the log's seventh file
		defer close(grown)
		grow(t, w, first, 7)
		grown <- first.Head()
	}()
	before := second.Head()
	dir, report, err := cloned(t, c, 0)
	head := <-grown
	if err != nil || report.Head.Sequence < before.Sequence || report.Head.Sequence > head.Sequence {
		t.Fatalf("the clone ends with %+v, %v; want records %d to %d", report.Head, err, before.Sequence, head.Sequence)
	}
	if hash, err := first.Chain(report.Head.Sequence); err != nil || hash != report.Head.Hash {
		t.Errorf("the chain of the leader is %s behind record %d, %v", hash, report.Head.Sequence, err)
	}
	if _, err := boltlog.Verify(t.Context(), dir, nil, base, report.Head); err != nil {
		t.Error(err)
	}
}
