package loop_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
)

var update = flag.Bool("update", false, "rewrite the expected output of the scripts; say in the commit why it is right")

// TestScripts runs the scripts in testdata; each file has one subject. A script has blocks: commands, a line of dashes,
// their result, an empty line. Lines that begin with # are for the reader.
func TestScripts(t *testing.T) {
	eachScript(t, func(t *testing.T, file, text string) {
		m, got := runScript(t, text)
		m.check()
		if *update {
			m.must(os.WriteFile(file, []byte(got), 0o644))
			return
		}
		if got != text {
			t.Errorf("%s: the machine says otherwise; see with -update and git diff\n%s", file, got)
		}
	})
}

// TestScriptsWithRestarts restarts the controller, and sets its clock, after every record of every script. It also
// reads each log with several files from each file on.
func TestScriptsWithRestarts(t *testing.T) {
	at := 0
	eachScript(t, func(t *testing.T, _, text string) {
		if at++; at%effort.Step(3) != 0 {
			t.Skip("played by CI: JOBLEDGER_WHOLE=1")
		}
		m, _ := runScript(t, text)
		m.checkClock()
		m.checkState()
		m.checkFiles()
	})
}

func eachScript(t *testing.T, run func(t *testing.T, file, text string)) {
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.ToSlash(file), ".txt")[len("testdata/"):], func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			run(t, file, string(text))
		})
	}
}

// runScript returns the machine after the script, and the script with the results it has now.
func runScript(t *testing.T, text string) (*machine, string) {
	m := newMachine(t)
	var out []string
	for _, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		head, _, _ := strings.Cut(block, "\n----")
		result := ""
		for _, line := range strings.Split(head, "\n") {
			if !strings.HasPrefix(line, "#") {
				result += m.do(line)
			}
		}
		out = append(out, strings.TrimRight(head+"\n----\n"+result, "\n"))
	}
	return m, strings.Join(out, "\n\n") + "\n"
}
