//go:build linux

package disk_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
	"github.com/jobledger/jobledger/test/disk"
	"github.com/jobledger/jobledger/test/internal/child"
)

// writerEnv turns this test binary into a writer child, for the log in that directory.
const writerEnv = "JOBLEDGER_DISK_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		write(dir)
	}
	os.Exit(m.Run())
}

// write appends batches to the log for ever. For each it prints the newest durable record and the chain value there. It
// exits with code 3 when the log fails.
func write(dir string) {
	log, err := boltlog.Open(dir, store.Options{RotateBytes: 1 << 20})
	if err != nil {
		fmt.Fprintln(os.Stderr, "open:", err)
		os.Exit(4)
	}
	w := storetest.NewWriter(ending{}, log)
	if w.Next() == 1 {
		w.Create()
	}
	for n := 0; ; n++ {
		items := []storetest.Item{storetest.Pod("job-a", n)}
		for i := range n % 5 {
			items = append(items, storetest.Text("job-b", 300*i+n%1000))
		}
		if err := log.Room(64 << 10); err != nil {
			fmt.Fprintln(os.Stderr, "room:", err)
			os.Exit(3)
		}
		commit := w.Append(true, items...)
		<-commit.Done()
		if err := commit.Err(); err != nil {
			fmt.Fprintln(os.Stderr, "commit:", err)
			os.Exit(3)
		}
		head := log.Head()
		fmt.Printf("durable %d %s\n", head.Sequence, head.Hash)
	}
}

// ending is the testing.TB of the child: a failure ends it.
type ending struct{ testing.TB }

func (ending) Helper() {}
func (ending) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(3)
}

// long skips a test unless JOBLEDGER_LONG is set.
func long(t *testing.T) {
	t.Helper()
	if !effort.IsLong() {
		t.Skip("with JOBLEDGER_LONG=1 only")
	}
}

// lacks ends a test because this machine lacks something: in CI as a failure, else skipped.
func lacks(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(err)
	}
	t.Skip(err)
}

// writer is a child process that writes a log.
type writer struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	ended <-chan error
	said  strings.Builder // on stderr
	last  store.Head      // the newest record that it called durable
}

func startWriter(t *testing.T, dir string) *writer {
	t.Helper()
	w := &writer{cmd: exec.Command(os.Args[0])}
	w.cmd.Env = append(os.Environ(), writerEnv+"="+dir)
	w.cmd.Stderr = &w.said
	read, give, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w.cmd.Stdout = give
	if w.ended, err = child.Start(w.cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close() })
	if err := give.Close(); err != nil {
		t.Fatal(err)
	}
	w.lines = bufio.NewScanner(read)
	return w
}

// durable reads that many further reports of the writer; false: the writer has ended before.
func (w *writer) durable(times int) bool {
	for range times {
		if !w.lines.Scan() {
			return false
		}
		fields := strings.Fields(w.lines.Text())
		if len(fields) != 3 {
			return false // an incomplete line
		}
		n, err := strconv.ParseUint(fields[1], 10, 64)
		if err != nil {
			return false
		}
		hash, err := hex.DecodeString(fields[2])
		if err != nil || len(hash) != len(w.last.Hash) {
			return false
		}
		w.last.Sequence = events.Sequence(n)
		copy(w.last.Hash[:], hash)
	}
	return true
}

// kill ends the writer.
func (w *writer) kill() {
	_ = w.cmd.Process.Kill() // it may have ended
	for w.durable(1) {       // its earlier reports count, too
	}
	<-w.ended //nolint:errcheck // it was killed
}

// TestRestartAfterFailedWrites makes writes to the disk fail until the controller's log has failed, and starts the
// controller again on the same machine. A while later it cuts the power. Every acknowledged record must be there.
func TestRestartAfterFailedWrites(t *testing.T) {
	long(t)
	trials, lost, failed := 50, 0, 0
	if n, err := strconv.Atoi(os.Getenv("JOBLEDGER_TRIALS")); err == nil {
		trials = n
	}
	for trial := range trials {
		t.Run(strconv.Itoa(trial), func(t *testing.T) {
			d, err := disk.New(t.TempDir(), 48<<20)
			if err != nil {
				lacks(t, err)
			}
			defer func() {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}()
			random := rand.New(rand.NewPCG(uint64(trial), 11))
			acknowledged := failAndGoOn(t, d, random)
			if d.Failed() > 0 {
				failed++
			}
			if err := d.Remount(); err != nil {
				t.Fatal(err)
			}
			report, err := boltlog.Verify(context.Background(), filepath.Join(d.Dir, "log"), nil, acknowledged...)
			if err != nil {
				lost++
				t.Errorf("records %v were acknowledged; verify: head %d, error %v", acknowledged, report.Head.Sequence, err)
			}
		})
	}
	t.Logf("%d trials, in %d writes failed, %d lost acknowledged records", trials, failed, lost)
	if failed < trials*9/10 {
		t.Errorf("writes failed in %d of %d trials only", failed, trials)
	}
}

// failAndGoOn returns the last acknowledged records, before and after the writes failed.
func failAndGoOn(t *testing.T, d *disk.Disk, random *rand.Rand) []store.Head {
	t.Helper()
	dir := filepath.Join(d.Dir, "log")
	before := startWriter(t, dir)
	if !before.durable(30 + random.IntN(300)) {
		t.Fatalf("the writer ended by itself: %v: %s", <-before.ended, before.said.String())
	}
	d.Fail(1 + random.IntN(4))
	for before.durable(1) { // until the log fails
	}
	d.Fail(0)
	if err := <-before.ended; exitCode(err) != 3 {
		t.Fatalf("the writer ended with %v: %s", err, before.said.String())
	}
	after := startWriter(t, dir)
	if !after.durable(30 + random.IntN(300)) {
		t.Logf("the second writer ended by itself: %v: %s", <-after.ended, after.said.String())
	} else {
		after.kill()
	}
	if after.last == (store.Head{}) {
		return []store.Head{before.last}
	}
	return []store.Head{before.last, after.last}
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}
