package lease

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns the time since the machine started (CLOCK_BOOTTIME). This clock continues while the machine is
// suspended.
func sinceBoot() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("read CLOCK_BOOTTIME: " + err.Error()) // Linux has it since 2.6.39
	}
	return time.Duration(t.Nano())
}
