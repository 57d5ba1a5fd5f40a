package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A longer hand-written file has two subjects for sure. Tests may be longer, because their tables have many rows.
const (
	maxLines     = 448
	maxTestLines = 600
)

// Bounds that may only fall: the median length of the product's files, in lines; the number of the product's functions
// of more than 50 lines; the number of fields of the world.
const (
	maxMedian        = 110
	maxLongFunctions = 15
	maxWorldFields   = 20
)

func TestFilesAndFunctionsAreShort(t *testing.T) {
	var lines []int
	var long []string
	product(t, func(path string, file *ast.File) {
		if ast.IsGenerated(file) || strings.HasPrefix(path, "internal/dev/") {
			return
		}
		text := read(t, filepath.Join(root, path))
		lines = append(lines, strings.Count(text, "\n"))
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && strings.Count(text[f.Pos()-file.FileStart:f.End()-file.FileStart], "\n") >= 50 {
				long = append(long, path+" "+f.Name.Name)
			}
		}
	})
	slices.Sort(lines)
	t.Logf("%d files, the middle one of %d lines; %d functions of more than 50", len(lines), lines[len(lines)/2], len(long))
	if median := lines[len(lines)/2]; median > maxMedian {
		t.Errorf("half of the files have %d lines or more, more than %d: files are split, not merged", median, maxMedian)
	}
	if len(long) > maxLongFunctions {
		t.Errorf("%d functions have more than 50 lines, more than %d:\n%s", len(long), maxLongFunctions, strings.Join(long, "\n"))
	}
}

func TestTheWorldHasFewFields(t *testing.T) {
	world := typed(t)[path("./projector")].Scope().Lookup("World").Type().Underlying().(*types.Struct)
	if n := world.NumFields(); n > maxWorldFields {
		t.Errorf("projector.World has %d fields, more than %d: what belongs together is a value of its own", n, maxWorldFields)
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	g := packages(t)
	for _, name := range g.sorted() {
		if matches("./proto/gen/...", name) {
			continue // its comments are in the .proto files
		}
		p := g[name]
		if len(p.GoFiles) == 0 {
			continue // only tests
		}
		if !slices.Contains(p.GoFiles, "doc.go") {
			t.Errorf("%s has no doc.go: one sentence, the invariants, where to read next", name)
			continue
		}
		doc, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, "doc.go"), nil, parser.ParseComments)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if doc.Doc.Text() == "" {
			t.Errorf("%s: its doc.go says nothing about the package", name)
		}
	}
}

func TestFilesHaveOneSubject(t *testing.T) {
	for _, file := range goFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		most := maxLines
		if strings.HasSuffix(file, "_test.go") {
			most = maxTestLines
		}
		if lines := bytes.Count(text, []byte("\n")); lines > most && !generated(file, text) {
			t.Errorf("%s has %d lines, more than %d: split it by subject", file, lines, most)
		}
	}
}

func generated(name string, text []byte) bool {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.PackageClauseOnly)
	return err == nil && ast.IsGenerated(file)
}

// TestTestsDoNotSleep: a sleep is too short on a slow machine, and too long on all others. A test must wait for a
// condition, or run in a synctest bubble, where time is virtual.
func TestTestsDoNotSleep(t *testing.T) {
	for _, name := range goFiles(t) {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if imports(file, "testing/synctest") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isSleep(call) {
				t.Errorf("%s: a test sleeps outside a synctest bubble", fset.Position(call.Pos()))
			}
			return true
		})
	}
}

func imports(file *ast.File, path string) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool {
		return spec.Path.Value == `"`+path+`"`
	})
}

func isSleep(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Sleep" {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "time"
}
