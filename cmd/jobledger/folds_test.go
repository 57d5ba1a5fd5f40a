package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/boltlog"
)

// TestLogsOfOlderFolds: a season's log that a program of each older fold wrote, with states in its files and a snapshot. Its states are
// compared, and nothing differs. Then today's program goes on with the log: it starts a term behind what it found, and all of it still
// agrees.
func TestLogsOfOlderFolds(t *testing.T) {
	for fold := uint32(1); fold < projector.FoldVersion; fold++ {
		t.Run(fmt.Sprintf("fold %d", fold), func(t *testing.T) {
			archive, err := os.ReadFile(filepath.Join("testdata", "folds", fmt.Sprintf("%d.tgz", fold)))
			if err != nil {
				t.Fatalf("%v: keep a log of the last fold there when the fold is raised", err)
			}
			dir := filepath.Join(t.TempDir(), "log")
			unpack(t, archive, dir)
			agrees(t, dir)

			log, err := boltlog.Open(dir, smallFiles)
			if err != nil {
				t.Fatal(err)
			}
			found := log.Head()
			world, err := loop.Recover(t.Context(), log)
			if err != nil {
				t.Fatal(err)
			}
			if terms := fold >= 3; world.Fold != fold || terms != (world.Term != 0) { // fold 3 begins with terms
				t.Fatalf("the log is of fold %d, in term %d", world.Fold, world.Term)
			}
			c := startCluster(t, log, world, seasonKey.ID(), world.Now.Add(time.Hour))
			c.settle()
			term := log.Term()
			for r, err := range log.Read(t.Context(), found.Sequence+1) {
				if err != nil {
					t.Fatal(err)
				}
				if f, ok := r.Facts.(*events.TermStarted); ok && (f.Term != term || f.Previous != found.Hash) {
					t.Errorf("record %d starts term %d behind %s, want %d behind %s", r.Sequence, f.Term, f.Previous, term, found.Hash)
				}
			}
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			if w := c.loop.World(); w.Term != term || term < 2 {
				t.Errorf("the world is in term %d, the log in %d", w.Term, term)
			}
			agrees(t, dir)
		})
	}
}

// agrees checks that a log is whole, and that a replay of it compares its states, all of them, and finds no difference.
func agrees(t *testing.T, dir string) {
	t.Helper()
	if r := command("verify", "--log", dir); r.code != 0 {
		t.Errorf("verify ends with %d:\n%s%s", r.code, r.out, r.err)
	}
	r := command("replay", "--log", dir)
	if r.code != 0 || !strings.Contains(r.out, ", 0 divergences\n") || !strings.Contains(r.out, "stored states were compared with the records before") ||
		strings.Contains(r.out, "other versions of the program") {
		t.Errorf("replay ends with %d:\n%s%s", r.code, r.out, r.err)
	}
}
