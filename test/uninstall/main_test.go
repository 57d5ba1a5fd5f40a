package uninstall

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/test/internal/built"
)

// bin is a directory with jobledger, and with this test binary as kubectl.
var bin string

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "kubectl" {
		if err := kubectl(context.Background(), os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "kubectl:", err)
			os.Exit(1)
		}
		return
	}
	status, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func run(m *testing.M) (int, error) {
	var err error
	if bin, err = os.MkdirTemp("", "jobledger-uninstall-"); err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(bin) }() // it has only a copy
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	if err := os.Symlink(self, filepath.Join(bin, "kubectl")); err != nil {
		return 0, err
	}
	if _, err := built.Program(context.Background(), bin); err != nil {
		return 0, err
	}
	return m.Run(), nil
}
