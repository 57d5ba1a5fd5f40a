package bench

import (
	"bytes"
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
	"github.com/jobledger/jobledger/test/internal/controller"
)

// Ours and Builtin are the names of the two contenders, the controllers that are compared. They are also the names of
// their users.
const (
	Ours    = "jobledger"
	Builtin = "builtin"
)

// Observer is the name of a Jobledger that only observes while the built-in controller runs Jobs.
const Observer = "observer"

// contenders lists the compared controllers in the order in which they take turns.
var contenders = []string{Ours, Builtin}

// group is the user group of both contenders. It gives them the priority that controllers have in the API server's flow
// control.
const group = "system:serviceaccounts:kube-system"

// contender is one of the compared controllers (Jobledger, the built-in one), ready to be started.
type contender struct {
	name       string
	program    string
	kubeconfig string
	pin        func(pid int) error // moves the process to processors of its own; nil: it shares those of the server
}

// newContender creates the user of a contender (a compared controller), and gives it the rights that the controller has
// in a cluster. For the built-in controller these are the roles of the Job controller (operations contract, O-041) and
// of the CronJob controller, for Jobledger those of our deployment.
func (b *bench) newContender(ctx context.Context, name, program string) (*contender, error) {
	cp := b.cp
	if name == Builtin {
		program = cp.Program(binaries.ControllerManager)
	}
	c := &contender{name: name, program: program, kubeconfig: filepath.Join(b.dir, name+".kubeconfig"), pin: b.pin}
	config, err := cp.UserConfig(name, group)
	if err != nil {
		return nil, err
	}
	if err := controlplane.WriteKubeconfig(b.line.through(config), c.kubeconfig); err != nil {
		return nil, err
	}
	roles := []func(context.Context, *controlplane.ControlPlane) (string, error){
		named("system:controller:job-controller"), named("system:controller:cronjob-controller"),
	}
	switch name {
	case Ours:
		roles = append(roles[:0], controller.CreateClusterRole, controller.CreateCronJobRole)
	case Observer:
		roles = append(roles[:0], controller.CreateReaderRole)
	}
	for _, create := range roles {
		role, err := create(ctx, cp)
		if err != nil {
			return nil, err
		}
		if err := cp.Bind(ctx, name, role); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// named returns a function that returns role: the name of a ClusterRole that every cluster has, so nothing need be
// created.
func named(role string) func(context.Context, *controlplane.ControlPlane) (string, error) {
	return func(context.Context, *controlplane.ControlPlane) (string, error) { return role, nil }
}

// args returns the command line of a contender (a compared controller) that keeps its state in dir. The built-in runs
// without its limits for requests per second and for concurrent CronJobs; all other settings are the defaults. Both run
// every Job and every CronJob in every namespace. Neither uses a Lease: after a kill the built-in would wait until its
// old Lease expires, and the bench would measure that wait.
func (c *contender) args(dir string) []string {
	if c.name == Builtin {
		return []string{
			"--kubeconfig=" + c.kubeconfig, "--controllers=job-controller,cronjob-controller", "--leader-elect=false", "--secure-port=0",
			"--use-service-account-credentials=false", "--kube-api-qps=10000", "--kube-api-burst=20000", "--profiling=false",
			"--concurrent-cron-job-syncs=100",
		}
	}
	if c.name == Observer {
		return []string{"run", "--kubeconfig", c.kubeconfig, "--log", logIn(dir), "--manage", "observe", "--listen", "", "--log-format", "json"}
	}
	return []string{
		"run", "--kubeconfig", c.kubeconfig, "--log", logIn(dir), "--manage", "all", "--listen", "127.0.0.1:0",
		"--log-format", "json", "--leader-elect=false",
	}
}

func logIn(dir string) string { return filepath.Join(dir, "log") }

// process is one started process of a contender (a compared controller).
type process struct {
	*contender
	pid    int
	output string
	ended  chan struct{}
	err    error // error with which the process ended; set before ended is closed
}

// start starts the contender (a compared controller) with additional flags. It keeps its state in dir.
func (c *contender) start(dir string, flags ...string) (*process, error) {
	out, err := os.OpenFile(filepath.Join(dir, c.name+".txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	defer out.Close() // the child process keeps its own copy open
	cmd := exec.Command(c.program, append(c.args(dir), flags...)...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = out, out
	ended, err := child.Start(cmd)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	p := &process{contender: c, pid: cmd.Process.Pid, output: out.Name(), ended: make(chan struct{})}
	go func() { // this goroutine ends when the process ends
		p.err = <-ended
		close(p.ended)
	}()
	if c.pin != nil {
		if err := c.pin(p.pid); err != nil {
			return nil, errors.Join(err, p.kill())
		}
	}
	return p, nil
}

// kill ends the process at once, with SIGKILL, so that it cannot stop in order.
func (p *process) kill() error {
	if err := child.Signal(p.pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.ended
	return nil
}

// stop sends SIGTERM to the process, and returns when it has ended.
func (p *process) stop(ctx context.Context) error {
	if err := syscall.Kill(p.pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("%s does not stop: %w", p.name, context.Cause(ctx)), p.kill())
	}
	// An error is expected from the built-in controller: it has no orderly stop, so the signal ends it at once.
	if p.err != nil && p.name != Builtin {
		return fmt.Errorf("%s was to stop in good order: %w\n%s", p.name, p.err, p.tail())
	}
	return nil
}

// watch returns a context that ends with ctx, or when the process ends; its cause then says that the process ended.
func (p *process) watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { // this goroutine ends when the process or the context ends
		select {
		case <-p.ended:
			cancel(fmt.Errorf("%s ended by itself (%w)\n%s", p.name, p.err, p.tail()))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// tail returns the last bytes of the process's output.
func (p *process) tail() []byte {
	text, err := os.ReadFile(p.output)
	if err != nil {
		return []byte(err.Error())
	}
	const most = 4096
	if len(text) > most {
		text = text[len(text)-most:]
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return text
}
