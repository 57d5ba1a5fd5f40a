package archtest

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ofWing matches a row of the table of wings in docs/design.md: the wing, and the packages of this module that it
// imports.
var ofWing = regexp.MustCompile("(?m)^\\| `(internal/\\w+)` \\|[^|]*\\| (all but )?((?:`[\\w/]+` ?)+)\\|$")

// TestWings compares the direct imports of the packages below internal with the table in docs/design.md. It skips
// packages for tests: their names end with "test".
func TestWings(t *testing.T) {
	rows := ofWing.FindAllStringSubmatch(read(t, filepath.Join(root, "docs/design.md")), -1)
	if len(rows) != 6 {
		t.Fatalf("docs/design.md has %d wings, want 6", len(rows))
	}
	g := packages(t)
	known := map[string]bool{}
	for _, row := range rows {
		wing, but, names := row[1], row[2] != "", strings.Fields(strings.ReplaceAll(row[3], "`", ""))
		known[wing] = true
		for at, p := range g {
			if !matches("./"+wing+"/...", at) || strings.HasSuffix(at, "test") {
				continue
			}
			for _, i := range p.Imports {
				if !matches("./...", i) || matches("./"+wing+"/...", i) || matches("./proto/gen/...", i) {
					continue
				}
				within := slices.ContainsFunc(names, func(name string) bool { return matches("./"+name+"/...", i) })
				if within == but {
					t.Errorf("%s imports %s: packages of %s may not, says the table of wings in docs/design.md", at, i, wing)
				}
			}
		}
	}
	for at := range g {
		wing, below := strings.CutPrefix(at, module+"/internal/")
		if wing, _, _ = strings.Cut(wing, "/"); below && !known["internal/"+wing] {
			t.Errorf("%s stands in no wing: see docs/design.md, Packages", at)
		}
	}
}
