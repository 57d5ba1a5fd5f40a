package crash

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// What all rows share; set before they run.
var (
	shared  *controlplane.ControlPlane
	admin   kubernetes.Interface
	program string // jobledger, built with failpoints
)

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "3"); err != nil { // a flag on the command line wins: it is read later
		panic(err)
	}
	dir, err := os.MkdirTemp("", "jobledger-crash-")
	if err != nil {
		os.Exit(failed(err))
	}
	code := runAll(m, dir)
	if err := os.RemoveAll(dir); err != nil {
		code = failed(err)
	}
	os.Exit(code)
}

// runAll builds the program into dir, starts the control plane and runs the tests.
func runAll(m *testing.M, dir string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var err error
	if program, err = controller.Build(ctx, dir, "failpoints"); err != nil {
		return failed(err)
	}
	if shared, err = controlplane.Start(ctx, controlplane.Options{}); err != nil {
		return failed(err)
	}
	if admin, err = kubernetes.NewForConfig(shared.RESTConfig()); err != nil {
		return failed(err)
	}
	code := m.Run()
	if code != 0 {
		shared.KeepData()
		fmt.Fprintf(os.Stderr, "The logs of the control plane are in %s\n", shared.LogDir())
	}
	if err := shared.Stop(); err != nil {
		return failed(err)
	}
	return code
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
