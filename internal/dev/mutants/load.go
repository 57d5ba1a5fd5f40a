package main

import (
	"context"
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
)

// pkg is a Go package, parsed and with its types.
type pkg struct {
	dir   string // directory, such as ./projector
	fset  *token.FileSet
	files []source
	info  *types.Info
}

type source struct {
	path string // absolute path
	text []byte
	ast  *ast.File
}

// listing is the output of "go list": the files of each package, and for each import the file in the build cache with
// its types.
type listing struct {
	packages map[string]listed // by directory
	exports  map[string]string // by import path
}

type listed struct {
	ImportPath, Export, Dir string
	GoFiles                 []string
	DepOnly                 bool
}

// list returns the files of these packages and of all their imports. It calls the go command once for all, because
// each call takes half a second of processor time.
func list(ctx context.Context, packages []string) (*listing, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,DepOnly"}
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	all := &listing{packages: map[string]listed{}, exports: map[string]string{}}
	for decoder := json.NewDecoder(out); ; {
		var x listed
		if err := decoder.Decode(&x); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		all.exports[x.ImportPath] = x.Export
		if !x.DepOnly {
			all.packages[x.Dir] = x
		}
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	return all, nil
}

// load parses the package in dir, which list has listed, and finds its types.
func (l *listing) load(dir string) (*pkg, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	x, is := l.packages[path]
	if !is {
		return nil, fmt.Errorf("%s is no package", dir)
	}
	p := &pkg{dir: dir, fset: token.NewFileSet()}
	for _, name := range x.GoFiles {
		if err := p.parse(filepath.Join(x.Dir, name)); err != nil {
			return nil, err
		}
	}
	config := types.Config{Importer: importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(l.exports[path]) })}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	files := make([]*ast.File, 0, len(p.files))
	for _, f := range p.files {
		files = append(files, f.ast)
	}
	_, err = config.Check(x.ImportPath, p.fset, files, p.info)
	return p, err
}

func (p *pkg) parse(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	parsed, err := parser.ParseFile(p.fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	p.files = append(p.files, source{path: path, text: text, ast: parsed})
	return err
}

// textOf returns the source of a node.
func (p *pkg) textOf(f *source, n ast.Node) string {
	return string(f.text[p.offset(n.Pos()):p.offset(n.End())])
}

func (p *pkg) offset(pos token.Pos) int { return p.fset.Position(pos).Offset }

func (p *pkg) isBool(e ast.Expr) bool {
	t, ok := p.info.Types[e]
	return ok && t.Value == nil && t.Type != nil && types.Identical(types.Default(t.Type), types.Typ[types.Bool])
}

func (p *pkg) isNumber(e ast.Expr) bool { return p.isBasic(e, types.IsNumeric) }

func (p *pkg) isString(e ast.Expr) bool { return p.isBasic(e, types.IsString) }

func (p *pkg) isBasic(e ast.Expr, info types.BasicInfo) bool {
	t, ok := p.info.Types[e]
	if !ok || t.Value != nil || t.Type == nil {
		return false
	}
	basic, ok := t.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&info != 0
}

func (p *pkg) sameType(a, b ast.Expr) bool {
	x, y := p.info.TypeOf(a), p.info.TypeOf(b)
	return x != nil && y != nil && types.Identical(x, y)
}
