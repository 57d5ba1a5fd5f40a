// Command demo shows what Jobledger does. It starts a control plane and a controller, and creates the Jobs of
// examples/. Until the Jobs have ended it shows the controller's records as they are written, and what a subscriber to
// its NATS stream receives. Then it prints the state, the history and the replay of a failed Job, and why it failed. It
// needs bin/jobledger. Its exit status is 0 only if everything happened as expected.
//
//	make demo
//	make demo KEEP=1    leaves everything running until Ctrl-C, and says how to look
//
// Read demo.go first, then expect.go, which says how each Job must end.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/jobledger/jobledger/test/binaries"
)

func main() {
	os.Exit(run())
}

// Exit statuses of the command. An interrupted demo has the one of a shell command that SIGINT ended.
const (
	exitFailed      = 1
	exitInterrupted = 128 + int(syscall.SIGINT)
)

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root, err := binaries.FindRoot()
	if err == nil {
		d := &demo{root: root, binary: filepath.Join(root, program), keep: os.Getenv("KEEP") != "", out: os.Stdout}
		err = d.run(ctx)
	}
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "demo: interrupted; everything is stopped")
		return exitInterrupted
	}
	fmt.Fprintf(os.Stderr, "demo: %v\n", err)
	return exitFailed
}

// program is the path of the program, as a user at the root of the repository types it.
var program = filepath.Join("bin", "jobledger")
