package loop_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected output of the scripts; say in the commit why it is right")

// TestScripts runs the scripts in testdata: commands, a line of dashes, and what they led to, apart by empty lines. Lines
// that begin with # are for the reader.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runScript(t, file) })
	}
}

func runScript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t)
	var out []string
	for _, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		head, _, _ := strings.Cut(block, "\n----")
		result := ""
		for _, line := range strings.Split(head, "\n") {
			if !strings.HasPrefix(line, "#") {
				result += m.do(line)
			}
		}
		out = append(out, strings.TrimRight(head+"\n----\n"+result, "\n"))
	}
	m.check()
	got := strings.Join(out, "\n\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != string(text) {
		t.Errorf("%s: the machine says otherwise; see with -update and git diff\n%s", file, got)
	}
}
