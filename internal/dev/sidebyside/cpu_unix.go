//go:build unix

package sidebyside

import (
	"syscall"
	"time"
)

// Processor is the time that this process has spent on processors so far.
func Processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
