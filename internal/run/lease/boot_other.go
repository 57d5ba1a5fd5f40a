//go:build !linux

package lease

import "time"

var began = time.Now()

// sinceBoot has no such clock here: a suspension of the machine is not seen.
func sinceBoot() time.Duration { return time.Since(began) }
