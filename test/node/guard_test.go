//go:build linux

package node

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jobledger/jobledger/internal/patience"
)

// parentEnv makes TestAKilledParentLeavesTheMachineAsItWas play the parent, for the node of that directory.
const parentEnv = "JOBLEDGER_NODE_TEST_PARENT"

// TestAKilledParentLeavesTheMachineAsItWas: the kernel settings are put back, and the cgroups removed. Here the setting is a file, and
// the node is a program that waits.
func TestAKilledParentLeavesTheMachineAsItWas(t *testing.T) {
	if dir := os.Getenv(parentEnv); dir != "" {
		playParent(t, dir)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root makes cgroups")
	}
	dir := filepath.Join(t.TempDir(), fmt.Sprintf("jl-node-guarded-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = removeCgroups(cgroupOf(dir)) }) // where the guard has not
	setting := filepath.Join(dir, "setting")
	write(t, setting, "before\n")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(exe, "-test.run=^TestAKilledParentLeavesTheMachineAsItWas$", "-test.v")
	parent.Env = append(without(os.Environ(), "JOBLEDGER_LONG=", dirEnv+"="), parentEnv+"="+dir, "TMPDIR="+dir)
	parent.Stderr = os.Stderr
	stdin, err := parent.StdinPipe() // it waits until this is closed
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	for said := ""; said != "ready\n"; {
		if said, err = lines.ReadString('\n'); err != nil {
			t.Fatalf("the parent is not ready: %v", err)
		}
	}
	made := cgroupsOf(t, dir)
	if len(made) == 0 {
		t.Fatal("the node has no cgroup")
	}
	write(t, setting, "changed\n")
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed

	lock, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	held := make(chan error, 1)
	go func() { held <- unix.Flock(int(lock.Fd()), unix.LOCK_EX) }() // ends with the guard
	select {
	case err := <-held:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience.Time()):
		t.Fatal("the guard does not end")
	}
	if now, err := os.ReadFile(setting); err != nil || string(now) != "before\n" {
		t.Errorf("the setting is %q, %v", now, err)
	}
	if left := cgroupsOf(t, dir); len(left) > 0 {
		t.Errorf("there are still %v", left)
	}
	if left, err := processesOf(dir); err != nil || len(left) > 0 {
		t.Errorf("there are still processes %q, %v", left, err)
	}
}

// playParent does what outside does, as far as the guard is concerned.
func playParent(t *testing.T, dir string) {
	t.Helper()
	lock, err := lockMachine()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	setting := filepath.Join(dir, "setting")
	before, err := os.ReadFile(setting)
	if err != nil {
		t.Fatal(err)
	}
	g, err := startGuard(settings{kernel: map[string]string{setting: string(before)}}, dir, lock)
	if err != nil {
		t.Fatal(err)
	}
	if err := makeCgroups(cgroupOf(dir) + "/pod"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stdout.WriteString("ready\n"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // it is killed here
	t.Error("the parent was not killed", g.end())
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// without drops the variables that begin so.
func without(env []string, begins ...string) []string {
	return slices.DeleteFunc(env, func(v string) bool {
		return slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(v, b) })
	})
}

// cgroupsOf are the cgroups of the node of a directory.
func cgroupsOf(t *testing.T, dir string) (found []string) {
	t.Helper()
	all, err := hierarchies()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range all {
		if _, err := os.Stat(h + cgroupOf(dir)); err == nil {
			found = append(found, h+cgroupOf(dir))
		}
	}
	return found
}
