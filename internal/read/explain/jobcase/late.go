package jobcase

import (
	"time"

	"github.com/jobledger/jobledger/internal/read/explain"
)

// ClockStep is a jump of our clock.
type ClockStep struct {
	explain.Mark
	By time.Duration
}
