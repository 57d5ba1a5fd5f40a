package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jobledger/jobledger/cmd/cli"
)

// TestIncidentDocuments runs the commands of README.md and of all pages below docs that ask the recorded incidents. It
// compares their output with that on the pages; -update rewrites the pages.
func TestIncidentDocuments(t *testing.T) {
	t.Chdir("../..") // where the documents' commands are to be run
	least := map[string]int{"docs/postmortem.md": 5, "docs/observe.md": 4, "docs/handover.md": 1, "docs/troubleshooting.md": 2, "README.md": 1}
	for _, file := range pages(t, ".") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, n := answered(t, string(text))
		if n < least[file] {
			t.Errorf("%s asks the recorded incidents %d times, want %d at least", file, n, least[file])
		}
		if got == string(text) {
			continue
		}
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s does not say what the commands print now; 'go test ./cmd/jobledger -run IncidentDocuments -update' writes it:\n%s",
			file, cmp.Diff(string(text), got))
	}
}

// pages are README.md and the pages of docs, from the root of the repository, which lies there.
func pages(t *testing.T, root string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(all) < 10 {
		t.Fatalf("the pages are %v, %v", all, err)
	}
	return append(all, filepath.Join(root, "README.md"))
}

// answered returns a document with the output of its commands, and how many of them ask the recorded incidents.
func answered(t *testing.T, text string) (string, int) {
	var out strings.Builder
	n, inside, skip := 0, false, false
	for _, line := range strings.SplitAfter(text, "\n") {
		command, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ bin/jobledger ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside, skip = !inside, false
		case !inside:
		case is && strings.Contains(command, "examples/incidents"):
			n++
			skip = true
			out.WriteString(line)
			out.WriteString(answerOf(t, strings.Fields(command)))
			continue
		case strings.HasPrefix(line, "$ "):
			skip = false
		}
		if !skip {
			out.WriteString(line)
		}
	}
	return out.String(), n
}

// answerOf is what a command prints on 100 columns.
func answerOf(t *testing.T, args []string) string {
	t.Helper()
	var out, failed bytes.Buffer
	c := &cli.CLI{Out: &out, Err: &failed, Getenv: func(name string) string { return map[string]string{"COLUMNS": "100"}[name] }}
	if status := execute(t.Context(), c, append([]string{"jobledger"}, args...)); status != 0 {
		t.Fatalf("jobledger %s: exit %d: %s", strings.Join(args, " "), status, &failed)
	}
	return out.String()
}
