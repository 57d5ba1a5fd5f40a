package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// How far the reader of a fold has to jump. Neither number may grow.
const (
	maxStays   = 38
	maxReturns = 10
)

// TestTheFoldReadsDownhill follows a record through Job.Apply as a reader does: all branches one after the other, each function where
// it is first called, and no function twice. A stay is a visit to a file, which lasts until a function of another file is called. A
// return is a stay in a file that was visited before.
func TestTheFoldReadsDownhill(t *testing.T) {
	p := typed(t, "./projector")
	job := p.Scope().Lookup("Job").Type()
	book, _, _ := types.LookupFieldOrMethod(types.NewPointer(job), true, p.Package, "book")
	for _, name := range []string{"Decide", "End", "Land", "Restart"} {
		p.tables[method(t, book.Type(), name)] = p.Scope().Lookup("jobRows")
	}
	way := p.walk(method(t, job, "Apply"))
	visited := map[string]bool{}
	returns := 0
	for _, s := range way {
		if visited[s.file] {
			returns++
		}
		visited[s.file] = true
		t.Log(s.file, s.functions)
	}
	t.Logf("%d stays, %d returns, in %d files: %v", len(way), returns, len(visited), slices.Sorted(maps.Keys(visited)))
	if len(way) > maxStays || returns > maxReturns {
		t.Errorf("a record through Job.Apply makes %d stays and %d returns, more than %d and %d (run with -v for the way): call downward, "+
			"or put a function into the file that calls it", len(way), returns, maxStays, maxReturns)
	}
}

// stay is a visit to a file, and the functions that are read there.
type stay struct {
	file      string
	functions []string
}

// typedPackage is a package with what its identifiers stand for.
type typedPackage struct {
	*types.Package
	fset   *token.FileSet
	uses   map[*ast.Ident]types.Object
	bodies map[types.Object]ast.Node     // of functions, and of variables of the package: tables of functions
	tables map[types.Object]types.Object // by the method that looks a function up: in which table
}

// typed loads a package, tests apart, with the compiler's export data of what it imports.
func typed(t *testing.T, path string) *typedPackage {
	t.Helper()
	exports, files, fset := map[string]string{}, []*ast.File{}, token.NewFileSet()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,DepOnly", path)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list %s: %v\n%s", path, err, &stderr)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Export, Dir string
			GoFiles                 []string
			DepOnly                 bool
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.DepOnly {
			continue
		}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	checked, err := config.Check(path, fset, files, &info)
	if err != nil {
		t.Fatal(err)
	}
	p := &typedPackage{Package: checked, fset: fset, uses: info.Uses, bodies: map[types.Object]ast.Node{}, tables: map[types.Object]types.Object{}}
	for _, file := range files {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				p.bodies[info.Defs[d.Name]] = d.Body
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR && len(v.Names) == len(v.Values) {
						for i, name := range v.Names {
							p.bodies[info.Defs[name]] = v.Values[i]
						}
					}
				}
			}
		}
	}
	return p
}

// method is the method of that name, which may be of another package.
func method(t *testing.T, of types.Type, name string) types.Object {
	t.Helper()
	m, _, _ := types.LookupFieldOrMethod(types.NewPointer(of), true, nil, name)
	f, ok := m.(*types.Func)
	if !ok {
		t.Fatalf("%s has no method %s", of, name)
	}
	return f.Origin()
}

// walk is the way of a reader from a function on.
func (p *typedPackage) walk(from types.Object) []stay {
	var way []stay
	read := map[types.Object]bool{}
	var visit func(o types.Object)
	visit = func(o types.Object) {
		if f, ok := o.(*types.Func); ok {
			o = f.Origin()
		}
		if table := p.tables[o]; table != nil {
			visit(table)
		}
		body := p.bodies[o]
		if body == nil || read[o] {
			return
		}
		read[o] = true
		file := filepath.Base(p.fset.Position(body.Pos()).Filename)
		if len(way) == 0 || way[len(way)-1].file != file {
			way = append(way, stay{file: file})
		}
		here := &way[len(way)-1]
		here.functions = append(here.functions, o.Name())
		ast.Inspect(body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				visit(p.uses[id])
			}
			return true
		})
	}
	visit(from)
	return way
}
