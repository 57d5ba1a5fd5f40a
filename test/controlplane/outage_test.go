package controlplane

import (
	"path/filepath"
	"testing"
)

// TestAnInterruptedComponentIsNoFailure: watch may notice the end of a process only after its component was resumed.
func TestAnInterruptedComponentIsNoFailure(t *testing.T) {
	p, err := launch("sleeper", filepath.Join(t.TempDir(), "log"), "/bin/sleep", "3600")
	if err != nil {
		t.Fatal(err)
	}
	cp := &ControlPlane{processes: []*process{p}, done: make(chan struct{})}
	if err := cp.Interrupt("sleeper"); err != nil {
		t.Fatal(err)
	}
	cp.forget(p)
	if cp.watch(p); cp.err != nil {
		t.Error(cp.err)
	}
}
