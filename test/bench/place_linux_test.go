package bench

import (
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jobledger/jobledger/test/internal/child"
)

// TestAProcessStaysOnItsProcessors: the halves share no processor, and a pinned process has exactly its half.
func TestAProcessStaysOnItsProcessors(t *testing.T) {
	server, contender, err := halves()
	if err != nil {
		t.Skip(err)
	}
	for cpu := range 1024 {
		if server.IsSet(cpu) && contender.IsSet(cpu) {
			t.Fatalf("processor %d is in both halves", cpu)
		}
	}
	cmd := exec.Command("sleep", "600")
	ended, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := child.Signal(cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		<-ended //nolint:errcheck // it was killed
	}()
	if err := pin(cmd.Process.Pid, contender); err != nil {
		t.Fatal(err)
	}
	var is unix.CPUSet
	if err := unix.SchedGetaffinity(cmd.Process.Pid, &is); err != nil || is != contender {
		t.Errorf("it runs on %d processors (%v), want the %d of its half", is.Count(), err, contender.Count())
	}
}
