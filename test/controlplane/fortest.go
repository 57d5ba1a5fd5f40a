package controlplane

import (
	"context"
	"os"
	"testing"
)

// ForTest starts a control plane that runs until the end of the test. If the test fails, data and logs are kept, and
// the test's output says where they are.
//
// To build missing programs can take longer than go test allows for a package. Build them before, with go run
// ./cmd/cluster --build.
func ForTest(t testing.TB, opts Options) *ControlPlane {
	t.Helper()
	if opts.Progress == nil {
		opts.Progress = os.Stderr
	}
	cp, err := Start(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			cp.KeepData()
			t.Logf("The logs of the control plane are in %s", cp.LogDir())
		}
		if err := cp.Stop(); err != nil {
			t.Errorf("stop the control plane: %v", err)
		}
	})
	return cp
}
