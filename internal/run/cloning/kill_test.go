package cloning_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/run/cloning"
	"github.com/jobledger/jobledger/store/boltlog"
)

// The variables that make the test binary a process that clones a log.
const (
	cloneFrom = "JOBLEDGER_TEST_CLONE_FROM"
	cloneTo   = "JOBLEDGER_TEST_CLONE_TO"
)

// TestTheProcessThatClones is that process, and no test otherwise.
func TestTheProcessThatClones(t *testing.T) {
	dir := os.Getenv(cloneFrom)
	if dir == "" {
		t.Skip("TestACloneThatIsKilled runs it")
	}
	if _, err := cloning.Run(t.Context(), &cloning.Config{Open: from(dir), To: os.Getenv(cloneTo)}); err != nil {
		t.Fatal(err)
	}
}

// TestACloneThatIsKilled with kill -9 at some moment, again and again, until one call ends. At no moment anything takes
// what is there for a log that is less than the whole.
func TestACloneThatIsKilled(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, to := newLog(t, 600), filepath.Join(t.TempDir(), "clone")
	want := stored(t, dir)
	kills, marked := 0, 0
	for after := 4 * time.Millisecond; ; after += after / 4 {
		command := exec.CommandContext(t.Context(), program, "-test.run", "^TestTheProcessThatClones$")
		command.Env = append(os.Environ(), cloneFrom+"="+dir, cloneTo+"="+to)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- command.Wait() }() // ends with the process
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			if got := stored(t, to); !slices.Equal(got, want) {
				t.Error("the clone has other records")
			}
			if _, err := boltlog.Verify(t.Context(), to, nil); err != nil {
				t.Error(err)
			}
			t.Logf("%d kills, %d of them while the clone was made", kills, marked)
			if marked == 0 {
				t.Error("none was killed while it made the clone")
			}
			return
		case <-time.After(after):
		}
		if err := command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Log("it was killed:", err)
		}
		kills++
		if _, err := os.Stat(filepath.Join(to, "RESTORING")); err == nil {
			marked++
			refused(t, to)
		} else if there, err := boltlog.Exists(to); err != nil {
			t.Fatal(err)
		} else if there {
			if got := stored(t, to); !slices.Equal(got, want) {
				t.Fatal("a part of the log passes for the log")
			}
			t.Logf("killed behind its end, after %d kills", kills)
			return
		}
	}
}
