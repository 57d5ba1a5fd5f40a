package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// fact is what one test asserts about a rule, taken from a comment or a table row.
type fact struct {
	file string // path from the repository's root, with slashes
	test string // TestX, or TestX/row
	says string
}

// harvested is what was found in all tests: their assertions about each rule, and complaints about citations (places
// that name rules) that are wrong.
type harvested struct {
	facts      map[string][]fact // by rule, sorted by file and line
	complaints []string
}

func (h *harvested) complain(where, format string, args ...any) {
	h.complaints = append(h.complaints, where+": "+fmt.Sprintf(format, args...))
}

// add stores a citation: what a test asserts about the rules that it names. where is the citation's place, for
// complaints. A citation of less than three words is a complaint.
func (h *harvested) add(where string, c citation, file, test string) {
	if len(strings.Fields(c.says)) < 3 {
		h.complain(where, "%s is cited without what is asserted: write // %[2]s: the fact", test, c.rules[0])
		return
	}
	for _, id := range c.rules {
		f := fact{file: file, test: test, says: c.says}
		if !slices.Contains(h.facts[id], f) {
			h.facts[id] = append(h.facts[id], f)
		}
	}
}

// harvest returns what the tests of the repository assert about rules. It reads Go tests and the scripts under
// testdata.
func harvest(root string) (*harvested, error) {
	tests := map[string][]string{}   // Go files of tests, by directory
	scripts := map[string][]string{} // files under testdata, by the directory that contains testdata
	err := walk(root, func(file string) error {
		dir := path.Dir(file)
		above, _, inTestdata := strings.Cut(file, "/testdata/")
		switch {
		case inTestdata && (strings.HasSuffix(file, ".txt") || strings.HasSuffix(file, ".txtar")):
			scripts[above] = append(scripts[above], file)
		case !inTestdata && strings.HasSuffix(file, "_test.go"):
			tests[dir] = append(tests[dir], file)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	h := &harvested{facts: map[string][]fact{}}
	for _, dir := range slices.Sorted(maps.Keys(tests)) {
		p, err := parsePackage(root, tests[dir])
		if err != nil {
			return nil, err
		}
		for _, f := range p.files {
			h.goFile(p, f)
		}
		for _, file := range scripts[dir] {
			if err := h.script(root, p, dir, file); err != nil {
				return nil, err
			}
		}
	}
	for _, facts := range h.facts {
		slices.SortStableFunc(facts, func(a, b fact) int { return distance(a) - distance(b) })
	}
	return h, nil
}

// distance returns a number by which tests are sorted on the pages: tests of the product first, then tests of the
// simulated cluster, then those of other internal packages.
func distance(f fact) int {
	switch {
	case strings.HasPrefix(f.file, "internal/dev/sim/drive/"):
		return 1
	case strings.HasPrefix(f.file, "internal/"):
		return 2
	}
	return 0
}

// testPackage has the test files of one directory.
type testPackage struct {
	fset  *token.FileSet
	files []*testFile
	decls []*decl
}

type testFile struct {
	name string
	ast  *ast.File
}

// decl is a top-level declaration (function, type, variable) of a test file.
type decl struct {
	names []string
	file  *testFile
	node  ast.Decl
	test  bool
	uses  map[string]bool // every name that occurs in the declaration
	texts []string        // every string literal in the declaration
}

func parsePackage(root string, names []string) (*testPackage, error) {
	p := &testPackage{fset: token.NewFileSet()}
	for _, name := range names {
		parsed, err := parser.ParseFile(p.fset, filepath.Join(root, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		f := &testFile{name: name, ast: parsed}
		p.files = append(p.files, f)
		for _, d := range parsed.Decls {
			p.decls = append(p.decls, newDecl(f, d))
		}
	}
	return p, nil
}

func newDecl(f *testFile, node ast.Decl) *decl {
	d := &decl{file: f, node: node, uses: map[string]bool{}}
	switch n := node.(type) {
	case *ast.FuncDecl:
		d.names = []string{n.Name.Name}
		d.test = n.Recv == nil && (strings.HasPrefix(n.Name.Name, "Test") || strings.HasPrefix(n.Name.Name, "Fuzz")) && n.Name.Name != "TestMain"
	case *ast.GenDecl:
		for _, s := range n.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					d.names = append(d.names, name.Name)
				}
			case *ast.TypeSpec:
				d.names = append(d.names, s.Name.Name)
			}
		}
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			d.uses[n.Name] = true
		case *ast.BasicLit:
			if s, ok := literal(n); ok {
				d.texts = append(d.texts, s)
			}
		}
		return true
	})
	return d
}

// testOf returns the first test that uses the declaration target, directly or through other declarations; nil for
// none. It compares only names, not types. So it may return a test that uses another thing of the same name, but
// never misses one.
func (p *testPackage) testOf(target *decl) *decl {
	if target.test {
		return target
	}
	for _, d := range p.decls {
		if d.test && p.reaches(d, func(r *decl) bool { return r == target }) {
			return d
		}
	}
	return nil
}

// reaches reports whether wanted is true for from, or for a declaration that from uses directly or through others.
// Other tests are not followed.
func (p *testPackage) reaches(from *decl, wanted func(*decl) bool) bool {
	seen := map[*decl]bool{from: true}
	for queue := []*decl{from}; len(queue) > 0; queue = queue[1:] {
		if wanted(queue[0]) {
			return true
		}
		for _, d := range p.decls {
			if !seen[d] && !d.test && slices.ContainsFunc(d.names, func(name string) bool { return queue[0].uses[name] }) {
				seen[d] = true
				queue = append(queue, d)
			}
		}
	}
	return false
}

// declAt returns the declaration that a comment belongs to: the comment stands above it, inside it, or at the end of
// its last line.
func (p *testPackage) declAt(f *testFile, c *ast.CommentGroup) *decl {
	line := p.fset.Position(c.Pos()).Line
	for _, d := range p.decls {
		if d.file != f {
			continue
		}
		from := d.node.Pos()
		if doc := docOf(d.node); doc != nil {
			from = doc.Pos()
		}
		if from <= c.Pos() && (c.Pos() < d.node.End() || line == p.fset.Position(d.node.End()).Line) {
			return d
		}
	}
	return nil
}

func docOf(node ast.Decl) *ast.CommentGroup {
	switch n := node.(type) {
	case *ast.FuncDecl:
		return n.Doc
	case *ast.GenDecl:
		return n.Doc
	}
	return nil
}
