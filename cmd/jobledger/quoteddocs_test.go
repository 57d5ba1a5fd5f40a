package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	// quoted is what a page quotes of an answer in its text: *in italics*, or `STUCK for 15m: …`, whose first word is a
	// verdict's.
	quoted = regexp.MustCompile("\\*([A-Za-z][^*|]{10,}?)\\*|`((?:STUCK|RUNNING|WAITING|FAILED|COMPLETE|UNKNOWN|HELD)[^`]{8,}?)`")
	// fixed is a row of words in it that no name and no number can be part of.
	fixed = regexp.MustCompile(`(?:^|[ (])((?:[a-z][a-z']*,? ){2,}[a-z']+)`)
	// bold is emphasis, and quotes nothing.
	bold = regexp.MustCompile(`\*\*[^*]*\*\*`)
	// heads are words of verdicts and of sections that a table explains.
	heads = regexp.MustCompile(`(?m)^\| ([A-Z][A-Z ,]{3,}) \|`)
	blank = regexp.MustCompile(`\s+`)
)

// TestQuotedWordsAreThePrograms: what the pages for those who read answers quote in their text is said by the program:
// each row of three words or more without a number or a name stands in its source, or in an answer that is kept.
func TestQuotedWordsAreThePrograms(t *testing.T) {
	says := programSays(t)
	for page, least := range map[string]int{"postmortem.md": 12, "cronjobs.md": 12, "troubleshooting.md": 2} {
		text, err := os.ReadFile(filepath.Join("../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		told := bold.ReplaceAllString(prose(string(text)), "")
		for _, m := range quoted.FindAllStringSubmatch(told, -1) {
			for _, words := range fixed.FindAllStringSubmatch(blank.ReplaceAllString(m[1]+m[2], " "), -1) {
				rows = append(rows, words[1])
			}
		}
		for _, m := range heads.FindAllStringSubmatch(told, -1) {
			rows = append(rows, strings.Split(m[1], ", ")...)
		}
		for _, words := range rows {
			if !strings.Contains(says, words) {
				t.Errorf("%s quotes %q, and nothing says so", page, words)
			}
		}
		n := len(rows)
		if n < least {
			t.Errorf("%s quotes %d rows of words, want %d at least", page, n, least)
		}
	}
}

// prose is a page without its blocks: other tests run those.
func prose(page string) string {
	var out strings.Builder
	inside := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			inside = !inside
		} else if !inside {
			out.WriteString(line)
		}
	}
	return out.String()
}

// programSays are the string literals of what writes answers, and the answers that are kept.
func programSays(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	read := func(pattern string, take func(path string)) {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		for _, path := range found {
			take(path)
		}
	}
	for _, dir := range []string{
		"read/explain", "read/explain/*", "say/verdict", "say/words", "read/show", "read/history", "read/duetimes", "read/serve", "read/which", "subject/status",
	} {
		read(filepath.Join("../../internal", dir, "*.go"), func(path string) { literals(t, path, &out) })
	}
	read("*.go", func(path string) { literals(t, path, &out) })
	for _, kept := range []string{"testdata/script/*.txtar", "../../internal/read/explain/testdata/*.txt", "../../internal/read/page/assets/*.html"} {
		read(kept, func(path string) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(text)
		})
	}
	return blank.ReplaceAllString(out.String(), " ")
}

// literals adds the string literals of a file of the program, one after the other.
func literals(t *testing.T, path string, out *strings.Builder) {
	t.Helper()
	if strings.HasSuffix(path, "_test.go") {
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if x, is := n.(*ast.BasicLit); is && x.Kind == token.STRING {
			if text, err := strconv.Unquote(x.Value); err == nil {
				out.WriteString(text + "\n")
			}
		}
		return true
	})
}
