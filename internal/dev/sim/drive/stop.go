package drive

import (
	"context"
	"errors"
)

// stop ends the process cleanly, and starts another one.
func (d *Driver) stop() error {
	if err := d.end(); err != nil {
		return err
	}
	return d.boot()
}

// end stops the process cleanly: it withdraws the commands that have not begun, and waits for the answers to the
// others. In one of three stops the answers take too long, and the outcome of some commands stays unknown.
func (d *Driver) end() error {
	d.say("stop")
	d.process.Hand(nil, d.process.Loop.Stop(d.now()))
	d.process.Executor.Halt()
	late := d.rng.IntN(3) == 0
	for did := true; did; {
		did = false
		for _, step := range []func() (bool, error){d.begin, d.land, d.answer, d.turn, d.take} {
			if late && d.rng.IntN(20) == 0 {
				d.say("the stop takes too long")
				return d.over()
			}
			one, err := step()
			if err != nil {
				return err
			}
			did = did || one
		}
		if err := d.checker.Check(); err != nil {
			return err
		}
	}
	if !d.process.Executor.Idle() {
		return errors.New("stopped in good order, and a command has not ended")
	}
	return d.over()
}

// over ends the process. All records of its log become durable, with or without a snapshot (stored state). The next
// process opens the log again.
func (d *Driver) over() (err error) {
	d.log.Commit(1 << 30)
	d.process.Loop.Snapshot()
	if snapshot, ok := d.process.Loop.TakeSnapshot(); ok && d.rng.IntN(2) == 0 {
		err = d.log.SaveSnapshot(context.Background(), snapshot)
	}
	d.log = d.log.Crash(1 << 30)
	return err
}
