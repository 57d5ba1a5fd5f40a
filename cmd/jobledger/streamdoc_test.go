package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jobledger/jobledger/internal/dev/patience"
)

// TestStreamDocument runs the commands and the Go program of docs/stream.md, and compares what they print with what it
// says.
func TestStreamDocument(t *testing.T) {
	dir := t.TempDir()
	var script strings.Builder
	var files strings.Builder
	script.WriteString("makelog log\nstreamlog log\n")
	n := 0
	for _, block := range docBlocks(t, "console") {
		for _, command := range strings.Split("\n"+block, "\n$ ")[1:] {
			line, want, _ := strings.Cut(command, "\n")
			n++
			fmt.Fprintf(&script, "exec sh -c '%s'\ncmp stdout want-%d\n", strings.ReplaceAll(line, "'", "''"), n)
			fmt.Fprintf(&files, "-- want-%d --\n%s\n", n, strings.TrimSuffix(want, "\n"))
		}
	}
	if n < 4 {
		t.Fatalf("docs/stream.md has %d commands", n)
	}
	script.WriteString("goprogram $PROGRAM $RECORDS\n")
	if err := os.WriteFile(filepath.Join(dir, "document.txtar"), []byte(script.String()+files.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	program := buildProgram(t, docBlock(t, "go"))
	testscript.Run(t, testscript.Params{
		Dir: dir, RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"makelog": makelog, "streamlog": streamlog, "goprogram": goProgram},
		Setup: func(e *testscript.Env) error {
			e.Setenv("PROGRAM", program)
			return ownState(e)
		},
	})
}

// buildProgram builds a program as if it stood in this module.
func buildProgram(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	source, file := filepath.Join(dir, "source.go"), filepath.Join(dir, "program")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "examples/subscriber-go/main.go"): source}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{source: []byte(text), filepath.Join(dir, "overlay.json"): overlay} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", file, "./examples/subscriber-go")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the Go program of docs/stream.md does not build: %v\n%s", err, out)
	}
	return file
}

// goProgram runs a subscriber until it has printed that many lines, which must be those of the records from 1 on.
func goProgram(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: goprogram FILE LINES")
	}
	cmd := exec.Command(args[0])
	cmd.Env = os.Environ()
	for _, name := range []string{"NATS_URL", "NATS_USER", "NATS_PASSWORD"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	late := time.AfterFunc(patience.Time(), func() { _ = cmd.Process.Kill() }) // it may have ended
	defer late.Stop()
	lines := bufio.NewScanner(out)
	for i := 1; fmt.Sprint(i-1) != args[1]; i++ {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), fmt.Sprintf("%d ", i)) {
			ts.Fatalf("line %d is %q", i, lines.Text())
		}
	}
	ts.Check(cmd.Process.Signal(os.Interrupt))
	ts.Check(cmd.Wait())
}
