// Command cluster runs a control plane to work with: it builds missing programs, starts the control plane, prints how
// to reach it, and stops it at Ctrl-C. With --exec it runs a command with KUBECONFIG set, and ends with the command's
// exit status.
//
//	go run ./cmd/cluster
//	go run ./cmd/cluster --builtin-batch --exec -- ./my-script arguments
//	go run ./cmd/cluster --build
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// Exit statuses of this command itself. The status of a command that it runs is passed on.
const (
	exitFailed = 1
	exitUsage  = 2
)

func run(args []string) int {
	var opts controlplane.Options
	var build, exec bool
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.BoolVar(&build, "build", false, "build the programs if they are missing, and nothing else")
	flags.BoolVar(&exec, "exec", false, "run the command after -- with KUBECONFIG set, then stop and end with its exit status")
	flags.BoolVar(&opts.BuiltinBatch, "builtin-batch", false, "run the built-in job, cronjob and ttl-after-finished controllers")
	flags.IntVar(&opts.Nodes, "nodes", 1, "number of nodes")
	flags.StringVar(&opts.AuditLog, "audit-log", "", "file for the audit log of all writes (default: with the data)")
	flags.StringVar(&opts.DataDir, "data", "", "directory for data, logs and kubeconfig (default: a temporary one)")
	flags.BoolVar(&opts.Keep, "keep", false, "keep the data and the logs")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "Usage: cluster [flags] [--exec -- command args…]\n\nRuns a Kubernetes control plane with simulated nodes until Ctrl-C, or as long as the command.\n\n")
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	case exec != (flags.NArg() > 0):
		fmt.Fprintln(os.Stderr, "cluster: --exec and a command after -- go together")
		return exitUsage
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	status := 0
	if build {
		_, err = binaries.Ensure(ctx, binaries.Config{})
	} else {
		status, err = serve(ctx, opts, flags.Args())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "cluster: %v\n", err)
		status = max(status, exitFailed)
	}
	return status
}

// serve runs a control plane until ctx ends, a component of it ends, or the command ends (if there is one).
func serve(ctx context.Context, opts controlplane.Options, command []string) (status int, err error) {
	if _, err := binaries.Ensure(ctx, binaries.Config{}); err != nil {
		return 0, err
	}
	fmt.Fprintln(os.Stderr, "Starting the control plane …")
	began := time.Now()
	cp, err := controlplane.Start(ctx, opts)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cp.Stop()) }()
	fmt.Fprintf(os.Stderr, "Kubernetes %s is up after %.1f s.\n", cp.Version(), time.Since(began).Seconds())

	if len(command) > 0 {
		return execute(ctx, cp, command)
	}
	explain(os.Stdout, cp, opts)
	select {
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr, "Stopping.")
	case <-cp.Done(): // the control plane has ended by itself; Stop returns why
	}
	return 0, nil
}

// execute runs the command with KUBECONFIG set, and returns its exit status, as a shell would. When ctx ends, it
// sends SIGTERM to the command, because a signal to this process may not have reached the command.
func execute(ctx context.Context, cp *controlplane.ControlPlane, command []string) (int, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+cp.Kubeconfig(), "JOBLEDGER_TEST_LOGS="+cp.LogDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0, err
	}
	if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), nil
	}
	return exit.ExitCode(), nil
}

func explain(w io.Writer, cp *controlplane.ControlPlane, opts controlplane.Options) {
	batch := "Nothing runs its Jobs yet: start jobledger run --manage=all, or this command with --builtin-batch."
	if opts.BuiltinBatch {
		batch = "The built-in controllers run its Jobs."
	}
	fmt.Fprintf(w, `
export KUBECONFIG=%s

%s
Logs are in %s.

Try, in another terminal, with KUBECONFIG set:

    kubectl get nodes
    kubectl create job hello --image=any
    kubectl get jobs,pods -w

Pods do not run anything; they succeed at once, unless annotations on the pod say otherwise:

    sim.jobledger.dev/outcome: fail        (or succeed, run, pending)
    sim.jobledger.dev/exit-code: "3"
    sim.jobledger.dev/run-for: 5s
    sim.jobledger.dev/fail-indexes: "2,5"

Ctrl-C stops everything.
`, cp.Kubeconfig(), batch, cp.LogDir())
}
