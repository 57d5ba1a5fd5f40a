package drive

import (
	"context"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// cut ends one of the watches, so that the controller must list these objects again.
func (d *Driver) cut() error {
	all := d.resources()
	r := all[d.rng.IntN(len(all))]
	if cursor := d.process.Watches[r]; cursor != nil {
		cursor.Cut()
		d.say("the watch of %s is cut", r)
	}
	return nil
}

// stall makes a watch slow for up to 20 s: in that time only one step in twenty delivers an event. So what the
// controller reads, and the answers to its writes, are newer than the events of the watch.
func (d *Driver) stall() error {
	all := d.resources()
	r := all[d.rng.IntN(len(all))]
	until := d.World.Clock.Now().Add(time.Duration(1+d.rng.IntN(20)) * time.Second)
	d.stalled[r] = events.At(until)
	d.World.Clock.Schedule(until, "the watch of "+r.String()+" goes on", func() {})
	d.say("the watch of %s stalls", r)
	return nil
}

// lapse makes the Lease expire, or makes the controller hold it again.
func (d *Driver) lapse() error {
	d.lapsed = !d.lapsed
	d.say("the Lease has lapsed: %t", d.lapsed)
	return nil
}

// crash kills the process, and starts another one on what is left of the log, or on a new log.
func (d *Driver) crash() error {
	if d.cfg.LoseKey > 0 && d.rng.Float64() < d.cfg.LoseKey {
		d.say("the key is lost")
		d.key[0]++
	}
	if d.rng.Float64() < d.cfg.LoseLog {
		d.say("the log is lost")
		d.checker.LogLost()
		d.newLog()
		return d.boot()
	}
	d.fall()
	return d.boot()
}

// fall kills the process. Its memory is lost, and perhaps also the newest records of the log, if they are not durable.
// Some of its requests in flight reach the server later.
func (d *Driver) fall() {
	for _, call := range d.flying {
		if d.rng.IntN(2) == 0 && !call.Withdrawn {
			d.note(call)
			d.client.FailNext(apiserver.Fault{Kind: apiserver.TimeoutLate, Delay: time.Duration(d.rng.IntN(20)) * time.Second})
			call.Do(context.Background())
			d.say("on its way: %s %s/%s (%s)", events.Describe(call.Task.Command), call.Task.Job.Namespace, call.Task.Job.Name, call.Task.Pod.Name)
		}
	}
	appended, durable := d.log.Batches()
	keep := durable + d.rng.IntN(appended-durable+1)
	d.say("crash; the log keeps %d of %d batches, %d were durable", keep, appended, durable)
	d.log = d.log.Crash(keep)
}

// Crash kills the process now, and starts another one on what is left of the log, or, with the chance of
// Config.LoseLog, on a new log.
func (d *Driver) Crash() error {
	if err := d.crash(); err != nil {
		return err
	}
	return d.checker.Check()
}
