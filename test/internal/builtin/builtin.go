// Package builtin runs one controller of kube-controller-manager as a process that tests start and kill: the Job
// controller or the CronJob controller.
//
// The process handles all namespaces. So tests that share a control plane may run at the same time only if all of them
// want this controller.
//
// # Concurrency
//
// A Controller belongs to one goroutine.
package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/child"
)

// User is the name of the controller's user in the audit log.
const User = "builtin"

// Controller is a process that can be started and killed. Create it with New.
type Controller struct {
	program, kubeconfig, output string
	controller                  string // name of the controller in kube-controller-manager

	pid   int // process ID; 0 while it does not run
	ended <-chan error
}

// New prepares the built-in Job controller in a control plane that does not run it: it gives the controller its rights.
// The process writes its output into dir.
func New(ctx context.Context, cp *controlplane.ControlPlane, dir string) (*Controller, error) {
	return newOf(ctx, cp, dir, "job-controller")
}

// NewCronJobs prepares the built-in CronJob controller in a control plane that does not run it, as New does for the Job
// controller. It does not run the Jobs of CronJobs.
func NewCronJobs(ctx context.Context, cp *controlplane.ControlPlane, dir string) (*Controller, error) {
	return newOf(ctx, cp, dir, "cronjob-controller")
}

func newOf(ctx context.Context, cp *controlplane.ControlPlane, dir, controller string) (*Controller, error) {
	config, err := cp.UserConfig(User)
	if err != nil {
		return nil, err
	}
	c := &Controller{
		program: cp.Program(binaries.ControllerManager), kubeconfig: filepath.Join(dir, User+".kubeconfig"),
		output: filepath.Join(dir, User+".txt"), controller: controller,
	}
	if err := controlplane.WriteKubeconfig(config, c.kubeconfig); err != nil {
		return nil, err
	}
	return c, cp.Bind(ctx, User, "system:controller:"+controller)
}

// Launch starts the process and returns at once.
func (c *Controller) Launch() error {
	if c.pid != 0 {
		return errors.New("start the built-in controller: it runs already")
	}
	out, err := os.OpenFile(c.output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("start the built-in controller: %w", err)
	}
	defer out.Close() // the child process keeps its own copy open
	cmd := exec.Command(c.program,
		"--kubeconfig="+c.kubeconfig, "--controllers="+c.controller, "--leader-elect=false", "--secure-port=0",
		"--use-service-account-credentials=false", "--kube-api-qps=1000", "--kube-api-burst=2000", "--profiling=false")
	cmd.Stdout, cmd.Stderr = out, out
	ended, err := child.Start(cmd)
	if err != nil {
		return fmt.Errorf("start the built-in controller: %w", err)
	}
	c.pid, c.ended = cmd.Process.Pid, ended
	return nil
}

// Kill kills the process by SIGKILL and returns when it has ended. It returns an error if the process had already
// ended.
func (c *Controller) Kill() error {
	if c.pid == 0 {
		return nil
	}
	select {
	case err := <-c.ended:
		c.pid = 0
		return errors.Join(fmt.Errorf("the built-in controller ended by itself; what it said is in %s", c.output), err)
	default:
	}
	if err := child.Signal(c.pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill the built-in controller: %w", err)
	}
	if err := <-c.ended; err == nil {
		return errors.New("the built-in controller ended by itself before it was killed")
	}
	c.pid = 0
	return nil
}
