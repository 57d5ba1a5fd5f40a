package drive

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// setClock moves the controller's clock by an hour. The clock is then right, an hour fast, or an hour slow.
func (d *Driver) setClock() error {
	step := time.Hour
	if d.offset > 0 || d.offset == 0 && d.rng.IntN(2) == 0 {
		step = -step
	}
	d.offset += step
	d.say("the clock is set by %s", step)
	d.checker.ClockSet(d.offset)
	d.process.Loop.Step(d.now(), events.ClockStepped{Step: step})
	return nil
}
