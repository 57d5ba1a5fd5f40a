package integration

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
)

// TestGangsAreRefusedWhereTheyAreNotMade: a server of this version has other Workloads and PodGroups than those that we make. So
// --gang-scheduling ends with 2 and says which version it needs, and no log is made: no Job gets plain pods without a word (J-239). In
// test/minors gangs are made.
func TestGangsAreRefusedWhereTheyAreNotMade(t *testing.T) {
	t.Parallel()
	cp := controlplane.ForTest(t, controlplane.Options{
		Bare:          true,
		FeatureGates:  map[string]bool{"GenericWorkload": true, "WorkloadWithJob": true},
		RuntimeConfig: map[string]bool{"scheduling.k8s.io/v1beta1": true},
	})
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	log := filepath.Join(t.TempDir(), "log")
	for _, flags := range [][]string{{"--manage=all"}, {"--manage=delegated", "--leader-elect=false"}} {
		args := append([]string{"run", "--gang-scheduling", "--log=" + log, "--kubeconfig=" + cp.Kubeconfig()}, flags...)
		said, err := exec.CommandContext(ctx, shared.Program, args...).CombinedOutput()
		if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Errorf("jobledger %s: %v, want exit status 2\n%s", strings.Join(args, " "), err, said)
		}
		for _, words := range []string{"--gang-scheduling", "Kubernetes 1.36", cp.Version() + " and serves scheduling.k8s.io/v1beta1"} {
			if !strings.Contains(string(said), words) {
				t.Errorf("it does not say %q:\n%s", words, said)
			}
		}
	}
	if _, err := os.Stat(log); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a log: %v", err)
	}
}
