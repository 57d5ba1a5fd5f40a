//go:build linux

package soak

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/internal/child"
)

// The states of an alert.
const (
	pending  = "pending"
	firing   = "firing"
	inactive = "inactive"
)

// alerts evaluates the alerts of deploy/ on the metrics of the controller.
type alerts struct {
	target string
	file   string
	said   string
	ended  <-chan error
}

// change is a line of alertwatch's output.
type change struct {
	Time   time.Time
	Alert  string
	Labels map[string]string
	State  string
	Value  float64
}

func watchAlerts(t *testing.T, ctx context.Context, target string) *alerts {
	t.Helper()
	root, err := binaries.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "alertwatch")
	build := exec.CommandContext(ctx, "go", "build", "-tags=remove_all_sd", "-o", program, "./alertwatch")
	build.Dir = filepath.Join(root, "internal", "dev", "tools", "promtool")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build alertwatch: %v\n%s", err, out)
	}
	a := &alerts{target: target, file: filepath.Join(dir, "changes"), said: filepath.Join(dir, "said")}
	out, err := os.Create(a.file)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close() // the child has its own
	said, err := os.Create(a.said)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd := exec.Command(program, "-rules", filepath.Join(root, "deploy", "chart", "monitoring", "alerts.yaml"), "-target", target, "-dir", dir)
	cmd.Stdout, cmd.Stderr = out, said
	if a.ended, err = child.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := child.Signal(cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		if err := <-a.ended; err == nil {
			t.Error("alertwatch has ended by itself")
		}
	})
	return a
}

// changes returns all changes so far.
func (a *alerts) changes(t *testing.T) (all []change) {
	t.Helper()
	select {
	case err := <-a.ended:
		said, _ := os.ReadFile(a.said) // as much as there is
		t.Fatalf("alertwatch ended: %v\n%s", err, said)
	default:
	}
	text, err := os.ReadFile(a.file)
	if err != nil {
		t.Fatal(err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var c change
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// now returns the states of the alerts that are not inactive.
func (a *alerts) now(t *testing.T) map[string]string {
	t.Helper()
	states := map[string]string{}
	for _, c := range a.changes(t) {
		if states[c.Alert] = c.State; c.State == inactive {
			delete(states, c.Alert)
		}
	}
	return states
}

// await waits until an alert is in a state.
func (a *alerts) await(t *testing.T, ctx context.Context, alert, state string) {
	t.Helper()
	eventually(t, ctx, alert+" is "+state, func() error {
		now := a.now(t)[alert]
		if now != state && (now != "" || state != inactive) {
			return fmt.Errorf("it is %q", now)
		}
		return nil
	})
}

// slow is an alert about the last 15 minutes; a short soak ends before it clears.
const slow = "JobledgerOutcomesUnknown"

// clear waits until no alert is active, and reports alerts that should not have fired.
func (a *alerts) clear(t *testing.T, ctx context.Context) {
	t.Helper()
	eventually(t, ctx, "the alerts are over", func() error {
		now := a.now(t)
		delete(now, slow)
		if len(now) > 0 {
			return fmt.Errorf("%v", now)
		}
		return nil
	})
	expected := map[string]bool{"JobledgerStreamBehind": true, "JobledgerDiskFull": true, slow: true}
	var lines []string
	for _, c := range a.changes(t) {
		lines = append(lines, fmt.Sprintf("%s %s %s %v", c.Time.Format(time.TimeOnly), c.Alert, c.State, c.Labels))
		if c.State == firing && !expected[c.Alert] {
			t.Errorf("%s fires: %v", c.Alert, c)
		}
	}
	t.Logf("alerts:\n%s", strings.Join(lines, "\n"))
}
