package main

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// injected is a Go file that is added to each mutated package. It reads the number of the active mutant from the
// environment. Changed code calls its functions to ask whether its mutant is active.
const injected = `package %s

import "os"
import "strconv"
import "slices"
import "sync"

var mutantOn = func() int { n, _ := strconv.Atoi(os.Getenv("MUTANT")); return n }()
var mutantSeen = os.Getenv("MUTANT_SEEN")
var mutantMarked = map[int]bool{}
var mutantMarking sync.Mutex

func mutant(n int) bool {
	if mutantSeen != "" { mutantMark(n) }
	return n == mutantOn
}

func mutantMark(n int) {
	mutantMarking.Lock()
	defer mutantMarking.Unlock()
	if mutantMarked[n] { return }
	mutantMarked[n] = true
	f, err := os.OpenFile(mutantSeen, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil { panic(err) }
	f.WriteString(strconv.Itoa(n) + "\n")
	f.Close()
}

func mutantPick[T any](n int, as, mutated T) T {
	if mutant(n) { return mutated }
	return as
}

func mutantOther[T comparable](n int, as, mutated T) T {
	if as != mutated && mutant(n) { return mutated }
	return as
}

func mutantList[T any](first int, all []T) []T {
	for k := range all {
		if mutant(first + k) { return slices.Delete(all, k, k+1) }
	}
	for k := 1; k < len(all); k++ {
		if mutant(first + len(all) + k - 1) { all[k-1], all[k] = all[k], all[k-1] }
	}
	return all
}
`

// mutate writes the files of all packages into dir, with all mutants in them, and an overlay file with which the go
// command uses these files in place of the original ones.
func mutate(ctx context.Context, dir string, packages []string) (all []*mutant, overlay string, err error) {
	replace := map[string]string{}
	listing, err := list(ctx, packages)
	if err != nil {
		return nil, "", err
	}
	for k, name := range packages {
		p, err := listing.load(name)
		if err != nil {
			return nil, "", err
		}
		for i := range p.files {
			f := &p.files[i]
			w := newWriter(p, f, len(all))
			w.file()
			all = append(all, w.mutants...)
			if err := put(dir, fmt.Sprintf("%d-%s", k, filepath.Base(f.path)), f.path, w.result(), replace); err != nil {
				return nil, "", err
			}
		}
		first := p.files[0]
		added := filepath.Join(filepath.Dir(first.path), "zz_mutant.go")
		text := fmt.Sprintf(injected, first.ast.Name.Name)
		if err := put(dir, fmt.Sprintf("%d-injected.go", k), added, text, replace); err != nil {
			return nil, "", err
		}
	}
	number(all)
	content, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return all, overlay, os.WriteFile(overlay, content, 0o644)
}

func put(dir, name, inPlaceOf, text string, replace map[string]string) error {
	file := filepath.Join(dir, name)
	replace[inPlaceOf] = file
	return os.WriteFile(file, []byte(text), 0o644)
}

// number numbers the mutants that have the same name, so that their names differ.
func number(all []*mutant) {
	same := map[string]int{}
	for _, m := range all {
		m.nth = 1
		same[m.name()]++
	}
	seen := map[string]int{}
	for _, m := range all {
		m.shared = same[m.name()] > 1
	}
	for _, m := range all {
		name := m.name()
		seen[name]++
		m.nth = seen[name]
	}
}

// insertion is a text to insert into a source file at an offset. If several have the same offset, opening texts of
// outer nodes come before those of inner nodes, and closing texts after them.
type insertion struct {
	at    int
	order int
	text  string
}

// writer makes the mutants of one source file: it inserts text into the file, so that all mutants are in one program.
type writer struct {
	pkg      *pkg
	source   *source
	sections sections
	first    int // number of mutants in the files before this one

	mutants  []*mutant
	inserted []insertion
	opened   int
	around   []ast.Node // the statements and clauses around the node that is visited, the outermost first
	function string
	doc      *ast.CommentGroup
}

func newWriter(p *pkg, f *source, first int) *writer {
	return &writer{pkg: p, source: f, first: first, sections: newSections(p, f)}
}

// mutant adds a mutant: the change what at a node. It returns the mutant's number.
func (w *writer) mutant(at ast.Node, what string, args ...any) int {
	line := w.pkg.fset.Position(at.Pos()).Line
	m := &mutant{
		id: w.first + len(w.mutants) + 1, file: filepath.Join(w.pkg.dir, filepath.Base(w.source.path)), line: line,
		pkg: filepath.Clean(w.pkg.dir), function: w.function, what: fmt.Sprintf(what, args...), around: w.surrounding(at),
		section: w.sections.at(line, w.doc),
	}
	w.mutants = append(w.mutants, m)
	return m.id
}

// surrounding returns the first line of the smallest statement or clause around the node, without its comment.
func (w *writer) surrounding(at ast.Node) string {
	for _, n := range slices.Backward(w.around) {
		if n.Pos() < at.Pos() || n.End() > at.End() {
			line, _, _ := strings.Cut(w.text(n), "\n")
			line, _, _ = strings.Cut(line, " //")
			return short(line)
		}
	}
	return "function"
}

// wrap inserts texts before and after a node. If a node is wrapped twice, the second pair is inside the first.
func (w *writer) wrap(n ast.Node, before, after string) {
	w.opened++
	w.inserted = append(w.inserted,
		insertion{w.pkg.offset(n.Pos()), w.opened, before},
		insertion{w.pkg.offset(n.End()), -w.opened, after})
}

func (w *writer) text(n ast.Node) string { return w.pkg.textOf(w.source, n) }

// result returns the text of the file with all insertions. At the same offset, closing texts come before opening ones.
func (w *writer) result() string {
	slices.SortStableFunc(w.inserted, func(a, b insertion) int {
		switch {
		case a.at != b.at:
			return a.at - b.at
		case (a.order < 0) != (b.order < 0):
			return a.order - b.order
		}
		return a.order - b.order
	})
	var out strings.Builder
	done := 0
	for _, i := range w.inserted {
		out.Write(w.source.text[done:i.at])
		out.WriteString(i.text)
		done = i.at
	}
	out.Write(w.source.text[done:])
	return out.String()
}
