//go:build !linux

package loop_test

import "time"

var started = time.Now()

// threadTime is the time since the start, on systems that do not give a thread's processor time.
func threadTime() time.Duration { return time.Since(started) }
