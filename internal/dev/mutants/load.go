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

// pkg is a package with its types.
type pkg struct {
	dir   string // such as ./projector
	fset  *token.FileSet
	files []source
	info  *types.Info
}

type source struct {
	path string // absolute
	text []byte
	ast  *ast.File
}

// load reads a package. The types of its imports come from the build cache of the go command.
func load(ctx context.Context, dir string) (*pkg, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,DepOnly", dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	exports := map[string]string{}
	p := &pkg{dir: dir, fset: token.NewFileSet()}
	var path string
	for decoder := json.NewDecoder(out); ; {
		var listed struct {
			ImportPath, Export, Dir string
			GoFiles                 []string
			DepOnly                 bool
		}
		if err := decoder.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[listed.ImportPath] = listed.Export
		if listed.DepOnly {
			continue
		}
		path = listed.ImportPath
		for _, name := range listed.GoFiles {
			if err := p.parse(filepath.Join(listed.Dir, name)); err != nil {
				return nil, err
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	config := types.Config{Importer: importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	files := make([]*ast.File, 0, len(p.files))
	for _, f := range p.files {
		files = append(files, f.ast)
	}
	_, err = config.Check(path, p.fset, files, p.info)
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
