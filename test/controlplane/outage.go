package controlplane

import (
	"context"
	"fmt"
	"slices"
	"syscall"

	"github.com/jobledger/jobledger/test/binaries"
)

// Interrupt kills a component, given by its name in package binaries, and returns when it has ended. It stays away
// until Resume. This does not count as a failure of the control plane.
func (cp *ControlPlane) Interrupt(component string) error {
	p := cp.process(component)
	if p == nil || !p.running() {
		return fmt.Errorf("interrupt %s: it does not run", component)
	}
	cp.mu.Lock()
	p.asked = true
	cp.mu.Unlock()
	return p.kill()
}

// Freeze pauses a component until Thaw. It accepts connections and requests, but answers none.
func (cp *ControlPlane) Freeze(component string) error {
	return cp.signal("freeze", component, syscall.SIGSTOP)
}

// Thaw continues a component after Freeze. It then answers the clients that still wait.
func (cp *ControlPlane) Thaw(component string) error {
	return cp.signal("thaw", component, syscall.SIGCONT)
}

func (cp *ControlPlane) signal(what, component string, s syscall.Signal) error {
	p := cp.process(component)
	if p == nil || !p.running() {
		return fmt.Errorf("%s %s: it does not run", what, component)
	}
	if err := syscall.Kill(p.pid, s); err != nil {
		return fmt.Errorf("%s %s: %w", what, component, err)
	}
	return nil
}

// Resume starts an interrupted component again, with the same arguments and at the same address. For kube-apiserver and
// etcd it returns when kube-apiserver is ready. Other components may need some more time.
func (cp *ControlPlane) Resume(ctx context.Context, component string) error {
	return cp.ResumeWith(ctx, component)
}

// ResumeWith resumes a component with additional arguments, which override the earlier ones. They also apply to later
// calls.
func (cp *ControlPlane) ResumeWith(ctx context.Context, component string, more ...string) error {
	old := cp.process(component)
	if old == nil || old.running() {
		return fmt.Errorf("resume %s: it was not interrupted", component)
	}
	cp.forget(old)
	if err := cp.launch(component, slices.Concat(old.argv[1:], more)...); err != nil {
		return err
	}
	p := cp.process(component)
	if component == binaries.APIServer || component == binaries.Etcd {
		if err := cp.awaitAPIServer(ctx); err != nil {
			return err
		}
	}
	go cp.watch(p)
	return nil
}
