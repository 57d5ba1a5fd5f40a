package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect by what they got")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"jobledger":                  func() { os.Exit(run(os.Args)) },
		"kubectl-jobledger":          func() { os.Exit(run(os.Args)) },
		"kubectl_complete-jobledger": func() { os.Exit(run(os.Args)) },
		smallFilesCommand:            smallFilesMain,
	})
}

// TestScripts runs the command line as it is typed.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"makelog": makelog, "streamlog": streamlog, "damage": damage, "nthfile": nthFile, "holdlog": holdlog, "exits": exits,
			"sealpod": sealPod, "kubeapi": startKubeAPI, "deniedapi": startDeniedAPI, "unauthorizedapi": startUnauthorizedAPI,
			"triggerapi": startTriggerAPI, "cronlog": cronlog, "nightslog": nightslog, "await": await, "awaitoutput": awaitOutput, "probe": probe, "awaitprobe": awaitProbe,
		},
		RequireExplicitExec: true, RequireUniqueNames: true, UpdateScripts: *update, Setup: ownState, Condition: condition,
	})
}

// condition is what a line of a script may ask for beside what testscript knows: [root].
func condition(name string) (bool, error) {
	if name != "root" {
		return false, fmt.Errorf("no such condition: %s", name)
	}
	return os.Geteuid() == 0, nil
}

// ownState gives a script a directory for state of its own. What make mutants says reaches the commands of a script.
func ownState(e *testscript.Env) error {
	e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
	for _, name := range []string{"MUTANT", "MUTANT_SEEN"} {
		e.Setenv(name, os.Getenv(name))
	}
	return nil
}

// exits runs a command that must end with that code: exits CODE COMMAND….
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		code = failed.ExitCode()
	}
	if args[0] != strconv.Itoa(code) {
		ts.Fatalf("%q ended with %d, not %s", args[1:], code, args[0])
	}
}
