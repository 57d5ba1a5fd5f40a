package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCronJobDocument runs the commands of docs/cronjobs.md on the log of some nights, and compares what they print
// with what the document says. -update writes it.
func TestCronJobDocument(t *testing.T) {
	file, err := filepath.Abs("../../docs/cronjobs.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	writeNights(t, "log")
	var out strings.Builder
	n, inside := 0, false
	for line := range strings.Lines(string(text)) {
		command, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ jobledger ")
		if strings.HasPrefix(line, "```") {
			inside = line == "```console\n"
		}
		if !inside || strings.HasPrefix(line, "```") {
			out.WriteString(line)
			continue
		}
		if is {
			n++
			out.WriteString(line + answerOf(t, strings.Fields(command)))
		}
	}
	if n < 8 {
		t.Errorf("it shows %d commands, want 8 at least", n)
	}
	if got := out.String(); got != string(text) {
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("docs/cronjobs.md does not say what the commands print now; 'go test ./cmd/jobledger -run CronJobDocument -update' writes it:\n%s", cmp.Diff(string(text), got))
	}
}
