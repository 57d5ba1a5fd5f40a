package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/test/internal/console"
)

// checkPage runs the sessions of a page on the log of the demo, and compares their output with the page, except for
// parts that differ from run to run. It does not run commands that start something: it checks that their flags and
// targets exist. It compares the output of subscribe with that of the demo's subscriber.
func checkPage(t *testing.T, d *demo, page, said string) {
	text, err := os.ReadFile(filepath.Join(d.root, page))
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(d.root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	all := console.Exchanges(string(text))
	if len(all) == 0 {
		t.Fatal("it shows no session")
	}
	ran := 0
	for _, x := range all {
		switch words := strings.Fields(x.Command); {
		case strings.HasPrefix(x.Command, "DEMO="):
		case words[0] == "make":
			if !strings.Contains(string(makefile), "\n"+words[1]+":") {
				t.Errorf("$ %s: the Makefile has no such target", x.Command)
			}
		case words[0] != program:
			t.Errorf("$ %s: this test does not know how to check that", x.Command)
		case words[1] == "run", strings.Contains(x.Command, " -w "):
			d.session(t, x.Command+" --help")
		case words[1] == "subscribe": // its server is gone
			d.session(t, x.Command+" --help")
			compare(t, x, besides(said))
		default:
			ran++
			compare(t, x, d.session(t, x.Command))
		}
	}
	if ran < 3 {
		t.Errorf("it shows only %d commands that can be run: get, events and replay are missing", ran)
	}
}

// besides returns the lines of the subscriber in the output of the demo.
func besides(said string) string {
	var out strings.Builder
	for line := range strings.Lines(said) {
		if line, ok := strings.CutPrefix(line, beside); ok {
			out.WriteString(line)
		}
	}
	return out.String()
}

// session runs a command line of the page and returns its output.
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

// varies are the parts that differ from run to run: times, UIDs, hashes, names of pods, sequences and counts, and the
// column widths that depend on them. The changes of a status write differ, too: if a pod took longer than a second, an
// earlier write has made some of them.
var varies = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "DATE"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d(\.\d+)?Z?`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\b[0-9a-f]{32,64}\b`), "HASH"},
	{regexp.MustCompile(`(plain|indexed-\d|backoff)-[a-z0-9]{5}\b`), "$1-POD"},
	{regexp.MustCompile(`after \d+ ?s|in under 1 s`), "after SECONDS"},
	{regexp.MustCompile(`(write status(?: \w+)?): \w+ .*`), "$1: CHANGES"},
	{regexp.MustCompile(`\d+ records, \d+ decisions|\d+ records, head \d+`), "COUNTS"},
	{regexp.MustCompile(`(record|from|to) \d+`), "$1 SEQ"},
	{regexp.MustCompile(`^(Records: *)\d+`), "${1}COUNT"},
	{regexp.MustCompile(`^\d+ `), "SEQ "},
	{regexp.MustCompile(`as of \d+`), "as of VERSION"},
	{regexp.MustCompile(`\S+_[0-9a-f]{16} leads`), "IDENTITY leads"},
	{regexp.MustCompile(`"(sequence|previous|version|base|specAt)":\d+`), `"$1":N`},
	{regexp.MustCompile(`"(causes|command|confirms)":[\["][\d,/]+[\]"]`), `"$1":N`},
	{regexp.MustCompile(`"key":"[0-9a-f]{8}"`), `"key":KEY`},
	{regexp.MustCompile(` +`), " "},
	// If the answer came before the watch event, that event has no news about the object.
	{regexp.MustCompile(`(?:JobChanged (\S+) status stored, as record SEQ decided|CommandEnded (\S+) write status: done)`), "STORED $1$2"},
	{regexp.MustCompile(`(?:PodChanged (\S+) \w+, finalizer gone|CommandEnded (\S+) remove finalizer of pod \S+: done)`), "REMOVED $1$2"},
}

func normal(line string) string {
	for _, v := range varies {
		line = v.what.ReplaceAllString(line, v.as)
	}
	return strings.TrimSpace(line)
}

// compare reports lines of the page that the command no longer writes. Lines are looked up, not counted: their order,
// and whether the watch or the answer came first, differ from run to run.
func compare(t *testing.T, x console.Exchange, output string) {
	t.Helper()
	var got []string
	for line := range strings.Lines(output) {
		got = append(got, normal(line))
	}
	var stale []string
	for _, line := range x.Output {
		if n := normal(line); n != "…" && !slices.ContainsFunc(got, func(line string) bool { return shows(n, line) }) {
			stale = append(stale, line)
		}
	}
	if len(stale) > 0 {
		t.Errorf("$ %s\nThe page shows these lines:\n%s\nwhich do not come of it:\n%s", x.Command, strings.Join(stale, "\n"), output)
	}
}

// shows reports whether the page may show a line as `shown`: unchanged, or as JSON with parts left out.
func shows(shown, line string) bool {
	if !strings.HasPrefix(shown, "{") {
		return shown == line
	}
	parts := strings.Split(shown, "…")
	last := parts[len(parts)-1]
	for _, part := range parts {
		at := strings.Index(line, part)
		if at < 0 || line[0] != '{' {
			return false
		}
		line = "{" + line[at+len(part):]
	}
	return last == "" || line == "{"
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
		{"a verdict on a Job that took as long, or not",
			"57   21:59:53.742  JobRetired      plain        COMPLETE after 2 s: 1 pod succeeded",
			"59   09:00:02.100  JobRetired      plain        COMPLETE in under 1 s: 1 pod succeeded", true},
		{"a record of another life of the log",
			`{"sequence":8,"previous":7,"causes":[7],"facts":{"template":"8124c603ec312f8de5d30cd3c8aa3dc5","key":"1e22e30d"}}`,
			`{"sequence":12,"previous":11,"causes":[10,11],"facts":{"template":"bcdc7e01516960253633477e6c39239d","key":"52b13ff4"}}`, true},
		{"a command of another type",
			`{"sequence":8,"facts":{"commands":[{"type":"CreatePod","ordinal":1}]}}`,
			`{"sequence":8,"facts":{"commands":[{"type":"DeletePod","ordinal":1}]}}`, false},
	} {
		if a, b := normal(row.a), normal(row.b); (a == b) != row.same {
			t.Errorf("%s: %q and %q", row.sentence, a, b)
		}
	}
}

func TestWhatIsLeftOutOfJSON(t *testing.T) {
	const line = `{"sequence":N,"kind":"Decided","facts":{"steps":[{"rule":"create","reason":"MorePodsWanted"}]}}`
	for shown, want := range map[string]bool{
		line: true,
		`{"sequence":N,…"reason":"MorePodsWanted"}]}}`:           true,
		`{…"kind":"Decided",…`:                                   true,
		`{"sequence":N,"kind":"Decided"`:                         false,
		`{"sequence":N,…"reason":"MorePodsWanted"}`:              false,
		`{…"reason":"MorePodsWanted"…"kind":"Decided"…`:          false,
		`{"sequence":N,…"rule":"create",…,"reason":"TooMany"…}}`: false,
	} {
		if got := shows(shown, line); got != want {
			t.Errorf("%s: %t", shown, got)
		}
	}
}
