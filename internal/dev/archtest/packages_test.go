package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/jobledger/jobledger"
	root   = "../../.."
)

// pkg is a package as `go list` describes it, without its tests.
type pkg struct {
	ImportPath string
	Imports    []string // direct
	GoFiles    []string // names within Dir
	Dir        string
	Standard   bool // of the Go distribution
}

// graph holds the root module's packages and all that they import, by import path.
type graph map[string]pkg

// load reads the graph once for all tests of this package.
var load = sync.OnceValues(func() (graph, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,GoFiles,Dir,Standard", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the module's packages: %w\n%s", err, &stderr)
	}
	g := graph{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return g, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the answer of go list: %w", err)
		}
		g[p.ImportPath] = p
	}
})

func packages(t *testing.T) graph {
	t.Helper()
	goFiles(t)
	g, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// goFiles lists the Go files of the tree, including its other modules. It also lets `go test` notice a changed file:
// the test cache does not see files that `go list` reads, but its key includes directories that the test itself opens.
func goFiles(t *testing.T) []string {
	t.Helper()
	return filesOf(t, ".go")
}

// filesOf lists the files of the repository with that extension, of every module.
func filesOf(t *testing.T, ext string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "bin" || name == "testdata"):
			return fs.SkipDir
		case !d.IsDir() && filepath.Ext(name) == ext:
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("walk the tree: %v", err)
	}
	return files
}

// path turns "./store" into the import path of that package of our module, and leaves any other as it is.
func path(name string) string {
	if rest, ok := strings.CutPrefix(name, "./"); ok {
		return strings.TrimSuffix(module+"/"+rest, "/")
	}
	return name
}

// matches implements the Go command's notation: "p" is one package, "p/..." also all packages below it.
func matches(pattern, importPath string) bool {
	pattern = path(pattern)
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return importPath == tree || strings.HasPrefix(importPath, tree+"/")
	}
	return importPath == pattern
}

func matchesAny(patterns []string, importPath string) bool {
	for _, p := range patterns {
		if matches(p, importPath) {
			return true
		}
	}
	return false
}

// ours reports whether a package belongs to the root module.
func ours(importPath string) bool { return matches(module+"/...", importPath) }

// chain returns the shortest chain of imports from a package to a wanted one, both included; nil if there is none. It
// does not follow the imports of Go's own packages: they all reach each other.
func (g graph) chain(from string, wanted func(importPath string) bool) []string {
	cameFrom := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g[queue[0]].Imports {
			if _, seen := cameFrom[next]; seen {
				continue
			}
			cameFrom[next] = queue[0]
			if wanted(next) {
				return walkBack(cameFrom, next)
			}
			if !g[next].Standard {
				queue = append(queue, next)
			}
		}
	}
	return nil
}

func walkBack(cameFrom map[string]string, to string) []string {
	var way []string
	for p := to; p != ""; p = cameFrom[p] {
		way = append([]string{p}, way...)
	}
	return way
}
