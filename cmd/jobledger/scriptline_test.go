package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jobledger/jobledger/cmd/cli"
)

// A line "jl get jobs" of a script is executed by the process of the test, and "exec jobledger get jobs" by one of its
// own. A process takes a tenth of a second to set up all that the program is made of, and scripts have some 900 such
// lines. Commands that read a kubeconfig or the time zone of their process, that get signals, or go on in the background
// need a process, and so does a controller.

// directory is held while the process of the test is in the directory of a script. Scripts run side by side.
var directory sync.Mutex

// here executes a command line of a script in this process, and returns its exit code. It has no client of Kubernetes:
// that would read the kubeconfig of whoever runs the tests.
func here(ts *testscript.TestScript, args []string) int {
	directory.Lock()
	defer directory.Unlock()
	before, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(before)) }()
	return execute(context.Background(), &cli.CLI{Out: ts.Stdout(), Err: ts.Stderr(), Getenv: ts.Getenv}, append([]string{"jobledger"}, args...))
}

// line is the command "jl" of scripts.
func line(ts *testscript.TestScript, neg bool, args []string) {
	switch code := here(ts, args); {
	case code == 0 && neg:
		ts.Fatalf("unexpected command success")
	case code != 0 && !neg:
		ts.Fatalf("it ended with %d", code)
	}
}

// exits runs a command that must end with a code: exits CODE jl … in this process, and exits CODE COMMAND … in one of its
// own.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	code := 0
	if args[1] == "jl" {
		code = here(ts, args[2:])
	} else {
		var failed *exec.ExitError
		if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failed) {
			code = failed.ExitCode()
		}
	}
	if args[0] != strconv.Itoa(code) {
		ts.Fatalf("%q ended with %d, not %s", args[1:], code, args[0])
	}
}
