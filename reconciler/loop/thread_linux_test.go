package loop_test

import (
	"syscall"
	"time"
)

// threadTime is the processor time of the calling thread. Other load on the machine does not change it.
func threadTime() time.Duration {
	const ofThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(ofThread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
