package incidents

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/test/internal/built"
)

// examples is the directory of the recordings.
var examples = filepath.Join("..", "..", "examples", "incidents")

// TestTheExamplesAreWhole: the kept logs verify and replay, have every incident, and do not name the machine that
// recorded them.
func TestTheExamplesAreWhole(t *testing.T) {
	program, err := built.Program(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []mode{delegated, observed} {
		t.Run(string(m), func(t *testing.T) {
			dir := t.TempDir() // readers may write beside a log
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(examples, string(m)))); err != nil {
				t.Fatal(err)
			}
			check(t, program, dir)
			played := map[int]bool{}
			for _, told := range readTruth(t, filepath.Join(dir, "truth.json")) {
				played[told.Incident] = true
			}
			for _, i := range table {
				if !played[i.number] {
					t.Errorf("incident %d (%s) is not recorded: make incidents", i.number, i.title)
				}
			}
		})
	}
}
