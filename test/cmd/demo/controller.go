package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/jobledger/jobledger/test/internal/child"
)

// controller is a running process of "jobledger run".
type controller struct {
	pid      int
	server   string // URL at which it answers readers
	messages string // path of the file with its log messages
	ended    chan struct{}
	err      error // error with which it ended; set before ended is closed
	asked    bool  // stop was called, so the end is no error
}

const (
	readyWithin = 2 * time.Minute
	stopsWithin = 40 * time.Second // the controller's own limit is 20 s
)

// startController starts the controller on the log and returns when it is ready.
func (d *demo) startController(ctx context.Context, flags ...string) (*controller, error) {
	args := []string{"run", "--log", d.logDir(), "--kubeconfig", d.kubeconfig(), "--listen", "127.0.0.1:0",
		"--nats-embedded", "--nats-listen", "127.0.0.1:0"}
	args = append(args, flags...)
	d.typed(args)
	c := &controller{messages: filepath.Join(d.dir, messagesName), ended: make(chan struct{})}
	out, err := os.OpenFile(c.messages, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the child process keeps its own copy open
	cmd := d.command(args)
	cmd.Stdout, cmd.Stderr = out, out
	ended, err := child.Start(cmd)
	if err != nil {
		return nil, fmt.Errorf("start the controller: %w", err)
	}
	c.pid = cmd.Process.Pid
	go func() { // this goroutine ends when the process ends
		c.err = <-ended
		close(c.ended)
	}()
	if err := c.awaitReady(ctx, d.logDir()); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	d.say("It is ready, and answers readers at %s.", c.server)
	return c, nil
}

// awaitReady returns when the controller has written its address into the log's directory, and answers there that it is
// ready.
func (c *controller) awaitReady(ctx context.Context, logDir string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, fmt.Errorf("the controller was not ready within %s", readyWithin))
	defer cancel()
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		select {
		case <-c.ended:
			return false, c.failure()
		default:
		}
		text, err := os.ReadFile(filepath.Join(logDir, "SERVER"))
		if c.server = strings.TrimSpace(string(text)); err != nil || c.server == "" {
			return false, nil
		}
		return ready(ctx, c.server), nil
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w; the end of what it said:\n%s", context.Cause(ctx), lastLines(c.messages))
	}
	return err
}

func ready(ctx context.Context, server string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// stop sends SIGTERM to the controller, and returns when it has ended. An unexpected end is an error, which only the
// first call returns.
func (c *controller) stop() error {
	select {
	case <-c.ended:
		if c.asked {
			return nil // an earlier call has already returned the error
		}
		return c.failure()
	default:
	}
	c.asked = true
	if err := child.Signal(c.pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop the controller (pid %d): %w", c.pid, err)
	}
	select {
	case <-c.ended:
	case <-time.After(stopsWithin):
		err := child.Signal(c.pid, syscall.SIGKILL)
		<-c.ended
		return errors.Join(fmt.Errorf("the controller did not stop within %s of SIGTERM, and was killed", stopsWithin), err)
	}
	if c.err != nil {
		return c.failure()
	}
	return c.checkRights()
}

// checkRights returns an error if the API server refused a request of the controller because a right is missing.
func (c *controller) checkRights() error {
	text, err := os.ReadFile(c.messages)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "forbidden") {
			return fmt.Errorf("the ClusterRoles of deploy/ lack a right: %s", strings.TrimSpace(line))
		}
	}
	return nil
}

// failure returns an error that says with which status the controller ended, and its last messages.
func (c *controller) failure() error {
	how := "exit status 0"
	if c.err != nil {
		how = c.err.Error()
	}
	return fmt.Errorf("the controller ended (%s); the end of what it said:\n%s", how, lastLines(c.messages))
}

// lastLines returns the last lines of a file.
func lastLines(path string) string {
	const most = 20
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

// command returns a command that runs jobledger with these arguments, at the root of the repository.
func (d *demo) command(args []string) *exec.Cmd {
	cmd := exec.Command(d.binary, args...)
	cmd.Dir = d.root
	return cmd
}

// typed prints a command line as a user would type it: with $DEMO in place of the demo's directory.
func (d *demo) typed(args []string) {
	const width = 96
	line := "$ " + program
	for _, arg := range args {
		arg = strings.ReplaceAll(arg, d.dir, "$DEMO")
		if len(line)+1+len(arg) > width {
			d.say("%s \\", line)
			line = "   "
		}
		line += " " + arg
	}
	d.say("%s", line)
}
