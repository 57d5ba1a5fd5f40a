package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unclear are words of the code, each with the words that a reader knows. No text of the program has them.
var unclear = []struct{ word, say string }{
	{`lets? go of|let go\b`, "remove the finalizer; drop"},
	{`(is|are|was|were|been|stays?) served`, "is over"},
	{`moot`, "the goal is met"},
	{`settled`, "counted; decided"},
	{`(stands?|standing) refused`, "is being retried"},
	{`stand(s|ing)? still`, "stops, hangs"},
	{`gives? up|gave up|given up`, "cancelled; stopped"},
	{`tak(e|en|es) back`, "withdrawn"},
	{`nobody|somebody|anybody`, "name who it is: no controller, another user; or say that it is unknown"},
	{`anew`, "again; newly created"},
	{`of which|of whose`, "two sentences"},
	{`uncounted failed \+`, "1 more failed pod"},
	{`\d+/0 (done|refused|unknown|withdrawn)`, "command 1 of record N"},
}

// TestPlainWords checks texts for users: each text of the program, and the output of its commands.
func TestPlainWords(t *testing.T) {
	all := texts(t)
	for text, place := range printed(t) {
		all[text] = place
	}
	for _, u := range unclear {
		word := regexp.MustCompile(`(?i)(^|[^-\w/])(` + u.word + `)\b`)
		for text, place := range all {
			if strings.Contains(place, "storetest") || strings.Contains(place, "/sim/") { // of tests
				continue
			}
			if found := word.FindString(text); found != "" {
				t.Errorf("%s: %q in %q; say: %s", place, strings.TrimSpace(found), text, u.say)
			}
		}
	}
}

// printed returns the lines that users see, each with its place: expected output in scripts, golden text, and examples
// of a terminal in the documents.
func printed(t *testing.T) map[string]string {
	t.Helper()
	lines := map[string]string{}
	take := func(path string, shown func(string) bool) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if shown(line) {
				lines[line] = path
			}
		}
	}
	for pattern, shown := range map[string]func() func(string) bool{
		"testdata/script/*.txtar": func() func(string) bool {
			return func(line string) bool { return !strings.HasPrefix(line, "#") && !strings.Contains(line, "/nobody") }
		},
		"../../internal/say/recordjson/testdata/*": func() func(string) bool { return func(string) bool { return true } },
		"../../README.md":                          inConsole,
		"../../docs/*.md":                          inConsole,
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, want files", pattern, err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err == nil && info.Mode()&fs.ModeType == 0 {
				take(file, shown())
			}
		}
	}
	if len(lines) < 500 {
		t.Errorf("only %d lines were found that users see", len(lines))
	}
	return lines
}

// inConsole returns a function that reports for each line whether it is in an example of a terminal.
func inConsole() func(string) bool {
	inside := false
	return func(line string) bool {
		if rest, ok := strings.CutPrefix(line, "```"); ok {
			inside = !inside && strings.HasPrefix(rest, "console")
			return false
		}
		return inside
	}
}
