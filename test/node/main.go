//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/binaries"
)

// dirEnv is the environment variable by which the parent process tells the child process, which runs the tests, the
// directory of the node's files. If it is set, this process is the child.
const dirEnv = "JOBLEDGER_NODE_DIR"

// errMissing says why this process has no node. The child process, which runs the tests beside a node, sets it to
// nil.
var errMissing = errors.New("with JOBLEDGER_LONG=1 only")

// Prepare creates in dir everything that the tests of a package need besides the node, such as images. It runs in the
// parent process, which has a network.
type Prepare func(ctx context.Context, dir string) error

// Main is the TestMain of a package that needs a node. setUp runs in the child process: it starts what the tests share,
// and returns a function that stops it.
func Main(m *testing.M, prepare Prepare, setUp func(ctx context.Context) (tearDown func() error, err error)) {
	var status int
	var err error
	switch {
	case os.Getenv(guardEnv) != "":
		err = standGuard()
	case !effort.IsLong():
		status = m.Run()
	case os.Getenv(dirEnv) != "":
		status, err = inside(m, setUp)
	default:
		if lacks := ready(); lacks != nil && os.Getenv("CI") == "" {
			errMissing = lacks
			status = m.Run()
			break
		} else if lacks != nil {
			status, err = 1, lacks
			break
		}
		status, err = outside(prepare)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = max(status, 1)
	}
	os.Exit(status)
}

// Need skips the test if this process has no node.
func Need(t testing.TB) {
	t.Helper()
	if errMissing != nil {
		t.Skip(errMissing)
	}
}

// Dir returns the directory that Prepare has filled.
func Dir() string { return os.Getenv(dirEnv) }

// ready installs missing packages. It returns an error if this machine cannot run a node.
func ready() error {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		return errors.New("a real node needs root on Linux")
	}
	if _, err := os.Stat("/sys/fs/cgroup/memory"); err != nil {
		if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err != nil {
			return errors.New("a real node needs cgroups, mounted at /sys/fs/cgroup")
		}
	}
	return install()
}

// outside is what the parent process does: it prepares, runs the tests in a child process, and lets the guard restore
// the machine.
func outside(prepare Prepare) (status int, err error) {
	ctx := context.Background() // no deadline, because builds may take long
	// The name is short, because paths of sockets must be. It ends with n, so that no directory's name is the
	// beginning of another's.
	dir, err := os.MkdirTemp("", "jl-node-*n")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, discard(dir, status == 0 && err == nil)) }()
	programs := slices.Concat(binaries.Cluster, binaries.Node)
	if _, err := binaries.Ensure(ctx, binaries.Config{Programs: programs}); err != nil {
		return 0, err
	}
	if err := makePause(ctx, dir); err != nil {
		return 0, err
	}
	if prepare != nil {
		if err := prepare(ctx, dir); err != nil {
			return 0, err
		}
	}
	lock, kernel, err := share(readKernel)
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	before, err := interfaces()
	if err != nil {
		return 0, err
	}
	guard, err := startGuard(kernel, dir, lock)
	if err != nil {
		return 0, err
	}
	status, err = runChild(dir)
	return status, errors.Join(err, guard.end(), compare(before, dir))
}

// discard removes the directory of a node after the tests. If they failed, it keeps the logs there.
func discard(dir string, passed bool) error {
	if passed {
		return os.RemoveAll(dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != logsDir {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	fmt.Fprintln(os.Stderr, "The logs of the node are in", filepath.Join(dir, logsDir))
	return err
}

// runChild runs this program again as a child process in new namespaces, and returns its exit status. The child, and
// every process in its namespaces, ends with this process.
func runChild(dir string) (int, error) {
	exe, err := os.Executable()
	if err != nil {
		return 0, err
	}
	runtime.LockOSThread() // the kernel kills the child when the thread that started it ends, so keep this thread
	defer runtime.UnlockOSThread()
	cmd := exec.Command(exe, os.Args[1:]...)
	cmd.Env = append(os.Environ(), dirEnv+"="+dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
	}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}

// inside is what the child process does: it sets up its namespaces and runs the tests.
func inside(m *testing.M, setUp func(ctx context.Context) (func() error, error)) (status int, err error) {
	errMissing = nil
	ctx := context.Background()
	if err := enter(ctx); err != nil {
		return 0, err
	}
	tearDown, err := setUp(ctx)
	if err != nil {
		return 0, err
	}
	status = m.Run()
	return status, tearDown()
}

// cgroupOf returns the name of the cgroup for the pods of the node. dir is the node's directory.
func cgroupOf(dir string) string {
	return "/jobledger-" + strings.TrimPrefix(filepath.Base(dir), "jl-")
}

// run runs a program, and returns its output as part of the error if it fails.
func run(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
