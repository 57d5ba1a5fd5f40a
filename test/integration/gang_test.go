package integration

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
)

// TestGangsAreRefusedWhereTheyCannotBeMade: a server without the gate has no Workloads and PodGroups. So
// --gang-scheduling exits with 2, says what it needs, and makes no log. No Job silently gets plain pods (J-239).
func TestGangsAreRefusedWhereTheyCannotBeMade(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	cp := controlplane.ForTest(t, controlplane.Options{Bare: true})
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	log := filepath.Join(t.TempDir(), "log")
	for _, flags := range [][]string{{"--gang-scheduling", "--manage=all"}, {"--gang-scheduling=asked", "--manage=delegated", "--leader-elect=false"}} {
		args := append([]string{"run", "--log=" + log, "--kubeconfig=" + cp.Kubeconfig()}, flags...)
		said, err := exec.CommandContext(ctx, shared.Program, args...).CombinedOutput()
		if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Errorf("jobledger %s: %v, want exit status 2\n%s", strings.Join(args, " "), err, said)
		}
		for _, words := range []string{"--gang-scheduling", "Kubernetes 1.37 with the feature gate GenericWorkload", cp.Version() + " and serves neither"} {
			if !strings.Contains(string(said), words) {
				t.Errorf("it does not say %q:\n%s", words, said)
			}
		}
	}
	if _, err := os.Stat(log); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a log: %v", err)
	}
}
