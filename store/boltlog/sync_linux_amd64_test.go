package boltlog_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// TestTwoSyncsPerGroup counts the system calls of a process under ptrace, once for few groups and once for many. The
// difference leaves out the cost of opening and closing.
func TestTwoSyncsPerGroup(t *testing.T) {
	const few, many = 20, 220
	const aside = 10 // the head that is noted beside the log now and then costs two syncs, in one of the processes or in both
	a, err := countSyncs(t.TempDir(), few)
	if err != nil {
		t.Skipf("needs to trace a process of its own: %v", err)
	}
	b, err := countSyncs(t.TempDir(), many)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d syncs for %d groups, %d for %d", a, few, b, many)
	if off := b - a - 2*(many-few); off < -aside || off > aside {
		t.Errorf("%d syncs for %d groups more, want 2 a group", b-a, many-few)
	}
}

// countSyncs runs the child and counts its calls of fsync and fdatasync.
func countSyncs(dir string, groups int) (int, error) {
	runtime.LockOSThread() // ptrace belongs to the thread that started the child
	defer runtime.UnlockOSThread()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+dir, groupsEnv+"="+strconv.Itoa(groups))
	child.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := child.Start(); err != nil {
		return 0, err
	}
	pid := child.Process.Pid
	defer func() { _ = child.Process.Kill(); _ = child.Process.Release() }()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return 0, err
	}
	const exitKill, sysGood = 0x100000, 0x1
	if err := syscall.PtraceSetOptions(pid, exitKill|sysGood|syscall.PTRACE_O_TRACECLONE); err != nil {
		return 0, err
	}
	stops := 0 // two for each call: one before it, one after
	for tid, signal := pid, 0; ; {
		if err := syscall.PtraceSyscall(tid, signal); err != nil && err != syscall.ESRCH {
			return 0, err
		}
		var err error
		if tid, err = syscall.Wait4(-1, &status, syscall.WALL, nil); err != nil {
			return 0, err
		}
		signal = 0
		switch {
		case tid == pid && (status.Exited() || status.Signaled()):
			if status.ExitStatus() != 0 {
				return 0, fmt.Errorf("the child ended with %v", status)
			}
			return stops / 2, nil
		case !status.Stopped():
		case status.StopSignal() == syscall.SIGTRAP|0x80:
			var regs syscall.PtraceRegs
			if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
				return 0, err
			}
			if regs.Orig_rax == syscall.SYS_FSYNC || regs.Orig_rax == syscall.SYS_FDATASYNC {
				stops++
			}
		case status.StopSignal() != syscall.SIGTRAP && status.StopSignal() != syscall.SIGSTOP:
			signal = int(status.StopSignal())
		}
	}
}
