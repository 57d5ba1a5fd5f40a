package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// stay is a file and the functions that a reader reads in it, before going to the next file.
type stay struct {
	file      string
	functions []string
}

// typedPackage is a package with the objects that its identifiers mean.
type typedPackage struct {
	*types.Package
	fset   *token.FileSet
	uses   map[*ast.Ident]types.Object
	bodies map[types.Object]ast.Node       // of functions, and of variables of the package: tables of functions
	tables map[types.Object]types.Object   // by lookup method: the table of the functions that it returns
	named  map[types.Object][]types.Object // by body: the objects of the package that it names, in order
}

// typed returns all packages of the module without tests, read once for all tests. The types of their imports come from
// the compiler's export data.
func typed(t *testing.T) map[string]*typedPackage {
	t.Helper()
	goFiles(t)
	all, err := loadTyped()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var loadTyped = sync.OnceValues(func() (map[string]*typedPackage, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,DepOnly,Standard", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the module's packages: %w\n%s", err, &stderr)
	}
	exports, sources := map[string]string{}, map[string][]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Export, Dir string
			GoFiles                 []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read the answer of go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if !ours(p.ImportPath) || matches("./proto/...", p.ImportPath) {
			continue
		}
		for _, name := range p.GoFiles {
			sources[p.ImportPath] = append(sources[p.ImportPath], filepath.Join(p.Dir, name))
		}
	}
	fset := token.NewFileSet()
	imported := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	all := map[string]*typedPackage{}
	for importPath, files := range sources {
		if all[importPath], err = check(importPath, files, fset, imported); err != nil {
			return nil, err
		}
	}
	booksOf(all[path("./projector")])
	return all, nil
})

// booksOf notes the table in which the methods of the book of commands, a type of another package, look up functions.
func booksOf(p *typedPackage) {
	book, _, _ := types.LookupFieldOrMethod(types.NewPointer(p.Scope().Lookup("Job").Type()), true, p.Package, "book")
	for _, name := range []string{"Decide", "End", "Land", "Restart"} {
		m, _, _ := types.LookupFieldOrMethod(types.NewPointer(book.Type()), true, nil, name)
		p.tables[m.(*types.Func).Origin()] = p.Scope().Lookup("jobRows")
	}
}

func check(importPath string, names []string, fset *token.FileSet, imported types.Importer) (*typedPackage, error) {
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: imported}
	checked, err := config.Check(importPath, fset, files, &info)
	if err != nil {
		return nil, err
	}
	p := &typedPackage{Package: checked, fset: fset, uses: info.Uses, bodies: map[types.Object]ast.Node{},
		tables: map[types.Object]types.Object{}, named: map[types.Object][]types.Object{}}
	for _, file := range files {
		for _, decl := range file.Decls {
			p.takeBodies(decl, info.Defs)
		}
	}
	return p, nil
}

func (p *typedPackage) takeBodies(decl ast.Decl, defs map[*ast.Ident]types.Object) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Body != nil && defs[d.Name] != nil {
			p.bodies[defs[d.Name]] = d.Body
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR && len(v.Names) == len(v.Values) {
				for i, name := range v.Names {
					p.bodies[defs[name]] = v.Values[i]
				}
			}
		}
	}
}

// walk returns the way of a reader who starts at a function and follows each call.
func (p *typedPackage) walk(from types.Object) []stay {
	var way []stay
	read := map[types.Object]bool{}
	var visit func(o types.Object)
	visit = func(o types.Object) {
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
		for _, o := range p.names(o, body) {
			visit(o)
		}
	}
	visit(from)
	return way
}

// names returns the functions and tables that a body names, in calls or as values.
func (p *typedPackage) names(of types.Object, body ast.Node) []types.Object {
	if named, ok := p.named[of]; ok {
		return named
	}
	named := []types.Object{}
	ast.Inspect(body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o := p.uses[id]
		if f, ok := o.(*types.Func); ok {
			o = f.Origin()
		}
		if p.bodies[o] != nil || p.tables[o] != nil {
			named = append(named, o)
		}
		return true
	})
	p.named[of] = named
	return named
}
