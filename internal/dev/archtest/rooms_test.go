package archtest

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ofRoom is a row of the table of rooms in docs/design/0030-rooms-of-answers.md.
var ofRoom = regexp.MustCompile("(?m)^\\| `(explain[/\\w]*)` \\|")

// TestRoomsOfAnswersKnowOnlyThoseAbove holds direct imports of the packages below internal/read/explain against the
// table of rooms: a room imports rooms that stand above it. Packages for tests alone are apart: their names end with
// "test".
func TestRoomsOfAnswersKnowOnlyThoseAbove(t *testing.T) {
	var order []string
	for _, row := range ofRoom.FindAllStringSubmatch(read(t, filepath.Join(root, "docs/design/0030-rooms-of-answers.md")), -1) {
		order = append(order, path("./internal/read/"+row[1]))
	}
	g := packages(t)
	for at, p := range g {
		if !matches("./internal/read/explain/...", at) || strings.HasSuffix(at, "test") {
			continue
		}
		own := slices.Index(order, at)
		if own < 0 {
			t.Errorf("%s is in no row of the table of rooms", at)
		}
		for _, i := range p.Imports {
			if matches("./internal/read/explain/...", i) && slices.Index(order, i) >= own {
				t.Errorf("%s imports %s, which does not stand above it in the table of rooms", at, i)
			}
		}
	}
	for _, at := range order {
		if _, is := g[at]; !is {
			t.Errorf("%s is in the table of rooms, and no package", at)
		}
	}
}
