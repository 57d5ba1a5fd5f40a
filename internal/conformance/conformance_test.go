package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const tree = "testdata/tree"

func TestWhatTestsSayIsHarvested(t *testing.T) {
	h, err := harvest(tree)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string][]string{
		id(1): {
			"TestDoc: the first rule holds over two lines", "TestRows: a subtest says it",
			"TestScripts/play: What is played here obeys a rule",
		},
		id(2): {"TestDoc: two rules hold together", "TestRows: helper checks that the second rule holds too"},
		id(3): {"TestDoc: two rules hold together", "TestRows/a row beside a comment: said beside a row"},
		id(4): {
			"TestRows: it is refused unless all is well", "TestRows: a row says it", "TestScripts/play: a script says it over two lines",
		},
	} {
		var got []string
		for _, f := range h.facts[id] {
			got = append(got, f.test+": "+f.says)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", id, got, want)
		}
	}
	if len(h.complaints) > 0 {
		t.Errorf("complaints: %q", h.complaints)
	}
}

// id spells a rule. Written out it would be a citation.
func id(n int) string { return fmt.Sprintf("J-%03d", n) }

func TestATreeIsFoundWanting(t *testing.T) {
	for _, row := range []struct {
		name, file, more string // what goes after the file's last line
		want             string // "" for nothing
	}{
		{"a tree whose page is fresh", "", "", ""},
		{"a rule without a test", "internal/conformance/rules.txt", id(5) + " A five", "has no test"},
		{"a citation of no rule", "pkg/pkg.go", "package pkg // " + id(777), "there is no rule"},
		{"a citation without a fact", "pkg/pkg_test.go", test("TestMore: " + id(1) + "."), "without what is asserted"},
		{"a table that no test reads", "pkg/pkg_test.go", "var idle = []struct{ a, b string }{{`" + id(1) + "`, `it is so`}}", "no test reads"},
		{"a script that no test reads", "pkg/testdata/sub/x.txt", "# " + id(1) + ": it is so.", "no test reads"},
		{"a test that the page does not name", "pkg/pkg_test.go", test(id(1) + ": and this one too."), "is stale"},
	} {
		t.Run(row.name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.CopyFS(root, os.DirFS(tree).(fs.ReadDirFS)); err != nil {
				t.Fatal(err)
			}
			if found, err := run(root, true); err != nil || len(found) > 0 {
				t.Fatalf("%v %q", err, found)
			}
			if row.file != "" {
				appendTo(t, filepath.Join(root, row.file), row.more)
			}
			found, err := run(root, false)
			if err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(found, "\n"); (row.want == "") != (all == "") || !strings.Contains(all, row.want) {
				t.Errorf("found %q, want %q", all, row.want)
			}
		})
	}
}

// test is one more test with that comment.
func test(comment string) string { return "\n// " + comment + "\nfunc TestMore(t *testing.T) {}" }

func appendTo(t *testing.T, file, more string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(string(old)+more+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
