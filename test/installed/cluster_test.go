//go:build linux

package installed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/node"
)

// sh runs a command line in the root of the repository, as an administrator with kubectl and jobledger would, and
// returns its output. It must succeed.
func sh(t *testing.T, line string) string {
	t.Helper()
	out, err := try(t, line)
	if err != nil {
		t.Fatalf("$ %s\n%s%v", line, out, err)
	}
	return out
}

// timeout matches the longest wait of a command. Tests replace it by a longer one, for busy machines.
var timeout = regexp.MustCompile(`--timeout=[0-9]+[smh]\b`)

// try is sh for a command that may fail.
func try(t *testing.T, line string) (string, error) {
	t.Helper()
	return run(t.Context(), t, line)
}

// run runs a command line like sh, and logs it unless t is nil.
func run(ctx context.Context, t *testing.T, line string) (string, error) {
	line = timeout.ReplaceAllString(line, "--timeout="+patience.Time().String())
	root, err := binaries.FindRoot()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = root
	path := filepath.Dir(plane.Program(binaries.Kubectl)) + ":" + node.Dir() + ":" + os.Getenv("PATH")
	cmd.Env = append(os.Environ(), "PATH="+path, "KUBECONFIG="+plane.Kubeconfig(), "HOME="+node.Dir())
	out, err := cmd.CombinedOutput()
	if t != nil {
		t.Helper()
		t.Logf("$ %s\n%s", line, out)
	}
	return string(out), err
}

// eventually waits until done returns true. An error of done ends the test.
func eventually(t *testing.T, what string, done func() (bool, error)) {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	if err := patience.Until(ctx, 200*time.Millisecond, nil, done); err != nil {
		t.Fatalf("wait until %s: %v", what, err)
	}
}

// file returns the path of a file in the directory of the node.
func file(name string) string { return filepath.Join(node.Dir(), name) }

// objects returns all objects of the cluster except Events, by kind and name.
func objects(t *testing.T) []string {
	t.Helper()
	kinds := strings.Fields(sh(t, "kubectl api-resources --verbs=list,delete -o name"))
	kinds = slices.DeleteFunc(kinds, func(k string) bool { return strings.HasPrefix(k, "events") })
	var all []string
	for line := range strings.Lines(sh(t, "kubectl get "+strings.Join(kinds, ",")+
		` -A -o go-template='{{range .items}}{{.kind}} {{.metadata.namespace}}/{{.metadata.name}}{{"\n"}}{{end}}' --ignore-not-found`)) {
		all = append(all, strings.TrimSpace(line))
	}
	slices.Sort(all)
	if len(all) < 50 {
		t.Fatalf("%d objects are no cluster", len(all))
	}
	return all
}

// compareObjects reports how the objects of the cluster differ from before.
func compareObjects(t *testing.T, before []string) {
	t.Helper()
	after := objects(t)
	for _, o := range after {
		if !slices.Contains(before, o) {
			t.Errorf("it left %s", o)
		}
	}
	for _, o := range before {
		if !slices.Contains(after, o) {
			t.Errorf("it took %s along", o)
		}
	}
}

// processOf returns the directory in /proc of the process that runs that program.
func processOf(program string) (string, error) {
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return "", err
	}
	for _, dir := range all {
		if words, err := os.ReadFile(dir + "/cmdline"); err == nil && strings.HasPrefix(string(words), program+"\x00") {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no process runs %s", program)
}

// field returns a line of a process's status, such as Uid.
func field(dir, name string) (string, error) {
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.Join(strings.Fields(value), " "), nil
		}
	}
	return "", errors.New("its status has no " + name)
}
