//go:build unix && !linux

package child

import "syscall"

// attributes returns the attributes for a child process. Only on Linux can they make the kernel kill the child when its
// parent dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
