package main

import (
	"fmt"
	"github.com/jobledger/jobledger/cmd/cli"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// TestALogOfAnotherUser: a user without the right to open the lock of a log is told how to read it.
func TestALogOfAnotherUser(t *testing.T) {
	denied := fmt.Errorf("open the lock of the log: %w", &fs.PathError{Op: "open", Path: "/var/lib/jobledger/log/LOCK", Err: syscall.EACCES})
	got := cli.ExplainOpen("/var/lib/jobledger/log", denied).Error()
	for _, says := range []string{"LOCK: permission denied", "sudo -u", "--server URL", "kubectl -n jobledger exec jobledger-0 -- jobledger failures"} {
		if !strings.Contains(got, says) {
			t.Errorf("%q does not say %q", got, says)
		}
	}
}
