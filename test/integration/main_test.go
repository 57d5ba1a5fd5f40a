package integration

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// shared is what all tests use: built and started once.
var shared struct {
	program string
	cp      *controlplane.ControlPlane
}

// atOnce is how many tests run at a time. They mostly wait, for pods and for time to pass, so it does not depend on the
// number of processors.
const atOnce = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", atOnce); err != nil {
			panic(err) // there is no such flag
		}
	}
	os.Exit(withShared(m.Run))
}

// withShared builds the program, starts the control plane, runs, and cleans up.
func withShared(run func() int) (status int) {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "jobledger-integration-")
	if err != nil {
		return fail(err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			status = fail(err)
		}
	}()
	if shared.program, err = controller.Build(context.Background(), dir); err != nil {
		return fail(err)
	}
	if shared.cp, err = controlplane.Start(context.Background(), controlplane.Options{}); err != nil {
		return fail(err)
	}
	status = run()
	if status != 0 {
		shared.cp.KeepData()
		fmt.Fprintln(os.Stderr, "The logs of the control plane are in", shared.cp.LogDir())
	}
	if err := shared.cp.Stop(); err != nil {
		return fail(err)
	}
	return status
}
