package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/test/binaries"
)

// Release is a version of Kubernetes with what its components enable. Each version knows other feature gates and APIs,
// and a component ends if it gets one that it does not know.
type Release struct {
	// Minor is one of binaries.Minors; empty: the version of test/tools.
	Minor         string
	FeatureGates  map[string]bool
	RuntimeConfig map[string]bool // only for kube-apiserver
}

// Replace kills a component, given by its name in package binaries, and starts the same component of another release,
// as an upgrade or a roll-back does. etcd, port, certificates and other arguments stay the same. Missing programs are
// built before the component is killed. For kube-apiserver it returns when the new one is ready.
func (cp *ControlPlane) Replace(ctx context.Context, component string, r Release) error {
	programs, err := binaries.Ensure(ctx, binaries.Config{
		Dir: cp.opts.BinDir, Programs: []string{component}, Minor: r.Minor, Progress: cp.opts.Progress,
	})
	if err != nil {
		return err
	}
	old := cp.process(component)
	if err := cp.Interrupt(component); err != nil {
		return fmt.Errorf("replace %s: %w", component, err)
	}
	cp.mu.Lock()
	if cp.replaced == nil {
		cp.replaced = map[string]binaries.Set{}
	}
	cp.replaced[component] = programs
	old.argv = r.arguments(component, old.argv)
	cp.mu.Unlock()
	return cp.Resume(ctx, component)
}

// arguments returns a component's arguments argv, with the feature gates and API versions of this release in place of
// those in argv.
func (r Release) arguments(component string, argv []string) []string {
	argv = slices.DeleteFunc(slices.Clone(argv), func(a string) bool {
		return strings.HasPrefix(a, gatesFlag) || strings.HasPrefix(a, runtimeFlag)
	})
	argv = append(argv, gatesOf(r.FeatureGates)...)
	if component == binaries.APIServer && len(r.RuntimeConfig) > 0 {
		argv = append(argv, runtimeFlag+switches(r.RuntimeConfig))
	}
	return argv
}
