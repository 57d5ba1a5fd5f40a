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

	"github.com/jobledger/jobledger/internal/dev/patience"
)

// parentEnv makes a test act as the parent of the node in that directory.
const parentEnv = "JOBLEDGER_NODE_TEST_PARENT"

// TestAKilledParentLeavesTheMachineAsItWas: the guard resets the kernel settings and removes the cgroups. Here the only
// setting is a file, and the node is a program that waits.
func TestAKilledParentLeavesTheMachineAsItWas(t *testing.T) {
	if dir := os.Getenv(parentEnv); dir != "" {
		playParent(t, dir)
		return
	}
	m := newMachine(t)
	p := m.start("guarded")
	if len(cgroupsOf(t, p.dir)) == 0 {
		t.Fatal("the node has no cgroup")
	}
	write(t, m.setting, "changed\n")
	p.kill()
	m.holds("before\n")
}

// TestNodesShareTheMachine: a second node does not wait for the first, and does not take settings that the first one's
// kubelet has changed for those of the machine. The settings are reset when the last node has ended, in any order. A
// later node reads them anew.
func TestNodesShareTheMachine(t *testing.T) {
	m := newMachine(t)
	one := m.start("one")
	write(t, m.setting, "changed\n")
	two := m.start("two")
	one.kill()
	m.holds("changed\n")
	three := m.start("three")
	two.kill()
	m.holds("changed\n")
	three.kill()
	m.holds("before\n")

	write(t, m.setting, "since then\n")
	four := m.start("four")
	write(t, m.setting, "changed\n")
	four.kill()
	m.holds("since then\n")
}

// TestOneThatDiedBeforeItStoredTheSettings: the next process reads them.
func TestOneThatDiedBeforeItStoredTheSettings(t *testing.T) {
	m := newMachine(t)
	lock, err := os.OpenFile(filepath.Join(m.tmp, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_SH); err != nil { // like a later process that finds the file empty
		t.Fatal(err)
	}
	if kernel, err := next(lock); kernel != nil || err != nil {
		t.Fatalf("an empty file says %v, %v", kernel, err)
	}
	p := m.start("after")
	write(t, m.setting, "changed\n")
	p.kill()
	m.holds("before\n")
}

// machine is a machine with a single kernel setting: a file.
type machine struct {
	t            *testing.T
	tmp, setting string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root makes cgroups")
	}
	tmp := t.TempDir()
	m := &machine{t, tmp, filepath.Join(tmp, "setting")}
	write(t, m.setting, "before\n")
	return m
}

// holds checks the value of the setting.
func (m *machine) holds(want string) {
	m.t.Helper()
	if now, err := os.ReadFile(m.setting); err != nil || string(now) != want {
		m.t.Errorf("the setting is %q, %v, want %q", now, err, want)
	}
}

// parent is a process that acts as the parent of a node.
type parent struct {
	t     *testing.T
	dir   string // of the node
	cmd   *exec.Cmd
	lines *bufio.Reader // output of parent and guard; it ends when both have ended
}

// start starts a parent, and returns when its node exists.
func (m *machine) start(name string) *parent {
	m.t.Helper()
	p := &parent{t: m.t, dir: filepath.Join(m.tmp, fmt.Sprintf("jl-node-%s-%d", name, os.Getpid()))}
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = removeCgroups(cgroupOf(p.dir)) }) // if the guard has not
	exe, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	p.cmd = exec.Command(exe, "-test.run=^TestAKilledParentLeavesTheMachineAsItWas$", "-test.v")
	p.cmd.Env = append(without(os.Environ(), "JOBLEDGER_LONG=", dirEnv+"="), parentEnv+"="+p.dir, "TMPDIR="+m.tmp)
	p.cmd.Stderr = os.Stderr
	if _, err := p.cmd.StdinPipe(); err != nil { // the parent waits until this is closed
		m.t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // after a failure
	p.lines = bufio.NewReader(stdout)
	for said := ""; said != "ready\n"; {
		if said, err = p.lines.ReadString('\n'); err != nil {
			m.t.Fatalf("the parent is not ready: %v", err)
		}
	}
	return p
}

// kill kills the parent, and returns when its guard has ended, too. Nothing of the node may be left then.
func (p *parent) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { // ends with the guard
		_, err := io.Copy(io.Discard, p.lines)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			p.t.Fatal(err)
		}
	case <-time.After(patience.Time()):
		p.t.Fatal("the guard does not end")
	}
	_ = p.cmd.Wait() // it was killed
	if left := cgroupsOf(p.t, p.dir); len(left) > 0 {
		p.t.Errorf("there are still %v", left)
	}
	if left, err := processesOf(p.dir); err != nil || len(left) > 0 {
		p.t.Errorf("there are still processes %q, %v", left, err)
	}
}

// playParent does the part of outside that concerns the guard.
func playParent(t *testing.T, dir string) {
	t.Helper()
	setting := filepath.Join(os.TempDir(), "setting")
	lock, kernel, err := share(func() (settings, error) {
		value, err := os.ReadFile(setting)
		return settings{setting: string(value)}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	g, err := startGuard(kernel, dir, lock)
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

// without drops the variables that begin with one of these texts.
func without(env []string, begins ...string) []string {
	return slices.DeleteFunc(env, func(v string) bool {
		return slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(v, b) })
	})
}

// cgroupsOf returns the cgroups of the node in that directory.
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
