package drive

import (
	"errors"
	"time"

	"github.com/jobledger/jobledger/events"
)

// errRestless is the error if, without further faults, the simulated cluster still does not come to rest.
var errRestless = errors.New("the world does not come to rest")

// Settle ends all faults, and runs until nothing happens any more.
func (d *Driver) Settle() error {
	d.client.Faults, d.lapsed = d.policy, false
	clear(d.stalled)
	for range 200_000 {
		busy, err := d.busy()
		if err != nil {
			return err
		}
		if err := d.checker.Check(); err != nil {
			return err
		}
		if busy || d.World.Settle() {
			continue
		}
		if !d.nextMoment() {
			return d.checker.Settled()
		}
	}
	return errRestless
}

// Pass runs for period. The clock moves only to times at which something is due.
func (d *Driver) Pass(period time.Duration) error {
	end := d.World.Clock.Now().Add(period)
	for {
		busy, err := d.busy()
		if err != nil {
			return err
		}
		if err := d.checker.Check(); err != nil {
			return err
		}
		if busy || d.World.Settle() {
			continue
		}
		if err := d.atRest(); err != nil {
			return err
		}
		wake, next := d.wake(), d.World.Clock.Next()
		if (wake == 0 || wake > events.At(end)) && (next == nil || next.Due.After(end)) {
			d.World.Clock.AdvanceTo(end)
			return nil
		}
		d.nextMoment()
	}
}

// busy makes one step of the controller that takes no time. It reports whether there was such a step.
func (d *Driver) busy() (bool, error) {
	for _, step := range []func() (bool, error){d.list, d.watch, d.take, d.turn, d.commit, d.begin, d.land, d.answer} {
		if did, err := step(); did || err != nil {
			return did, err
		}
	}
	return false, nil
}

// nextMoment moves the clock to the next time at which something is due. It returns false if nothing is due any more.
func (d *Driver) nextMoment() bool {
	wake, next := d.wake(), d.World.Clock.Next()
	switch {
	case wake == 0 && next == nil:
		return false
	case next == nil || (wake != 0 && wake < events.At(next.Due)):
		d.World.Clock.AdvanceTo(wake.Go())
		return true
	}
	if what := d.World.Tick(); what != "" {
		d.say("world: %s", what)
	}
	return true
}
