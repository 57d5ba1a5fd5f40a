package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/jobledger/jobledger/test/binaries"
)

// Backup writes a snapshot of etcd into a file.
func (cp *ControlPlane) Backup(ctx context.Context, file string) error {
	return cp.tool(ctx, binaries.Etcdctl, "--endpoints="+cp.etcdSocket(), "snapshot", "save", file)
}

// Restore replaces the data in etcd by a backup. It does what an operator does: it kills every component, restores the
// data directory of etcd, and starts the components again. Resource versions go back. It returns when the API server is
// ready.
func (cp *ControlPlane) Restore(ctx context.Context, file string) error {
	var running []string
	cp.mu.Lock()
	for _, p := range cp.processes {
		running = append(running, p.name)
	}
	cp.mu.Unlock()
	// In reverse order, so that a component ends before those that it needs.
	for _, name := range slices.Backward(running) {
		if err := cp.Interrupt(name); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(cp.path("etcd")); err != nil {
		return fmt.Errorf("restore a backup of etcd: %w", err)
	}
	if err := cp.tool(ctx, binaries.Etcdutl, "snapshot", "restore", file, "--data-dir="+cp.path("etcd")); err != nil {
		return err
	}
	// Etcd comes first in running, then kube-apiserver, which must be ready before the others start.
	for _, name := range running {
		old := cp.process(name)
		cp.forget(old)
		if err := cp.launch(name, old.argv[1:]...); err != nil {
			return err
		}
		if name == binaries.APIServer {
			if err := cp.awaitAPIServer(ctx); err != nil {
				return err
			}
		}
		go cp.watch(cp.process(name))
	}
	return nil
}

// PrepareBackups builds the programs for Backup and Restore if they are missing. This may take long; the cluster keeps
// running.
func (cp *ControlPlane) PrepareBackups(ctx context.Context) error {
	_, err := binaries.Ensure(ctx, binaries.Config{
		Dir: cp.opts.BinDir, Progress: cp.opts.Progress, Programs: []string{binaries.Etcdctl, binaries.Etcdutl},
	})
	return err
}

// tool runs a program that is not part of the control plane, and waits until it ends.
func (cp *ControlPlane) tool(ctx context.Context, name string, args ...string) error {
	if err := cp.PrepareBackups(ctx); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, cp.programs.Path(name), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
	}
	return nil
}
