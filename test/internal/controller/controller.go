package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jobledger/jobledger/test/internal/child"
)

// Config says how to run jobledger for a test. The first four fields are required.
type Config struct {
	Program    string // path of the program; package built makes it
	Kubeconfig string // path of its user's kubeconfig; NewUser makes it
	Namespace  string // the only namespace that it watches; empty: all namespaces
	Dir        string // holds the log, in Dir/log, and the output of each run, in Dir/run-N.txt

	Log    string   // directory of the log, if not Dir/log
	Manage string   // value of --manage; empty: its default
	Args   []string // more arguments of jobledger run
	Env    []string // more environment variables, as NAME=VALUE
}

// Controller is a jobledger that a test can start and stop, again and again. Create it with New.
type Controller struct {
	config Config
	runs   int
	lost   int
	now    *process // the running process; nil while there is none
	URL    string   // address of the read endpoint of the newest run
}

// process is one run of jobledger.
type process struct {
	pid   int
	ended chan struct{} // closed when the process has ended; err is set before that
	err   error
	asked atomic.Bool // Stop or Kill was called, so the end is no failure
	out   string
}

// New returns a controller that does not run yet.
func New(config Config) *Controller { return &Controller{config: config} }

// Log returns the directory of the log.
func (c *Controller) Log() string { return cmp.Or(c.config.Log, filepath.Join(c.config.Dir, "log")) }

// Launch starts the controller and returns at once. env has additional environment variables for this run.
func (c *Controller) Launch(env ...string) error {
	if c.now != nil {
		return errors.New("start jobledger: it runs already")
	}
	c.runs++
	name := c.output(c.runs)
	out, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("start jobledger: %w", err)
	}
	defer out.Close() // the child process keeps its own copy open
	args := []string{
		"run", "--log", c.Log(), "--kubeconfig", c.config.Kubeconfig, "--listen", "127.0.0.1:0", "--log-format", "text",
	}
	if c.config.Namespace != "" {
		args = append(args, "--namespace", c.config.Namespace)
	}
	if c.config.Manage != "" {
		args = append(args, "--manage", c.config.Manage)
	}
	cmd := exec.Command(c.config.Program, append(args, c.config.Args...)...)
	// The program must not get the GOGC of the tests.
	cmd.Env = slices.Concat(os.Environ(), []string{"GOGC="}, c.config.Env, env)
	cmd.Dir = c.config.Dir
	cmd.Stdout, cmd.Stderr = out, out
	ended, err := child.Start(cmd)
	if err != nil {
		return fmt.Errorf("start jobledger: %w", err)
	}
	p := &process{pid: cmd.Process.Pid, ended: make(chan struct{}), out: name}
	go func() { // this goroutine ends when the process ends
		p.err = <-ended
		close(p.ended)
	}()
	c.now = p
	return nil
}

// Start starts the controller and returns when it is ready.
func (c *Controller) Start(ctx context.Context, env ...string) error {
	if err := c.Launch(env...); err != nil {
		return err
	}
	return c.Ready(ctx)
}

// poll is the time between two checks of a condition.
const poll = 10 * time.Millisecond

// Ready returns when the controller reports that it is ready. It returns an error if the controller ends before that.
func (c *Controller) Ready(ctx context.Context) error {
	p := c.now
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		err := c.answers(ctx, p)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("jobledger ended before it was ready: %w\n%s", p.how(), c.tail(p))
		case <-ctx.Done():
			return fmt.Errorf("jobledger is not ready: %w; it ran until %w\n%s", err, context.Cause(ctx), c.tail(p))
		case <-tick.C:
		}
	}
}

// answers returns nil if the process p reports that it is ready, otherwise why it is not. The address file in the
// log's directory may be of an earlier process, so it compares the process ID in the answer with p's.
func (c *Controller) answers(ctx context.Context, p *process) error {
	text, err := os.ReadFile(filepath.Join(c.Log(), "SERVER"))
	if err != nil {
		return err
	}
	url := strings.TrimSpace(string(text))
	response, err := get(ctx, url+"/v1/log")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var info struct{ PID int }
	if err := json.NewDecoder(response.Body).Decode(&info); err != nil {
		return fmt.Errorf("read whose log is at %s: %w", url, err)
	}
	if info.PID != p.pid {
		return fmt.Errorf("at %s answers process %d, not %d", url, info.PID, p.pid)
	}
	c.URL = url
	ready, err := get(ctx, url+"/readyz")
	if err != nil {
		return err
	}
	ready.Body.Close()
	if ready.StatusCode != http.StatusOK {
		return fmt.Errorf("%s/readyz says %s", url, ready.Status)
	}
	return nil
}

func get(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(request)
}

// how returns how the process ended, as an error. Exit status 0 is an error, too, because a controller must not end
// unasked.
func (p *process) how() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// Running reports whether the process of the newest start still runs.
func (c *Controller) Running() bool {
	if c.now == nil {
		return false
	}
	select {
	case <-c.now.ended:
		return false
	default:
		return true
	}
}

// Ended returns a channel that is closed when the process of the newest start has ended.
func (c *Controller) Ended() <-chan struct{} { return c.now.ended }

// Died returns the error with which the process of the newest start ended by itself. It returns nil while the process
// runs, and if Stop or Kill ended it.
func (c *Controller) Died() error {
	if c.now == nil || c.Running() {
		return nil
	}
	return c.died(c.now)
}

func (c *Controller) died(p *process) error {
	if p.asked.Load() {
		return nil
	}
	return fmt.Errorf("jobledger has ended: %w\n%s", p.how(), c.tail(p))
}

// While returns a context for a test that waits. It ends with ctx, or when the process of the newest start ends by
// itself; its cause then says so.
func (c *Controller) While(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if p := c.now; p != nil {
		go func() { // this goroutine ends when the process or the returned context ends
			select {
			case <-p.ended:
				if err := c.died(p); err != nil {
					cancel(err)
				}
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// Resident returns the resident memory of the process in bytes, as the kernel counts it.
func (c *Controller) Resident() (int64, error) { return c.memory("VmRSS:") }

// Anonymous returns the part of the resident memory that belongs to no file. It does not include the mapped pages of
// the log, which the kernel takes back when it needs memory.
func (c *Controller) Anonymous() (int64, error) { return c.memory("RssAnon:") }

func (c *Controller) memory(field string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.now.pid))
	if err != nil {
		return 0, fmt.Errorf("memory of jobledger: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field); ok {
			var kib int64
			_, err := fmt.Sscan(value, &kib)
			return kib << 10, err
		}
	}
	return 0, errors.New("the kernel does not say how much memory jobledger has")
}

// Failed waits until the process of the newest start has ended by itself, and returns its error; nil for exit status 0.
func (c *Controller) Failed() error {
	p := c.now
	<-p.ended
	c.now = nil
	return p.err
}

// Stop sends SIGTERM and returns when the controller has ended. An exit code other than 0 is an error.
func (c *Controller) Stop(ctx context.Context) error {
	p := c.now
	if p == nil {
		return nil
	}
	p.asked.Store(true)
	if err := syscall.Kill(p.pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop jobledger: %w", err)
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("jobledger does not stop: %w\n%s", context.Cause(ctx), c.tail(p)), c.Kill())
	}
	c.now = nil
	if p.err != nil {
		return fmt.Errorf("jobledger was to stop in good order: %w\n%s", p.err, c.tail(p))
	}
	return nil
}

// Kill kills the process by SIGKILL, and returns when it has ended. It is no error if the process had already ended.
func (c *Controller) Kill() error {
	p := c.now
	if p == nil {
		return nil
	}
	p.asked.Store(true)
	if err := child.Signal(p.pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill jobledger: %w", err)
	}
	<-p.ended
	c.now = nil
	return nil
}

// Pause stops the process by SIGSTOP. It then misses everything until Continue.
func (c *Controller) Pause() error { return c.signal("pause", syscall.SIGSTOP) }

// Continue resumes the process after Pause.
func (c *Controller) Continue() error { return c.signal("continue", syscall.SIGCONT) }

func (c *Controller) signal(what string, s syscall.Signal) error {
	if c.now == nil {
		return fmt.Errorf("%s jobledger: it does not run", what)
	}
	if err := syscall.Kill(c.now.pid, s); err != nil {
		return fmt.Errorf("%s jobledger: %w", what, err)
	}
	return nil
}

// LoseLog moves the log of a stopped controller to another directory, so that the next start finds no log. It returns
// that directory. The Lease still names the lost log (see DropLease).
func (c *Controller) LoseLog() (aside string, err error) {
	c.lost++
	aside = fmt.Sprintf("%s.lost-%d", c.Log(), c.lost)
	if err := os.Rename(c.Log(), aside); err != nil {
		return "", fmt.Errorf("lose the log: %w", err)
	}
	return aside, nil
}

func (c *Controller) output(run int) string {
	return filepath.Join(c.config.Dir, fmt.Sprintf("run-%d.txt", run))
}

// Output returns everything that all runs wrote to their standard output and standard error.
func (c *Controller) Output() (string, error) {
	var all strings.Builder
	for run := 1; run <= c.runs; run++ {
		text, err := os.ReadFile(c.output(run))
		if err != nil {
			return "", fmt.Errorf("read what run %d wrote: %w", run, err)
		}
		all.Write(text)
	}
	return all.String(), nil
}

// NewestOutput returns what the newest run wrote to its standard output and standard error.
func (c *Controller) NewestOutput() (string, error) {
	text, err := os.ReadFile(c.output(c.runs))
	return string(text), err
}

// tail returns the end of what the process has printed.
func (c *Controller) tail(p *process) string {
	text, err := os.ReadFile(p.out)
	if err != nil {
		return err.Error()
	}
	const most = 4096
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return fmt.Sprintf("The end of %s:\n%s", p.out, text)
}
