//go:build !linux

package lease

import "time"

var began = time.Now()

// sinceBoot has no such clock on this system, so a suspension of the machine goes unnoticed.
func sinceBoot() time.Duration { return time.Since(began) }
