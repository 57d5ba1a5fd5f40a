//go:build !linux

package loop_test

import "time"

var started = time.Now()

// threadTime is the time that passed, where that of a thread cannot be asked for.
func threadTime() time.Duration { return time.Since(started) }
