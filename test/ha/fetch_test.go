package ha

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
)

// TestAReplicaThatLostItsDiskFetches: the stream was cut behind what two controllers have, and one of them begins again
// with an empty directory. It fetches the log from the leader, and leads when that is killed.
func TestAReplicaThatLostItsDiskFetches(t *testing.T) {
	atLength(t)
	servers := natstest.NewServers(t, 1)
	w := newWorld(t, 2, servers, "--replicate-members", "2")
	for _, c := range w.controllers {
		w.start(c)
	}
	w.create(4, 4)
	w.await(16)
	js := natstest.JetStream(t, servers.URL())
	err := patience.Until(w.ctx, 20*time.Millisecond, nil, func() (bool, error) {
		s, err := js.Stream(w.ctx, "jobledger-log")
		if err != nil {
			return false, err
		}
		return s.CachedInfo().State.FirstSeq > 1, nil
	})
	if err != nil {
		t.Fatal("the stream is not cut: ", err)
	}
	leader, others := w.leader()
	lost := others[0]
	if err := lost.Kill(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(lost.Log(), "*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("its directory has %q, %v", files, err)
	}
	for _, f := range files {
		err = errors.Join(err, os.RemoveAll(f))
	}
	if err != nil {
		t.Fatal(err)
	}
	w.start(lost)
	w.create(2, 3)
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	w.leads(lost)
	w.start(leader)
	w.create(1, 2)
	w.finish()
	w.judge()
}
