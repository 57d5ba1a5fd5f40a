package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts cmd. When the process has ended and its output was copied, the returned channel yields the result of
// cmd.Wait, once. The caller must not call cmd.Wait. Start overwrites cmd.SysProcAttr.
func Start(cmd *exec.Cmd) (<-chan error, error) {
	cmd.SysProcAttr = attributes()
	started := make(chan error)
	ended := make(chan error, 1)
	// The kernel kills the child when the thread that started it ends. So this goroutine keeps its thread until the
	// child has ended, and never unlocks it.
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return ended, nil
}

// Signal sends sig to every process in the group that pid leads. It is no error if the group has ended.
func Signal(pid int, sig syscall.Signal) error {
	if err := syscall.Kill(-pid, sig); err != nil && err != syscall.ESRCH {
		return err
	}
	return nil
}
