package drive

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/reconciler/executor"
)

// resources returns the kinds of objects that the controller watches.
func (d *Driver) resources() []events.Resource {
	if d.cfg.Settings.CronJobs {
		return []events.Resource{events.Jobs, events.Pods, events.CronJobs}
	}
	return []events.Resource{events.Jobs, events.Pods}
}

// noteRun remembers the version of the CronJob on which the controller decided to create or delete a Job. call is the
// API call that does it.
func (d *Driver) noteRun(call *executor.Call) {
	if verb := runVerbs[call.Task.Command.Traits().Kind]; verb != "" {
		d.seen[verb+" "+call.Task.Job.Namespace+"/"+events.RunNameOf(call.Task.Command)] = call.Task.Base
	}
}

// runVerbs maps commands about Jobs of CronJobs to the verbs of their API calls.
var runVerbs = map[events.CommandKind]string{events.CommandCreateJob: "create", events.CommandDeleteRun: "delete"}

// cronSeen returns the version of the CronJob on which a write of a Job was decided, as noteRun remembered it. The
// checker calls it.
func (d *Driver) cronSeen(w apiserver.Write) uint64 { return d.seen[w.Verb+" "+w.Key.String()] }

// longestBackoff is longer than a CronJob ever waits after an error.
const longestBackoff = 20 * time.Minute

// PassCalmly ends all faults, waits until all backoffs are over, and then runs for period. Whenever the controller has
// nothing left to do, it must intend to wake in time for the next due time of each CronJob (C-248).
func (d *Driver) PassCalmly(period time.Duration) error {
	d.client.Faults, d.lapsed = d.policy, false
	if err := d.Pass(longestBackoff); err != nil {
		return err
	}
	d.calm = true
	defer func() { d.calm = false }()
	return d.Pass(period)
}

// atRest checks, when the controller has nothing left to do, that it will wake in time for each CronJob.
func (d *Driver) atRest() error {
	if !d.calm || !d.cfg.Settings.CronJobs {
		return nil
	}
	return d.checker.Pending(d.now().Go(), d.process.Loop.Wake().Go())
}
