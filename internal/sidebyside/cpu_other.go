//go:build !unix

package sidebyside

import "time"

var began = time.Now()

// processor is the time since the process began: here nothing better is known.
func processor() time.Duration { return time.Since(began) }
