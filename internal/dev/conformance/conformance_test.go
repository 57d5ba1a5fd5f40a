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
		oneOf("O", 2): {"TestRows: helper checks that the second rule holds too"},
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

// id spells a rule: if it stood here in full, it would be a citation.
func id(n int) string { return oneOf("J", n) }

func oneOf(contract string, n int) string { return fmt.Sprintf("%s-%03d", contract, n) }

func TestATreeIsFoundWanting(t *testing.T) {
	const job = "docs/contract/job.md"
	for _, row := range []struct {
		name string
		more map[string]string // text to append, by file
		want string            // "" for nothing
	}{
		{"a tree whose page is fresh", nil, ""},
		{"a rule without a line", map[string]string{job: "- " + id(5) + " Five."}, "has no line"},
		{"a rule without a test", map[string]string{job: "- " + id(5) + " Five.", rulesFile: id(5) + " five"}, "has no test"},
		{"a line without a rule", map[string]string{rulesFile: id(5) + " five"}, "is in no contract"},
		{"a rule with two lines", map[string]string{rulesFile: id(4) + " four"}, "stands there twice"},
		{
			"a rule that is to come, and has a test", map[string]string{"pkg/pkg_test.go": test(oneOf("C", 1) + ": it is there already.")},
			"proves it already",
		},
		{"a citation of no section", map[string]string{"pkg/pkg.go": "package pkg // design " + "§" + "3"}, "has no §3"},
		{"an invariant without a test", map[string]string{"docs/design.md": "\n## 3. Invariants\n\n1. Another one."}, "no test cites §" + "3, inv"},
		{"a citation of no invariant", map[string]string{"deploy/base/role.yaml": "# design " + "§" + "1, invariant 2"}, "has no §1, inv"},
		{"a citation of a section", map[string]string{"pkg/pkg.go": "package pkg // section " + "3 of the contract"}, "cite rules"},
		{"a citation of no rule", map[string]string{"pkg/pkg.go": "package pkg // " + id(777)}, "there is no rule"},
		{"a citation without a fact", map[string]string{"pkg/pkg_test.go": test("TestMore: " + id(1) + ".")}, "without what is asserted"},
		{
			"a table that no test reads", map[string]string{"pkg/pkg_test.go": "var idle = []struct{ a, b string }{{`" + id(1) + "`, `it is so`}}"},
			"no test reads",
		},
		{"a script that no test reads", map[string]string{"pkg/testdata/sub/x.txt": "# " + id(1) + ": it is so."}, "no test reads"},
		{"a test that the page does not name", map[string]string{"pkg/pkg_test.go": test(id(1) + ": and this one too.")}, "is stale"},
		{"a page of no section", map[string]string{pagesDir + "/job-99.md": "# 99. Gone"}, "job-99.md is of no section"},
	} {
		t.Run(row.name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.CopyFS(root, os.DirFS(tree).(fs.ReadDirFS)); err != nil {
				t.Fatal(err)
			}
			if found, err := run(root, true); err != nil || len(found) > 0 {
				t.Fatalf("%v %q", err, found)
			}
			for file, more := range row.more {
				appendTo(t, filepath.Join(root, file), more)
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

// TestThePages: a line says why a rule has no test, and of which sort the rule is. Each section has a page, and pages
// of sections that no longer exist are removed.
func TestThePages(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(tree).(fs.ReadDirFS)); err != nil {
		t.Fatal(err)
	}
	gone := pagesDir + "/job-99.md"
	appendTo(t, filepath.Join(root, gone), "# 99. Gone")
	if found, err := run(root, true); err != nil || len(found) > 0 {
		t.Fatalf("%v %q", err, found)
	}
	if _, err := os.Stat(filepath.Join(root, gone)); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", gone, err)
	}
	for file, lines := range map[string][]string{
		pageFile: {
			"\n| [The Job contract](contract/job.md) | 4 | 4 | 0 | 0 |\n",
			"\n| [Operations](contract/operations.md) | 2 | 1 | 1 | 0 |\n",
			"\n| [1. First](conformance/job-01.md) | ",
		},
		pagesDir + "/job-01.md": {
			"\n# 1. First\n",
			"(../../pkg/pkg_test.go)",
			"\n| " + id(2) + " | two *(inner)* | ",
		},
		pagesDir + "/job-02.md":       {"\n| " + id(3) + " | three *(stricter)* | "},
		pagesDir + "/operations-a.md": {"\n| " + oneOf("O", 1) + " | a fact | *only describes the built-in* |\n"},
		pagesDir + "/cronjob-a.md":    {"\n| " + oneOf("C", 1) + " to " + oneOf("C", 3) + " | all of it | *comes with CronJobs* |\n"},
	} {
		page, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range lines {
			if !strings.Contains(string(page), want) {
				t.Errorf("%s has no %q:\n%s", file, want, page)
			}
		}
	}
}

// test returns the source of a test with that comment.
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
