package joblist

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/store/boltlog"
)

// TestAListOfBeforeIsMadeAgain: a list that was kept of the last program before the first release, in its log of today.
// It is not used, one sentence says why, and the next Keeper makes it again.
func TestAListOfBeforeIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../../examples/incidents/cronjobs-observed/log")); err != nil {
		t.Fatal(err)
	}
	path := listPath(dir, 1)
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile("testdata/before.jobs")
	if err == nil {
		err = os.WriteFile(path, before, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	files, err := log.Files()
	if err != nil {
		t.Fatal(err)
	}
	if l, err := openList(dir, log.Identity(), files[0], log); l != nil || err == nil || !strings.Contains(err.Error(), "it is of another version") {
		t.Errorf("it is opened: %v", err)
	}
	if err := NewKeeper(Config{Log: log, Files: log.Files, Dir: dir}, nil).Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, want) {
		t.Errorf("it is not made again: %v", err)
	}
}
