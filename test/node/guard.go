//go:build linux

package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// guardEnv is an environment variable. If it is set, this process is the guard, which cleans up after a node.
const guardEnv = "JOBLEDGER_NODE_GUARD"

// lockFD is the guard's file descriptor of the lock file: the first one after standard error.
const lockFD = 3

// guard is a process that restores the machine (cgroups, kernel settings) when the node has ended, or when the parent
// process has died.
type guard struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser // the guard reads its other end, and sees when the parent closes it or dies
}

// task is what the parent process sends to the guard: what the guard must restore.
type task struct {
	Dir    string // directory of the node's files
	Kernel settings
}

// startGuard starts the guard, the process that cleans up after a node. It gets a session of its own, so that Ctrl-C
// and signals to the parent's process group do not reach it. The lock (see share) is released when both processes have
// closed its file.
func startGuard(kernel settings, dir string, lock *os.File) (*guard, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), guardEnv+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{lock} // the guard gets this file as descriptor lockFD
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the guard of the node: %w", err)
	}
	g := &guard{cmd, pipe}
	if err := json.NewEncoder(pipe).Encode(task{dir, kernel}); err != nil {
		return nil, errors.Join(fmt.Errorf("tell the guard of the node its task: %w", err), g.end())
	}
	return g, nil
}

// end tells the guard to restore the machine, and returns when the guard has ended.
func (g *guard) end() error {
	err := g.pipe.Close()
	if failed := g.cmd.Wait(); failed != nil {
		err = errors.Join(err, fmt.Errorf("the guard of the node: %w", failed))
	}
	return err
}

// standGuard runs in the guard process: it waits for the end of the node, and then restores the machine.
func standGuard() error {
	var t task
	in := json.NewDecoder(os.Stdin)
	if err := in.Decode(&t); err != nil {
		// Without a task, the parent died before it started a node, and there is nothing to restore.
		return fmt.Errorf("read the task of the guard: %w", err)
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	// First wait until the node's processes have ended: a kubelet that still runs could change the kernel settings
	// again.
	err := awaitEnd(t.Dir)
	lock := os.NewFile(lockFD, lockName)
	defer lock.Close()
	return errors.Join(err, removeCgroups(cgroupOf(t.Dir)), leave(lock, t.Kernel))
}
