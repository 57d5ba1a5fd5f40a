package beside

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/internal/builtin"
	"github.com/jobledger/jobledger/test/internal/suite"
)

var long = effort.IsLong()

var shared suite.Suite

func TestMain(m *testing.M) {
	if !long {
		os.Exit(m.Run())
	}
	most := fmt.Sprint(2 * runtime.GOMAXPROCS(0))           // scenarios mostly wait for others
	if err := flag.Set("test.parallel", most); err != nil { // a flag on the command line wins: it is read later
		panic(err)
	}
	shared.Main(m, suite.Options{})
}

// mode is how Jobledger runs.
type mode struct {
	manage    string  // value of --manage
	managedBy *string // of the Jobs for Jobledger
	builtin   bool    // the built-in Job controller runs the others
}

var modes = []mode{
	{manage: "delegated", managedBy: new(events.ManagedBy), builtin: true},
	{manage: "all"},
}

// scenario is one test, in its own world.
type scenario struct {
	name string
	play func(w *world)
}

// pools are the nodes that flavors and JobSets select, by the label pool.
var pools = []string{"spot", "reserved"}

// TestBeside plays every scenario in every mode. One Kueue and one JobSet run for all of them, as in a cluster.
func TestBeside(t *testing.T) {
	if !long {
		t.Skip("it builds and runs Kueue and JobSet: JOBLEDGER_LONG=1")
	}
	for _, pool := range pools {
		label := func(n *corev1.Node) { n.Labels["pool"] = pool }
		if err := shared.AddNode(t.Context(), pool+"-0", label); err != nil {
			t.Fatal(err)
		}
	}
	startTools(t)
	makeFlavors(t)
	for _, m := range modes {
		t.Run(m.manage, func(t *testing.T) {
			if m.builtin {
				runBuiltin(t)
			}
			for _, tool := range []struct {
				name      string
				scenarios []scenario
			}{{"Kueue", kueueScenarios}, {"JobSet", jobSetScenarios}} {
				for _, s := range tool.scenarios {
					t.Run(tool.name+"/"+s.name, func(t *testing.T) {
						t.Parallel()
						s.play(newWorld(t, m))
					})
				}
			}
		})
	}
}

// runBuiltin runs the built-in Job controller until the end of the test.
func runBuiltin(t *testing.T) {
	t.Helper()
	theirs, err := builtin.New(t.Context(), shared.ControlPlane, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := theirs.Launch(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := theirs.Kill(); err != nil {
			t.Error(err)
		}
	})
}
