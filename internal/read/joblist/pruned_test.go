package joblist_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// TestListsThatAreMadeAgainAfterAPrune: after each prune of the oldest files each list alone and each pair is taken
// away, and made again. The pages are always the same, and have each Job once.
func TestListsThatAreMadeAgainAfterAPrune(t *testing.T) {
	log, config, finish := openCopy(t)
	writer := storetest.NewWriter(t, log)
	for pruned := 0; ; pruned++ {
		files, err := log.Files()
		if err != nil {
			t.Fatal(err)
		}
		step := 3
		if effort.IsLong() {
			step = 1
		}
		if len(files) < step+3 {
			break
		}
		next := files[step].First
		writer.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: &events.Pruned{First: next}})
		if first, err := log.Prune(t.Context(), next); err != nil || first != next {
			t.Fatalf("pruned to %d, want %d: %v", first, next, err)
		}
		finish()
		samePages(t, config, pruned, finish)
	}
}

// samePages takes away lists and looks whether the pages stay as they are.
func samePages(t *testing.T, config joblist.Config, pruned int, finish func()) {
	t.Helper()
	want, _ := pages(t, joblist.New(config), history.ListQuery{Limit: 70})
	seen := map[string]bool{}
	for _, s := range want {
		if seen[s.UID] || s.Name == "" {
			t.Errorf("after prune %d: %s %q is there twice, or has no name", pruned, s.UID, s.Name)
		}
		seen[s.UID] = true
	}
	all, err := filepath.Glob(filepath.Join(config.Dir, "*.jobs"))
	if err != nil || len(all) < 3 {
		t.Fatal(all, err)
	}
	for i := range all {
		for j := i; j < len(all); j++ {
			if !effort.IsLong() && (i > 1 || j > i+2) { // the oldest lists are those that a prune concerns
				continue
			}
			what := fmt.Sprintf("after prune %d, without the lists %d and %d", pruned, i, j)
			for _, path := range []string{all[i], all[j]} {
				if err := os.Remove(path); err != nil && i != j {
					t.Fatal(err)
				}
			}
			got, _ := pages(t, joblist.New(config), history.ListQuery{Limit: 70})
			same(t, what, want, got)
			finish()
			got, _ = pages(t, joblist.New(config), history.ListQuery{Limit: 70})
			same(t, what+", made again", want, got)
		}
	}
}

// openCopy opens a copy of the log that is written once, to write on. The lists of its files are made, and finish makes
// those that are missing.
func openCopy(t *testing.T) (log *boltlog.Log, config joblist.Config, finish func()) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(written)); err != nil {
		t.Fatal(err)
	}
	log, err := boltlog.Open(dir, store.Options{RotateBytes: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	config = joblist.Config{Log: log, Files: log.Files, Dir: dir, Every: 500}
	finish = func() {
		t.Helper()
		if err := joblist.NewKeeper(config, nil).Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	finish()
	return log, config, finish
}
