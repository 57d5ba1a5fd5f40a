//go:build !unix

package sidebyside

import "time"

var began = time.Now()

// Processor is the time since the process began: here nothing better is known.
func Processor() time.Duration { return time.Since(began) }
