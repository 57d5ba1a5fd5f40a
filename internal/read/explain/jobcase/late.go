package jobcase

import (
	"time"

	"github.com/jobledger/jobledger/internal/read/explain"
)

// ClockStep is a jump of the controller's clock, by By.
type ClockStep struct {
	explain.Mark
	By time.Duration
}
