package built

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jobledger/jobledger/test/binaries"
)

// Variable is the environment variable with the directory of the jobledger that make test has just built. Without it, a
// dozen packages call go build, which takes more than a second of a processor to find that nothing has changed.
const Variable = "JOBLEDGER_BUILT"

// Program builds the jobledger of this repository into dir, with build tags if any are given, and returns its path. It
// is built in the root module, so with the dependency versions of a release, not those of the tests. The result stays
// in bin/test, so that the next package of tests need not link it again. If the environment has Variable and no tags
// are given, Program copies the binary of that directory.
func Program(ctx context.Context, dir string, tags ...string) (string, error) {
	root, err := binaries.FindRoot()
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(filepath.Join(dir, "jobledger"))
	if err != nil {
		return "", fmt.Errorf("build jobledger: %w", err)
	}
	if made := os.Getenv(Variable); made != "" && len(tags) == 0 {
		if err := copyFile(filepath.Join(made, "jobledger"), path); err != nil {
			return "", fmt.Errorf("take the jobledger that was built: %w", err)
		}
		return path, nil
	}
	built := filepath.Join(root, "bin", "test", strings.Join(append([]string{"jobledger"}, tags...), "-"))
	cmd := exec.CommandContext(ctx, "go", "build", "-tags="+strings.Join(tags, ","), "-o", built, "./cmd/jobledger")
	cmd.Dir = root
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build jobledger: %w\n%s", err, &said)
	}
	if err := copyFile(built, path); err != nil {
		return "", fmt.Errorf("build jobledger: %w", err)
	}
	return path, nil
}

// copyFile copies an executable file, so that a later build does not change the copy that a test runs.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
