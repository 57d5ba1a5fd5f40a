package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/history"
)

// commandIn is command with these variables set.
func commandIn(t *testing.T, env map[string]string, args ...string) (out, err string) {
	t.Helper()
	var o, e bytes.Buffer
	c := &cli.CLI{Out: &o, Err: &e, Getenv: func(name string) string { return env[name] }}
	execute(t.Context(), c, append([]string{"jobledger"}, args...))
	return o.String(), e.String()
}

// TestOutputIsASCIIWhereTheLocaleAsks: with a locale that is not UTF-8 the output of any command is ASCII. Its lines
// have the same width, and a document has the same value. With a UTF-8 locale nothing changes.
func TestOutputIsASCIIWhereTheLocaleAsks(t *testing.T) {
	said := 0
	for i, args := range effort.Each(4, everyCommand(t)) {
		line := strings.Join(args, " ")
		out, err := commandIn(t, nil, args...)
		if i%4 == 0 {
			if o, e := commandIn(t, map[string]string{"LANG": "C", "LC_ALL": "de_DE.UTF-8"}, args...); o != out || e != err {
				t.Errorf("%s: under UTF-8 the output is another:\n%s%s", line, o, e)
			}
		}
		o, e := commandIn(t, map[string]string{"LANG": "C"}, args...)
		for _, r := range o + e {
			if r >= utf8.RuneSelf {
				t.Errorf("%s: under LANG=C it prints %q", line, r)
				break
			}
		}
		if o != out || e != err {
			said++
		}
		if into := documentOf(args); into != nil {
			var a, b any
			if err1, err2 := into([]byte(out), &a), into([]byte(o), &b); err1 != nil || err2 != nil || !reflect.DeepEqual(a, b) {
				t.Errorf("%s: under LANG=C it is another value (%v, %v)", line, err1, err2)
			}
			continue
		}
		a, b := strings.Split(out+err, "\n"), strings.Split(o+e, "\n")
		for i := range a {
			if len(a) != len(b) || utf8.RuneCountInString(a[i]) != len(b[i]) {
				t.Errorf("%s: under LANG=C the layout is another: %q", line, a[i])
				break
			}
		}
	}
	if said < 50 {
		t.Errorf("only %d commands printed anything that is not ASCII, want more to look at", said)
	}
}

// documentOf reads what a command prints, if that is one value.
func documentOf(args []string) func([]byte, any) error {
	switch joined := strings.Join(args, " "); {
	case !strings.HasPrefix(joined, "get") && !strings.HasPrefix(joined, "failures") && !strings.Contains(joined, "job/"):
		return nil // one value on each line, or none
	case strings.HasSuffix(joined, "-o json"):
		return json.Unmarshal
	case strings.HasSuffix(joined, "-o yaml"):
		return func(b []byte, v any) error { return yaml.Unmarshal(b, v) }
	}
	return nil
}

// everyCommand returns command lines for all commands that read a log, and for the help of all commands.
func everyCommand(t *testing.T) (all [][]string) {
	t.Helper()
	add := func(line string) { all = append(all, strings.Fields(line)) }
	for _, c := range newRoot(&cli.CLI{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Getenv: func(string) string { return "" }}, "jobledger").Commands() {
		add(c.Name() + " --help")
	}
	add("--help")
	add("nothing")
	recorded, err := filepath.Glob("../../examples/incidents/*/log")
	if err != nil || len(recorded) != 4 {
		t.Fatalf("%v logs of incidents, %v", recorded, err)
	}
	for _, dir := range recorded {
		for _, format := range []string{"table", "wide", "json", "yaml"} {
			for _, what := range []string{"get jobs", "get jobs --why", "failures --near-misses", "events --tail 300", "replay", "verify"} {
				add(what + " --log " + dir + " -o " + format) // some have no such format, and say so
			}
		}
		out, failed := commandIn(t, nil, "get", "jobs", "--log", dir, "-o", "json")
		var page history.JobsPage
		if err := json.Unmarshal([]byte(out), &page); err != nil || len(page.Items) == 0 {
			t.Fatalf("%v %s", err, failed)
		}
		for i, j := range page.Items {
			if i%3 != 0 {
				continue
			}
			for _, what := range []string{"explain", "explain -v", "attempts", "timeline", "get"} {
				formats := []string{"table"}
				if i%9 == 0 {
					formats = []string{"table", "wide", "md", "json", "yaml"}
				}
				for _, format := range formats {
					command, flags, _ := strings.Cut(what, " ")
					add(command + " job/" + j.UID + " " + flags + " --log " + dir + " -o " + format)
				}
			}
		}
	}
	return all
}
