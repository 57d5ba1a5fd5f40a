//go:build linux

package situations

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/test/internal/judge"
)

// TestRecordedSituations judges the answers about the situations with logs in testdata.
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
