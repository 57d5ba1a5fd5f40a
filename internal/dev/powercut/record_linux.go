//go:build linux && (amd64 || arm64)

package powercut

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Recorder records the system calls with which processes change a directory, one process after the other. Create it
// with NewRecorder.
type Recorder struct {
	root  string
	trace *Trace
	names map[string]int // identities of the files, by current name
	next  int            // identity of the next new file
	kill  int            // number of steps after which the process is killed; 0 for never

	// State of the running process.
	open    map[int]opened
	threads map[int]*call // calls that have begun and not ended, by thread ID
}

// opened is a file or directory that the process has open.
type opened struct {
	file int
	name string
}

// call is a system call of the process that has begun and not ended.
type call struct {
	number uint64
	args   [6]uint64
	step   int // index of the step that was recorded when the call began; -1 for none
}

// NewRecorder returns a recorder for a directory. The present content of the directory counts as durable.
func NewRecorder(root string) (*Recorder, error) {
	before, err := Read(root)
	if err != nil {
		return nil, err
	}
	r := &Recorder{root: root, names: map[string]int{".": rootFile}, next: rootFile + 1}
	first := map[string]int{}
	for _, name := range before.Dirs {
		first[name] = r.identity()
	}
	for name := range before.Files {
		first[name] = r.identity()
	}
	for name, id := range first {
		r.names[name] = id
	}
	r.trace = &Trace{Before: before, first: first}
	return r, nil
}

func (r *Recorder) identity() int { r.next++; return r.next - 1 }

// KillAfter makes Run kill its process once calls more steps have begun. The next process is not killed.
func (r *Recorder) KillAfter(calls int) { r.kill = len(r.trace.Steps) + calls }

// Trace returns the steps recorded so far.
func (r *Recorder) Trace() *Trace { return r.trace }

// Run runs a command until it ends, and records its calls. Its standard output is recorded as well, and written
// nowhere. Run returns an *ExitError if the exit code is not 0. The command must be a Go program, or make only calls
// that a Go program makes. Calls of its child processes are not recorded.
func (r *Recorder) Run(cmd *exec.Cmd) (err error) {
	runtime.LockOSThread() // only the thread that starts a process can trace it
	defer runtime.UnlockOSThread()
	said, err := os.CreateTemp("", "powercut-stderr")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, said.Close(), os.Remove(said.Name())) }()
	cmd.Stderr = said
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", ErrCannotTrace, err)
	}
	pid := cmd.Process.Pid
	status, err := r.follow(pid)
	if err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL) // an error only says that the process has already ended
		for tid, gone := 0, error(nil); tid != pid && gone == nil; {
			tid, gone = wait(-1, &status) // collect all threads: the main thread, with the number pid, ends last
		}
	}
	_ = cmd.Process.Release() // an error does not matter, because wait has already collected the process
	if err == nil && status.ExitStatus() != 0 {
		content, _ := os.ReadFile(said.Name())
		err = &ExitError{Status: status, Said: string(content)}
	}
	return err
}

// ExitError says that a process ended otherwise than with exit code 0.
type ExitError struct {
	Status syscall.WaitStatus
	Said   string // what it wrote to standard error
}

func (e *ExitError) Error() string {
	if e.Status.Signaled() {
		return fmt.Sprintf("the process was ended by signal %v: %s", e.Status.Signal(), e.Said)
	}
	return fmt.Sprintf("the process ended with code %d: %s", e.Status.ExitStatus(), e.Said)
}

const (
	optionExitKill = 0x100000
	optionSysGood  = 1
	waitNoThread   = 0x20000000 // __WNOTHREAD: only children of this thread, not those of the rest of the program
)

// follow lets the process run from one system call to the next until it ends, and records the calls.
func (r *Recorder) follow(pid int) (status syscall.WaitStatus, err error) {
	r.open, r.threads = map[int]opened{}, map[int]*call{}
	if _, err := wait(pid, &status); err != nil {
		return status, err
	}
	if err := syscall.PtraceSetOptions(pid, optionExitKill|optionSysGood|syscall.PTRACE_O_TRACECLONE); err != nil {
		return status, fmt.Errorf("%w: %w", ErrCannotTrace, err)
	}
	for tid, signal := pid, 0; ; {
		if err := syscall.PtraceSyscall(tid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return status, err
		}
		if tid, err = wait(-1, &status); err != nil {
			return status, err
		}
		signal = 0
		switch {
		case tid == pid && (status.Exited() || status.Signaled()):
			if r.kill > 0 && len(r.trace.Steps) >= r.kill {
				r.kill, status = 0, 0 // KillAfter asked for this kill, so report no failure
			}
			return status, nil
		case !status.Stopped(): // a thread other than the main one has ended
		case status.StopSignal() == syscall.SIGTRAP|0x80:
			if err := r.stopped(tid); err != nil {
				return status, err
			}
			if r.kill > 0 && len(r.trace.Steps) >= r.kill && !r.changing() {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					return status, err
				}
			}
		// SIGTRAP and SIGSTOP are not passed on: they come from ptrace, which stops new threads with SIGSTOP.
		case status.StopSignal() != syscall.SIGTRAP && status.StopSignal() != syscall.SIGSTOP:
			signal = int(status.StopSignal())
		}
	}
}

// changing reports whether a call is running whose effect would be unknown if the process were killed now.
func (r *Recorder) changing() bool {
	for _, c := range r.threads {
		switch c.number {
		case unix.SYS_OPENAT, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
			return true
		}
		if c.step >= 0 && r.trace.Steps[c.step].Kind != Say && r.trace.Steps[c.step].Kind != Sync {
			return true
		}
	}
	return false
}

func wait(pid int, status *syscall.WaitStatus) (int, error) {
	for {
		tid, err := syscall.Wait4(pid, status, syscall.WALL|waitNoThread, nil)
		if !errors.Is(err, syscall.EINTR) {
			return tid, err
		}
	}
}

// callInfo is the kernel's struct ptrace_syscall_info.
type callInfo struct {
	op      uint8
	_       [3]uint8
	_       uint32
	_, _    uint64
	numbers [7]uint64 // at a call's begin: its number and arguments; at its end: its result
}

const (
	getCallInfo = 0x420e // PTRACE_GET_SYSCALL_INFO, since Linux 5.3; the same on every architecture
	callBegins  = 1
	callEnds    = 2
)

// stopped handles a thread that has stopped at the beginning or the end of a system call.
func (r *Recorder) stopped(tid int) error {
	var info callInfo
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, getCallInfo, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	switch {
	case errno == syscall.ESRCH:
		return nil // without information the thread was killed: there is nothing to record
	case errno != 0:
		return fmt.Errorf("%w: %w", ErrCannotTrace, errno)
	case info.op == callBegins:
		c := &call{number: info.numbers[0], args: [6]uint64(info.numbers[1:]), step: -1}
		r.threads[tid] = c
		if err := r.begins(tid, c); err != nil {
			return fmt.Errorf("record call %d of the process: %w", c.number, err)
		}
	case info.op == callEnds:
		c := r.threads[tid]
		delete(r.threads, tid)
		if c == nil {
			return nil // the call began before the recording did: do not record its end
		}
		if err := r.ends(tid, c, int64(info.numbers[0])); err != nil {
			return fmt.Errorf("record call %d of the process: %w", c.number, err)
		}
	}
	return nil
}

// memory returns size bytes of the process's memory, from the address at.
func memory(tid int, at, size uint64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	b := make([]byte, size)
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	n, err := unix.ProcessVMReadv(tid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: int(size)}}, 0)
	if err != nil || uint64(n) != size {
		return nil, fmt.Errorf("%w: read %d bytes of its memory: got %d: %w", ErrCannotTrace, size, n, err)
	}
	return b, nil
}
