//go:build linux

package situations

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/test/internal/judge"
)

// TestRecordedSituations judges what is said of the situations whose logs testdata holds.
func TestRecordedSituations(t *testing.T) {
	for _, m := range []mode{run, observe} {
		t.Run(string(m), func(t *testing.T) {
			dir := t.TempDir() // readers may write beside a log
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", string(m)))); err != nil {
				t.Fatal(err)
			}
			judge.All(t, dir)
		})
	}
}
