package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A "console" block of README.md is a session: lines that begin with "$ " are commands, which a "\" at the end carries on to the
// next line; what follows is what came of them, and a line "…" stands for lines that were left out.
type exchange struct {
	command string
	output  []string
}

// checkReadme runs the sessions of README.md on the log that the demo left, and compares what comes of them with what
// README.md shows, but for what differs from run to run. Commands that start something are not run again: they are
// checked for flags and targets that do not exist; what a subscriber shows, against what the demo's did.
func checkReadme(t *testing.T, d *demo, said string) {
	text, err := os.ReadFile(filepath.Join(d.root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(d.root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	all := exchanges(string(text))
	if len(all) == 0 {
		t.Fatal("README.md shows no session")
	}
	ran := 0
	for _, x := range all {
		switch words := strings.Fields(x.command); {
		case strings.HasPrefix(x.command, "DEMO="):
		case words[0] == "make":
			if !strings.Contains(string(makefile), "\n"+words[1]+":") {
				t.Errorf("$ %s: the Makefile has no such target", x.command)
			}
		case words[0] != program:
			t.Errorf("$ %s: this test does not know how to check that", x.command)
		case words[1] == "run", strings.Contains(x.command, " -w "):
			d.session(t, x.command+" --help")
		case words[1] == "subscribe": // its server is gone
			d.session(t, x.command+" --help")
			compare(t, x, besides(said))
		default:
			ran++
			compare(t, x, d.session(t, x.command))
		}
	}
	if ran < 3 {
		t.Errorf("README.md shows only %d commands that can be run: get, events and replay are missing", ran)
	}
}

// besides is what the demo has shown of the subscriber.
func besides(said string) string {
	var out strings.Builder
	for line := range strings.Lines(said) {
		if line, ok := strings.CutPrefix(line, beside); ok {
			out.WriteString(line)
		}
	}
	return out.String()
}

// exchanges are those of all console blocks.
func exchanges(markdown string) []exchange {
	var out []exchange
	inside := false
	for line := range strings.Lines(strings.ReplaceAll(markdown, "\\\n", "")) {
		line = strings.TrimRight(line, "\n")
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case line == "```console":
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside && isCommand:
			out = append(out, exchange{command: command})
		case inside && len(out) > 0:
			x := &out[len(out)-1]
			x.output = append(x.output, line)
		}
	}
	return out
}

// session runs a command line as it stands and returns its output.
func (d *demo) session(t *testing.T, command string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", strings.Replace(command, program, `"$PROGRAM"`, 1))
	cmd.Dir = d.root
	cmd.Env = append(os.Environ(), "DEMO="+d.dir, "PROGRAM="+d.binary)
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("$ %s: %v\n%s", command, err, text)
	}
	return string(text)
}

// varies is what differs from run to run: times, UIDs, hashes, names of pods, sequences and counts, and the widths of columns that
// follow from them; and what a status write changes, as one before it has said some of that when a pod took longer than a second.
var varies = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "DATE"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d(\.\d+)?Z?`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\b[0-9a-f]{32,64}\b`), "HASH"},
	{regexp.MustCompile(`(plain|indexed-\d|backoff)-[a-z0-9]{5}\b`), "$1-POD"},
	{regexp.MustCompile(`after \d+s`), "after SECONDS"},
	{regexp.MustCompile(`(write status(?: \w+)?): \w+ .*`), "$1: CHANGES"},
	{regexp.MustCompile(`\d+ records, \d+ decisions|\d+ records, head \d+`), "COUNTS"},
	{regexp.MustCompile(`(record|from|to) \d+`), "$1 SEQ"},
	{regexp.MustCompile(`^(Records: *)\d+`), "${1}COUNT"},
	{regexp.MustCompile(`^\d+ `), "SEQ "},
	{regexp.MustCompile(` +`), " "},
	// When the answer was faster than the watch, the Job shows nothing that is new then.
	{regexp.MustCompile(`(?:JobChanged (\S+) status stored, as record SEQ decided|CommandEnded (\S+) write status: done)`), "STORED $1$2"},
}

func normal(line string) string {
	for _, v := range varies {
		line = v.what.ReplaceAllString(line, v.as)
	}
	return strings.TrimSpace(line)
}

// compare reports lines that README.md shows and the command no longer writes. The order of records that came at the same
// time, and whether the watch was faster than the answer, differ from run to run, so lines are looked up, not counted.
func compare(t *testing.T, x exchange, output string) {
	t.Helper()
	got := map[string]bool{}
	for line := range strings.Lines(output) {
		got[normal(line)] = true
	}
	var stale []string
	for _, line := range x.output {
		if n := normal(line); n != "…" && !got[n] {
			stale = append(stale, line)
		}
	}
	if len(stale) > 0 {
		t.Errorf("$ %s\nREADME.md shows these lines:\n%s\nwhich do not come of it:\n%s", x.command, strings.Join(stale, "\n"), output)
	}
}

func TestWhatDiffersFromRunToRunIsTheSame(t *testing.T) {
	for _, row := range []struct {
		sentence, a, b string
		same           bool
	}{
		{"a status write after one that showed progress",
			"57   18:14:56.977  Decided       backoff        write status: 1 more failed pod, ready 0, …",
			"61   09:00:02.100  Decided       backoff        write status: active 0", true},
		{"the watch was faster than the answer, or not",
			"59   18:14:56.994  JobChanged    backoff        status stored, as record 57 decided",
			"58   18:14:56.990  CommandEnded  backoff        write status: done", true},
		{"of another Job",
			"59   18:14:56.994  JobChanged    backoff        status stored, as record 57 decided",
			"58   18:14:56.990  CommandEnded  plain          write status: done", false},
		{"a status write that ends the Job, and one that does not",
			"94   18:15:06.550  Decided       backoff        write status Failed: failed 2 (BackoffLimitExceeded)",
			"57   18:14:56.977  Decided       backoff        write status: ready 0, terminating 0", false},
		{"a command that was refused",
			"58   18:14:56.990  CommandEnded  backoff        write status: done",
			"58   18:14:56.990  CommandEnded  backoff        write status: refused", false},
	} {
		if a, b := normal(row.a), normal(row.b); (a == b) != row.same {
			t.Errorf("%s: %q and %q", row.sentence, a, b)
		}
	}
}
