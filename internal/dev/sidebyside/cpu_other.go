//go:build !unix

package sidebyside

import "time"

var began = time.Now()

// Processor returns the time since the process began: this system has no better measure.
func Processor() time.Duration { return time.Since(began) }
