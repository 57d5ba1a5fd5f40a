package pinned_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/pinned"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// TestTheFirstProgram: the first program reads a log of today's code. It prints a log that needs a newer fold, but
// refuses to fold it: it says which reader is needed, and changes nothing. It refuses a log that needs a newer format,
// in clear words and without calling it damaged.
func TestTheFirstProgram(t *testing.T) {
	program := pinned.Build(t, pinned.First(t))
	least := loop.Least()
	folds := [][]string{{"get", "jobs", "-A"}, {"replay"}}
	reads := [][]string{{"verify"}, {"events", "--kind", "Decided"}}
	if least.Reads(events.ReaderVersion{Format: 1, Rules: 1, Fold: 1}) { // else a later rule or fold keeps it out
		dir := write(t, least)
		for _, args := range append(reads, folds...) {
			if out, err := jobledger(t, program, dir, args...); err != nil {
				t.Errorf("it reads a log of today with %q: %v\n%s", args[0], err, out)
			}
		}
	}
	works := []string{"run", "--kubeconfig", kubeconfig(t), "--leader-elect=false", "--listen="}

	least.Fold, least.Program = 99, "v0.9.0"
	dir := write(t, least)
	const fold = "this log was written by jobledger v0.0.0-test, which needs at least reader v0.9.0 (format 1, rules 1, fold 99); this one is devel"
	for _, args := range append(folds, works) {
		refused(t, program, dir, args, fold, "use v0.9.0 or a newer one")
	}
	for _, args := range reads {
		if out, err := jobledger(t, program, dir, args...); err != nil {
			t.Errorf("after that the log is not what it was for %q: %v\n%s", args[0], err, out)
		}
	}

	needNewer(t, filepath.Join(dir, "00000000000000000001.db"))
	const format = "this log was written by jobledger v9.1.0, which needs at least reader v9.0.0 (format 99"
	for _, args := range append(append(reads, folds...), works) {
		refused(t, program, dir, args, format, "use v9.0.0 or a newer one")
	}
}

// refused checks that a command refuses a log with these words, and does not call it damaged.
func refused(t *testing.T, program, dir string, args []string, words ...string) {
	t.Helper()
	out, err := jobledger(t, program, dir, args...)
	for _, w := range append(words, "nothing is wrong with the log") {
		if err == nil || !strings.Contains(out, w) || strings.Contains(out, "corrupt") {
			t.Errorf("%q ends with %v, without %q:\n%s", args[0], err, w, out)
		}
	}
}

// write makes a log as today's controller does, with the given least reader.
func write(t *testing.T, least events.ReaderVersion) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "log")
	log, err := boltlog.Open(dir, store.Options{Reader: events.ReaderVersion{Program: "v0.0.0-test"}, Least: least})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := joblog.Write(log, joblog.Busy(2000)); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// needNewer makes a file say that its reader needs a future format, and changes the rest to an unknown form.
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

func jobledger(t *testing.T, program, dir string, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, append(args, "--log", dir)...).CombinedOutput()
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
