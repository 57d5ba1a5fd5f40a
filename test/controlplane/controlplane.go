package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/test/binaries"
)

// ControlPlane is a running control plane. Start creates it.
type ControlPlane struct {
	opts     Options
	programs binaries.Set
	dir      string
	ca       *authority
	// host, admin and releasePort are set before Start returns, and never change after that.
	host        string
	admin       *rest.Config
	releasePort func() error // releases the reserved port of host; nil if Start failed before it reserved one
	audited     audited

	mu        sync.Mutex
	processes []*process // in the order of their start
	// components that Replace has started from other programs, with these programs
	replaced map[string]binaries.Set
	err      error // error of the first component that ended by itself
	stopped  bool
	done     chan struct{} // closed when err is set, or by Stop
}

// Start builds missing programs, starts a control plane, and returns when it can be used: namespaces have
// ServiceAccounts, and the nodes exist. ctx limits only the start; the control plane runs until Stop. If Start fails,
// it leaves no process, and the error says where the logs are.
func Start(ctx context.Context, opts Options) (*ControlPlane, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	programs, err := binaries.Ensure(ctx, binaries.Config{Dir: opts.BinDir, Minor: opts.Minor, Progress: opts.Progress})
	if err != nil {
		return nil, err
	}
	cp := &ControlPlane{opts: opts, programs: programs, done: make(chan struct{})}
	if cp.ca, err = newAuthority(); err != nil {
		return nil, err
	}
	if err := cp.makeDir(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, opts.Timeout, fmt.Errorf("the control plane was not up within %s", opts.Timeout))
	defer cancel()
	if err := cp.start(ctx); err != nil {
		cp.opts.Keep = true
		return nil, errors.Join(fmt.Errorf("start a control plane: %w\nThe logs are in %s", err, cp.LogDir()), cp.Stop())
	}
	return cp, nil
}

func (cp *ControlPlane) start(ctx context.Context) error {
	if err := cp.startEtcd(); err != nil {
		return err
	}
	if err := cp.startAPIServer(ctx); err != nil {
		return err
	}
	if err := WriteKubeconfig(cp.admin, cp.Kubeconfig()); err != nil {
		return err
	}
	if !cp.opts.Bare {
		if err := cp.startTheRest(ctx); err != nil {
			return err
		}
	}
	for _, p := range cp.processes {
		if !p.running() {
			return p.failure()
		}
		go cp.watch(p)
	}
	return nil
}

// startTheRest starts the components that are needed besides the API server. It returns when pods can be created and
// scheduled.
func (cp *ControlPlane) startTheRest(ctx context.Context) error {
	components := []func() error{cp.startControllerManager, cp.startScheduler}
	if !cp.opts.RealNodes {
		components = append(components, cp.startKwok)
	}
	for _, start := range components {
		if err := start(); err != nil {
			return err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return cp.createNodes(ctx) })
	g.Go(func() error { return cp.awaitServiceAccount(ctx, "default") })
	return g.Wait()
}

// makeDir creates the directory of this control plane and its subdirectories.
func (cp *ControlPlane) makeDir() error {
	if cp.dir = cp.opts.DataDir; cp.dir == "" {
		dir, err := os.MkdirTemp("", "jobledger-controlplane-")
		if err != nil {
			return fmt.Errorf("make a directory for the control plane: %w", err)
		}
		cp.dir = dir
	}
	dir, err := filepath.Abs(cp.dir)
	if err != nil {
		return fmt.Errorf("make a directory for the control plane: %w", err)
	}
	cp.dir = dir
	for _, name := range []string{"etcd", "components", "logs"} {
		// etcd refuses a data directory that other users can read.
		if err := os.MkdirAll(cp.path(name), 0o700); err != nil {
			return fmt.Errorf("make a directory for the control plane: %w", err)
		}
	}
	return nil
}

func (cp *ControlPlane) path(name string) string { return filepath.Join(cp.dir, name) }

// LogDir returns the directory with a log of each component.
func (cp *ControlPlane) LogDir() string { return cp.path("logs") }

// Version returns the version of the running API server, such as v1.37.2.
func (cp *ControlPlane) Version() string {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	return cp.programsLocked(binaries.APIServer).Version(binaries.APIServer)
}

// programsLocked returns the set of programs to which a component belongs.
func (cp *ControlPlane) programsLocked(component string) binaries.Set {
	if s, is := cp.replaced[component]; is {
		return s
	}
	return cp.programs
}

// Done returns a channel that is closed when a component has ended by itself (see Err), or when Stop is called.
func (cp *ControlPlane) Done() <-chan struct{} { return cp.done }

// Err returns the error of the first component that ended by itself. It is nil while all run, and stays nil if all ran
// until Stop.
func (cp *ControlPlane) Err() error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	return cp.err
}

// PIDs returns the process IDs of the components that run.
func (cp *ControlPlane) PIDs() []int {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	var pids []int
	for _, p := range cp.processes {
		if p.running() {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// PID returns the process ID of a program, by its name in package binaries; 0 if it does not run.
func (cp *ControlPlane) PID(program string) int {
	if p := cp.process(program); p != nil && p.running() {
		return p.pid
	}
	return 0
}

// Program returns the path of a program, for callers that run it once more.
func (cp *ControlPlane) Program(name string) string {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	return cp.programsLocked(name).Path(name)
}

// Stop ends all processes. It removes the files of the control plane, except with Keep or if a component ended by
// itself. In that case the error names the component and says where the logs are. A second call does nothing.
func (cp *ControlPlane) Stop() error {
	cp.mu.Lock()
	if cp.stopped {
		cp.mu.Unlock()
		return nil
	}
	cp.stopped = true
	if cp.err == nil {
		close(cp.done)
	}
	processes := slices.Clone(cp.processes)
	for _, p := range processes {
		p.asked = true
	}
	keep, failure := cp.opts.Keep, cp.err
	cp.mu.Unlock()

	var errs []error
	// In reverse order, so that a component ends before those that it needs.
	for _, p := range slices.Backward(processes) {
		errs = append(errs, p.kill())
	}
	if cp.releasePort != nil {
		errs = append(errs, cp.releasePort())
	}
	if failure != nil {
		errs = append(errs, fmt.Errorf("%w\nThe logs are in %s", failure, cp.LogDir()))
	} else if !keep {
		errs = append(errs, os.RemoveAll(cp.dir))
	}
	return errors.Join(errs...)
}

// KeepData makes Stop keep data and logs, like Options.Keep.
func (cp *ControlPlane) KeepData() {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	cp.opts.Keep = true
}

// launch starts a program of the control plane, and adds it to the list of processes.
func (cp *ControlPlane) launch(name string, args ...string) error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	if cp.stopped {
		return fmt.Errorf("start %s: the control plane was stopped", name)
	}
	p, err := launch(name, cp.path(filepath.Join("logs", name+".log")), append([]string{cp.programsLocked(name).Path(name)}, args...)...)
	if err != nil {
		return err
	}
	cp.processes = append(cp.processes, p)
	return nil
}

// watch waits until a process ends. If this is the first component that ended by itself, it stores the error, and
// closes done. A goroutine for each process runs it from the end of Start on; before, each step of Start watches its
// own process.
func (cp *ControlPlane) watch(p *process) {
	<-p.ended
	cp.mu.Lock()
	defer cp.mu.Unlock()
	if p.asked || cp.err != nil || cp.stopped {
		return
	}
	cp.err = p.failure()
	close(cp.done)
}

// process returns the process of a component; nil if there is none.
func (cp *ControlPlane) process(name string) *process {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	for _, p := range cp.processes {
		if p.name == name {
			return p
		}
	}
	return nil
}

// forget removes a process that has ended from the list of processes, so that its component can be started again.
func (cp *ControlPlane) forget(p *process) {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	cp.processes = slices.DeleteFunc(cp.processes, func(q *process) bool { return q == p })
}
