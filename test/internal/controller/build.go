package controller

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jobledger/jobledger/test/binaries"
)

// Build builds the jobledger of this repository into dir, with build tags if there are any, and returns its path. It is
// built in the root module, so with the versions that a release has, not those of the tests.
func Build(ctx context.Context, dir string, tags ...string) (string, error) {
	root, err := binaries.FindRoot()
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(filepath.Join(dir, "jobledger"))
	if err != nil {
		return "", fmt.Errorf("build jobledger: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-tags="+strings.Join(tags, ","), "-o", path, "./cmd/jobledger")
	cmd.Dir = root
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build jobledger: %w\n%s", err, &said)
	}
	return path, nil
}
