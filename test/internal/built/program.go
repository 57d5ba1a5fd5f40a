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

// Variable is the environment variable with the directory of the jobledger that make test has already built. Without
// it, each of a dozen packages calls go build, which takes over a second of processor time to find that nothing
// changed.
const Variable = "JOBLEDGER_BUILT"

// Program builds the jobledger of this repository into dir, with optional build tags, and returns its path. The build
// uses the root module, and so the dependency versions of a release, not those of the tests. The result stays in
// bin/test, so that the next package need not link it again. If Variable is set and no tags are given, Program only
// copies the binary from that directory.
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

// copyFile copies an executable file, so that a later build cannot change the file that a test is running.
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
