package loop_test

import (
	"syscall"
	"time"
)

// threadTime is how long the calling thread has computed: what else the machine does is not in it.
func threadTime() time.Duration {
	const ofThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(ofThread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
