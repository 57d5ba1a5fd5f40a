//go:build linux

package situations

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/test/internal/causes"
)

// wordsFile has the kubelet's lines from any run in either mode: its intermediate writes differ from run to run.
var wordsFile = filepath.Join("..", "..", "internal", "causes", "testdata", "words.txt")

// compare compares the kubelet's lines with the file, or writes the file.
func compare(t *testing.T, series map[string][]string) {
	t.Helper()
	said := causes.Words{}
	for name, lines := range series {
		said[name] = lines
	}
	before, err := causes.ReadWords(wordsFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if *update {
		before.Add(said)
		if err := before.Write(wordsFile); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, news := range before.News(said) {
		t.Errorf("the kubelet said what it never said before: %s", news)
	}
	for _, unheard := range said.News(before) {
		t.Logf("the kubelet did not say this time: %s", unheard)
	}
}
