package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/cmd/acting"
	"github.com/jobledger/jobledger/cmd/cli"
)

// TestTheReaderAnswers builds the program as 'make reader' does. It answers as the whole program does, and says where
// the commands are that it does not have.
func TestTheReaderAnswers(t *testing.T) {
	program := filepath.Join(t.TempDir(), "jobledger")
	if out, err := exec.Command("go", "build", "-tags", "reader", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the reader: %v\n%s", err, out)
	}
	t.Chdir("../..")
	args := strings.Fields("explain job/etl-orders -n backoff-limit --log examples/incidents/delegated/log")
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := answerOf(t, args); string(out) != want {
		t.Errorf("the reader says:\n%s\nthe whole program:\n%s", out, want)
	}
	for _, cmd := range acting.Commands(&cli.CLI{}) {
		out, err = exec.Command(program, cmd.Name(), "--log", "x").CombinedOutput()
		want := "jobledger: this program only reads logs and has no \"" + cmd.Name() + "\": 'make build' makes the one that has it\n"
		var failed *exec.ExitError
		if !errors.As(err, &failed) || failed.ExitCode() != exitUsage || !strings.HasPrefix(string(out), want) {
			t.Errorf("%q of the reader: %v, %s; want %q", cmd.Name(), err, out, want)
		}
	}
}
