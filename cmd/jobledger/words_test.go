package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/picture"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var (
	namedFlag    = regexp.MustCompile(`(?:^|[^-\w])--([a-z][a-z0-9-]+)`)
	namedCommand = regexp.MustCompile(`['"]jobledger ([a-z]+)`)
)

// others are flags of other programs that our texts name.
var others = map[string]bool{"headers-only": true, "request-timeout": true, "controllers": true, "pinnedpubkey": true,
	"role": true, "user": true}

// TestHintsNameWhatExists: every flag and command that a text of the program names exists.
func TestHintsNameWhatExists(t *testing.T) {
	flags, commands := map[string]bool{"help": true, "version": true}, map[string]bool{"help": true}
	root := newRoot(&cli.CLI{Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }}, "jobledger")
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		commands[cmd.Name()] = true
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(root)
	hints := 0
	for text, place := range texts(t) {
		if text == picture.Style {
			continue // its variables are no flags
		}
		for _, m := range namedFlag.FindAllStringSubmatch(text, -1) {
			hints++
			if name := m[1]; !flags[name] && !others[name] && !strings.HasSuffix(name, "-") {
				t.Errorf("%s: no command has the flag --%s: %q", place, name, text)
			}
		}
		for _, m := range namedCommand.FindAllStringSubmatch(text, -1) {
			if !commands[m[1]] {
				t.Errorf("%s: there is no command %s: %q", place, m[1], text)
			}
		}
	}
	if hints < 100 {
		t.Errorf("only %d flags were found in texts", hints)
	}
}

// texts are the string literals of the program, with a place where each stands.
func texts(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	list := exec.Command("go", "list", "-deps", "-f", `{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, ".")
	paths, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	for _, path := range strings.Fields(string(paths)) {
		if strings.Contains(path, "/proto/gen/") {
			continue
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					all[text] = files.Position(lit.Pos()).String()
				}
			}
			return true
		})
	}
	return all
}
