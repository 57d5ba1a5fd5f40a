//go:build !linux

package lease

import "time"

var began = time.Now()

// sinceBoot returns the time since this process started. On this system it does not continue while the machine is
// suspended, so a suspension goes unnoticed.
func sinceBoot() time.Duration { return time.Since(began) }
