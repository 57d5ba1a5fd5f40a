package archtest

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// Go lines should have at most 120 columns; a tab counts as one, as in linters. maxWideLines is the number of wider
// lines in all modules. It may only fall.
const (
	mostColumns  = 120
	maxWideLines = 6011
)

func TestLinesAreNotWide(t *testing.T) {
	wide, widest, where := 0, 0, ""
	for _, name := range goFiles(t) {
		rel, err := filepath.Rel(root, name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(filepath.ToSlash(rel), "proto/gen/") {
			continue
		}
		for line := range strings.Lines(read(t, name)) {
			line = strings.TrimRight(line, "\n")
			columns := utf8.RuneCountInString(line)
			if columns <= mostColumns {
				continue
			}
			if wide++; columns > widest {
				widest, where = columns, filepath.ToSlash(rel)
			}
		}
	}
	t.Logf("%d lines are wider than %d columns; the widest has %d, in %s", wide, mostColumns, widest, where)
	if wide > maxWideLines {
		t.Errorf("%d lines are wider than %d columns, more than %d: break new ones where a sentence or an argument ends", wide, mostColumns, maxWideLines)
	}
	if wide == 0 {
		t.Error("no line is wide: let the linter lll hold them, and delete this test")
	}
}
