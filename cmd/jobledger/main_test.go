package main

import (
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
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
func TestScripts(t *testing.T) { runScripts(t, ownState, absolute(t, "testdata/script")) }

// TestARacedController runs the script of a whole controller with the program that JOBLEDGER_RACED names. make test
// builds it under the race detector; a race ends it with another exit code than the script wants. This test itself is
// built plain.
func TestARacedController(t *testing.T) {
	program := os.Getenv("JOBLEDGER_RACED")
	if program == "" {
		t.Skip("JOBLEDGER_RACED names no program")
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Fatalf("%s was not built under the race detector", program)
	}
	bin := t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "jobledger")); err != nil {
		t.Fatal(err)
	}
	first := func(e *testscript.Env) error {
		e.Setenv("PATH", bin+string(filepath.ListSeparator)+e.Getenv("PATH"))
		e.Setenv("GORACE", "atexit_sleep_ms=20") // else it waits a second at its end for reports of other threads
		return ownState(e)
	}
	runScripts(t, first, "", absolute(t, "testdata/script/run.txtar"))
}

// runScripts plays the scripts of a directory, or those that are named.
func runScripts(t *testing.T, setup func(*testscript.Env) error, dir string, files ...string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir: dir, Files: files,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"jl": line, "makelog": makelog, "streamlog": streamlog, "damage": damage, "nthfile": nthFile, "holdlog": holdlog, "exits": exits,
			"sealpod": sealPod, "kubeapi": startKubeAPI, "deniedapi": startDeniedAPI, "unauthorizedapi": startUnauthorizedAPI,
			"triggerapi": startTriggerAPI, "bucket": bucket, "cronlog": cronlog, "nightslog": nightslog, "await": await, "awaitoutput": awaitOutput, "probe": probe, "awaitprobe": awaitProbe,
		},
		RequireExplicitExec: true, RequireUniqueNames: true, UpdateScripts: *update, Setup: setup, Condition: condition,
	})
}

// absolute returns the absolute path, which stays right while a line of a script changes the directory.
func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// condition adds a condition for lines of a script: [root].
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
