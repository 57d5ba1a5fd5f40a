package pinned_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/internal/pinned"
	"github.com/jobledger/jobledger/internal/sim/joblog"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// first is the first commit whose program looks at what a log needs of its reader.
const first = "5926025fab7109de85daf75d72e424f6dfcf6c04"

// TestTheFirstReaderThatLooks: it reads the records of today's log. It refuses to fold them, because states are folded otherwise
// today: it says which reader is needed, and changes nothing. It refuses a log that needs a newer format altogether, in words and
// without calling it damaged.
func TestTheFirstReaderThatLooks(t *testing.T) {
	program := pinned.Build(t, first)
	dir := filepath.Join(t.TempDir(), "log")
	write(t, dir)
	for _, args := range [][]string{{"verify", "--log", dir}, {"events", "--log", dir, "--kind", "Decided"}} {
		out, err := jobledger(t, program, args...)
		if err != nil {
			t.Errorf("it reads a log of today with %q: %v\n%s", args[0], err, out)
		}
	}
	older := fmt.Sprintf("this log was written by jobledger v0.0.0-test, which needs at least reader v0.1.0 (format 1, rules 4, fold %d); this one is devel",
		projector.LeastFold)
	for _, args := range [][]string{
		{"get", "jobs", "-A", "--log", dir}, {"replay", "--log", dir},
		{"run", "--log", dir, "--kubeconfig", kubeconfig(t), "--leader-elect=false", "--listen="},
	} {
		out, err := jobledger(t, program, args...)
		if err == nil || !strings.Contains(out, older) || !strings.Contains(out, "nothing is wrong with the log") {
			t.Errorf("of a log that needs a newer fold %q says: %v\n%s", args[0], err, out)
		}
	}
	if out, err := jobledger(t, program, "verify", "--log", dir); err != nil {
		t.Errorf("after that the log is not what it was: %v\n%s", err, out)
	}
	needNewer(t, filepath.Join(dir, "00000000000000000001.db"))
	const words = "this log was written by jobledger v9.1.0, which needs at least reader v9.0.0 (format 99"
	for _, args := range [][]string{
		{"verify", "--log", dir}, {"events", "--log", dir}, {"get", "jobs", "-A", "--log", dir}, {"replay", "--log", dir},
		{"run", "--log", dir, "--kubeconfig", kubeconfig(t), "--leader-elect=false", "--listen="},
	} {
		out, err := jobledger(t, program, args...)
		if err == nil || !strings.Contains(out, words) || !strings.Contains(out, "use v9.0.0 or a newer one") || strings.Contains(out, "corrupt") {
			t.Errorf("of a log that needs a newer reader %q says: %v\n%s", args[0], err, out)
		}
	}
}

// write makes a log as today's controller does.
func write(t *testing.T, dir string) {
	t.Helper()
	log, err := boltlog.Open(dir, store.Options{Reader: loop.Reader("v0.0.0-test"), Least: loop.Least()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := joblog.Write(log, joblog.Busy(2000)); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// needNewer makes a file say that its reader needs a format to come, and gives the rest a form that nobody knows.
func needNewer(t *testing.T, path string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := func(v []byte, s string) []byte { return append(binary.AppendUvarint(v, uint64(len(s))), s...) }
	block := text(text([]byte{99, 4, 1}, "v9.0.0"), "v9.1.0") // format, rules, fold, program, writer
	value := append(text([]byte{7}, string(block)), "of another form"...)
	value = binary.LittleEndian.AppendUint32(value, crc32.Checksum(value, crc32.MakeTable(crc32.Castagnoli)))
	err = db.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("begin"), value) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func jobledger(t *testing.T, program string, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	return string(out), err
}

func kubeconfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(`apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://127.0.0.1:9"}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
users: [{name: a, user: {}}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
