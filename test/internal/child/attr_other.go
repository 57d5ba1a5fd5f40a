//go:build unix && !linux

package child

import "syscall"

// attributes cannot ask for a signal at the parent's death here; only Linux has one.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
