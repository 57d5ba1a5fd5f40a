package archtest

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"go/types"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// renew lowers what is kept to what is measured. What grew stays as it was, and the test fails as before.
var renew = flag.Bool("renew", false, "lower the kept numbers of the ways through the code to today's")

// entries are what a reader begins with most often. None of their numbers may grow; every other way may, by a tenth, as
// long as the sum of all does not. The numbers are kept in waysFile.
var entries = []string{
	"projector World.Apply",
	"projector Job.Apply",
	"internal/subject/cronjob CronJob.Apply",
	"projector/intake Intake.Admit",
	"reconciler/job Decide",
	"reconciler/cron Decide",
	"reconciler/loop Loop.Turn",
	"reconciler/executor Executor.Submit",
	"store/boltlog Open",
	"internal/read/explain/job Case.Answer",
	"internal/read/explain/cron Case.Answer",
	"events/nats Encoder.Encode",
}

const (
	waysFile = "testdata/ways.txt"
	longWay  = 20 // stays; what has fewer is no way that anybody gets lost on
)

// way is how far the reader of an entry has to jump.
type way struct{ stays, returns int }

func (w way) sum() int { return w.stays + w.returns }

// TestTheEntriesReadDownhill follows each function of the product as a reader does: all branches one after the other,
// each function where it is first called, and no function twice. A stay is a visit to a file, which lasts until a
// function of another file is called. A return is a stay in a file that was visited before.
func TestTheEntriesReadDownhill(t *testing.T) {
	found := waysOf(t)
	kept, sum := keptWays(t)
	total := 0
	for _, name := range slices.Sorted(maps.Keys(found)) {
		now, was := found[name], kept[name]
		total += now.sum()
		inTable := slices.Contains(entries, name)
		switch {
		case was == way{} && !inTable: // new; the sum says whether there is room for it
		case inTable && (now.stays > was.stays || now.returns > was.returns), now.sum()*10 > was.sum()*11:
			t.Errorf("who reads %s makes %d stays and %d returns, before %d and %d (%s): call downward, or put a function into the file "+
				"that calls it", name, now.stays, now.returns, was.stays, was.returns, "go test ./internal/dev/archtest -run Way -v -way '"+name+"'")
		}
	}
	for _, name := range entries {
		if found[name] == (way{}) {
			t.Errorf("%s is no function, or the test is blind", name)
		}
	}
	t.Logf("%d ways of more than %d stays, %d stays and returns", len(found), longWay, total)
	if total > sum {
		t.Errorf("the ways of more than %d stays have %d stays and returns in all, before %d", longWay, total, sum)
	}
	if *renew {
		writeWays(t, found, kept, min(total, sum))
	}
}

var shown = flag.String("way", "", "the entry whose way TestWay shows")

// TestWay shows where an entry leads, file by file.
func TestWay(t *testing.T) {
	pkg, entry, ok := strings.Cut(*shown, " ")
	if !ok {
		t.Skip("no -way 'PACKAGE FUNCTION' is given")
	}
	p := typed(t)[path("./"+pkg)]
	for f, name := range p.functions() {
		if name != entry {
			continue
		}
		stays := p.walk(f)
		for _, s := range stays {
			t.Log(s.file, s.functions)
		}
		t.Log(measure(stays))
	}
}

func waysOf(t *testing.T) map[string]way {
	found := map[string]way{}
	for importPath, p := range typed(t) {
		if !ours(importPath) || matches("./internal/dev/...", importPath) || matches("./proto/...", importPath) {
			continue
		}
		pkg := strings.TrimPrefix(importPath, module+"/")
		for f, name := range p.functions() {
			name = pkg + " " + name
			if w := measure(p.walk(f)); w.stays > longWay || slices.Contains(entries, name) {
				found[name] = w
			}
		}
	}
	return found
}

func measure(stays []stay) way {
	visited := map[string]bool{}
	w := way{stays: len(stays)}
	for _, s := range stays {
		if visited[s.file] {
			w.returns++
		}
		visited[s.file] = true
	}
	return w
}

// keptWays are the numbers of the last renewal: the sum in the first line, then a way in each.
func keptWays(t *testing.T) (kept map[string]way, sum int) {
	t.Helper()
	text, err := os.ReadFile(waysFile)
	if err != nil {
		t.Fatal(err)
	}
	kept = map[string]way{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if _, err := fmt.Sscanf(lines.Text(), "sum %d", &sum); err == nil {
			continue
		}
		var pkg, entry string
		var w way
		if _, err := fmt.Sscan(lines.Text(), &w.stays, &w.returns, &pkg, &entry); err != nil {
			t.Fatalf("%s: %q: %v", waysFile, lines.Text(), err)
		}
		kept[pkg+" "+entry] = w
	}
	return kept, sum
}

func writeWays(t *testing.T, found, kept map[string]way, sum int) {
	t.Helper()
	var text bytes.Buffer
	fmt.Fprintf(&text, "sum %d\n", sum)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		w := found[name]
		if was, ok := kept[name]; ok {
			w.stays, w.returns = min(w.stays, was.stays), min(w.returns, was.returns)
		}
		fmt.Fprintf(&text, "%d %d %s\n", w.stays, w.returns, name)
	}
	if err := os.WriteFile(waysFile, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// functions are the functions and methods of a package that have a body, by the name of their receiver's type and
// theirs.
func (p *typedPackage) functions() map[types.Object]string {
	names := map[types.Object]string{}
	for o := range p.bodies {
		f, ok := o.(*types.Func)
		if !ok {
			continue
		}
		name := f.Name()
		if recv := f.Signature().Recv(); recv != nil {
			of := recv.Type()
			if pointer, ok := of.(*types.Pointer); ok {
				of = pointer.Elem()
			}
			if named, ok := of.(*types.Named); ok {
				name = named.Obj().Name() + "." + name
			}
		}
		names[o] = name
	}
	return names
}
