package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/internal/run/controller"
)

// TestAStopWhileTheLogIsReadIsNoFailure: a log of many records takes a while to fold, and an operator may stop the
// program meanwhile.
func TestAStopWhileTheLogIsReadIsNoFailure(t *testing.T) {
	dir, kubeconfig := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "kubeconfig")
	makeSeason(t, dir, "", 3)
	if err := os.WriteFile(kubeconfig, openKubeconfig("http://127.0.0.1:9"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := assembleRun("--log", dir, "--kubeconfig", kubeconfig, "--leader-elect=false", "--listen=", "--log-format=text")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := controller.Run(ctx, c); err != nil {
		t.Errorf("stopped while the log was read: %v", err)
	}
}
