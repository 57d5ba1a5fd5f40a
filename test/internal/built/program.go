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

// Variable is the environment variable with the directory of the jobledger that make test has just built. go build
// takes a second of a processor and more to find that there is nothing to do, and a dozen packages ask it.
const Variable = "JOBLEDGER_BUILT"

// Program builds the jobledger of this repository into dir, with build tags if there are any, and returns its path. It
// is built in the root module, so with the versions that a release has, not those of the tests. What was built stays in
// bin/test, where the next package of tests finds it and Go has nothing to link. Where the environment names a
// directory in Variable, the one without tags is there already.
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

// copyFile copies an executable file, so that a build meanwhile does not change what a test runs.
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
