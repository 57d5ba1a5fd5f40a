package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
)

var quoted = regexp.MustCompile("`([^`\n]+)`")

// touched returns the paths that a list of docs/design.md names, below its bold title. A bullet begins with paths. A
// path without a folder is in the folder of the path before.
func touched(t *testing.T, title string) []string {
	t.Helper()
	_, text, ok := strings.Cut(read(t, filepath.Join(root, "docs/design.md")), "**"+title+".**")
	if !ok {
		t.Fatalf("docs/design.md has no list %q", title)
	}
	var paths []string
	for n, part := range strings.Split(text, "\n- ") {
		if n == 0 {
			continue
		}
		bullet, after, last := strings.Cut(part, "\n\n")
		head, _, ok := strings.Cut(bullet, ":")
		if !ok {
			t.Errorf("%s: %q does not begin with paths and a colon", title, bullet)
		}
		folder := ""
		for _, m := range quoted.FindAllStringSubmatch(head, -1) {
			path := m[1]
			if !strings.Contains(path, "/") {
				path = filepath.ToSlash(filepath.Join(folder, path))
			}
			folder = filepath.ToSlash(filepath.Dir(path))
			paths = append(paths, path)
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: %v", title, err)
			}
		}
		if last && after != "" {
			break
		}
	}
	if len(paths) < 2 {
		t.Fatalf("%s: the list names %v", title, paths)
	}
	return paths
}

// product calls each for every hand-written file of the main module that is no test, with its path from the root.
func product(t *testing.T, each func(path string, file *ast.File)) {
	t.Helper()
	for _, name := range goFiles(t) {
		rel, err := filepath.Rel(root, name)
		if err != nil {
			t.Fatal(err)
		}
		rel = filepath.ToSlash(rel)
		if strings.HasSuffix(rel, "_test.go") || strings.HasPrefix(rel, "proto/gen/") || strings.HasPrefix(rel, "test/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		each(rel, file)
	}
}

// namesOf returns which of the given names of package events a file uses.
func namesOf(file *ast.File, names map[string]string) map[string]bool {
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		var name string
		switch x := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok && id.Name == "events" {
				name = x.Sel.Name
			}
		case *ast.Ident:
			if file.Name.Name == "events" {
				name = x.Name
			}
		}
		if of, ok := names[name]; ok {
			used[of] = true
		}
		return true
	})
	return used
}

// TestListOfANewCommand: a file that names at least half of the kinds of commands must be on the list of
// docs/design.md, because a new command changes it.
func TestListOfANewCommand(t *testing.T) {
	listed := touched(t, "A new command")
	names, kinds := map[string]string{}, 0
	for traits := range events.AllTraits() {
		kinds++
		for _, name := range []string{traits.Name, "Command" + traits.Name} {
			names[name] = traits.Name
		}
	}
	found := 0
	product(t, func(path string, file *ast.File) {
		if len(namesOf(file, names))*2 < kinds {
			return
		}
		if found++; !slices.Contains(listed, path) {
			t.Errorf("%s names at least half of the commands, and docs/design.md does not say that a new one touches it", path)
		}
	})
	if found < 4 {
		t.Errorf("%d files name half of the commands: the test is blind", found)
	}
}

// TestListOfANewResource: a file that names both present resources has a list of them, which a new resource must join.
// A file that names the deletions of both distinguishes the facts of resources.
func TestListOfANewResource(t *testing.T) {
	listed := touched(t, "A new resource")
	for _, pair := range [][2]string{{"Jobs", "Pods"}, {"JobGone", "PodGone"}} {
		found := 0
		product(t, func(path string, file *ast.File) {
			if strings.HasPrefix(path, "internal/dev/sim/") || len(namesOf(file, map[string]string{pair[0]: "a", pair[1]: "b"})) < 2 {
				return
			}
			if found++; !slices.Contains(listed, path) {
				t.Errorf("%s names %s and %s, and docs/design.md does not say that a new resource touches it", path, pair[0], pair[1])
			}
		})
		if found < 4 {
			t.Errorf("%d files name %s and %s: the test is blind", found, pair[0], pair[1])
		}
	}
}

// TestListOfANewRule: all lists of rules are in reconciler/job/rules.go and reconciler/cron/rules.go, and
// the reasons in reason.go.
func TestListOfANewRule(t *testing.T) {
	listed := touched(t, "A new rule")
	found := map[string]int{}
	product(t, func(path string, file *ast.File) {
		if !slices.Contains([]string{"reconciler", "reconciler/job", "reconciler/cron"}, filepath.ToSlash(filepath.Dir(path))) {
			return
		}
		for _, d := range file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range decl.Specs {
				if spec, ok := s.(*ast.ValueSpec); ok && (ruleList(spec) || reason(spec)) {
					if found[path]++; !slices.Contains(listed, path) {
						t.Errorf("%s declares %s, and docs/design.md does not say that a new rule touches it", path, spec.Names[0])
					}
				}
			}
		}
	})
	for _, path := range []string{"reconciler/job/rules.go", "reconciler/cron/rules.go", "reconciler/reason.go"} {
		if found[path] < 4 {
			t.Errorf("%s declares %d lists or reasons: the test is blind", path, found[path])
		}
	}
}

// ruleList reports whether a variable is a list of rules, outcomes, stages or reasons to write.
func ruleList(spec *ast.ValueSpec) bool {
	for _, v := range spec.Values {
		lit, ok := v.(*ast.CompositeLit)
		if !ok {
			continue
		}
		list, ok := lit.Type.(*ast.ArrayType)
		if !ok {
			continue
		}
		if of, ok := list.Elt.(*ast.Ident); ok && slices.Contains([]string{"rule", "outcome", "stage", "writeReason"}, of.Name) {
			return true
		}
	}
	return false
}

// reason reports whether a constant is a Reason.
func reason(spec *ast.ValueSpec) bool {
	of, ok := spec.Type.(*ast.SelectorExpr)
	return ok && of.Sel.Name == "Reason"
}
