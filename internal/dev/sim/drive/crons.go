package drive

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/reconciler/executor"
)

// resources returns the resources that the controller watches.
func (d *Driver) resources() []events.Resource {
	if d.cfg.Settings.CronJobs {
		return []events.Resource{events.Jobs, events.Pods, events.CronJobs}
	}
	return []events.Resource{events.Jobs, events.Pods}
}

// noteRun remembers on which version of its CronJob the controller decided to create or delete a Job.
func (d *Driver) noteRun(call *executor.Call) {
	if verb := runVerbs[call.Task.Command.Traits().Kind]; verb != "" {
		d.seen[verb+" "+call.Task.Job.Namespace+"/"+events.RunNameOf(call.Task.Command)] = call.Task.Base
	}
}

// runVerbs maps commands about the Jobs of CronJobs to the verbs of their API calls.
var runVerbs = map[events.CommandKind]string{events.CommandCreateJob: "create", events.CommandDeleteRun: "delete"}

// cronSeen returns the version of the CronJob on which a write of a Job was decided, as noteRun remembered it. The
// checker calls it.
func (d *Driver) cronSeen(w apiserver.Write) uint64 { return d.seen[w.Verb+" "+w.Key.String()] }

// longestBackoff is longer than any CronJob waits after an error.
const longestBackoff = 20 * time.Minute

// PassCalmly stops all faults, waits until all backoffs are over, and then runs for period. Whenever nothing is left to
// do, a wake must be pending in time for the next due time of each CronJob (C-248).
func (d *Driver) PassCalmly(period time.Duration) error {
	d.client.Faults, d.lapsed = d.policy, false
	if err := d.Pass(longestBackoff); err != nil {
		return err
	}
	d.calm = true
	defer func() { d.calm = false }()
	return d.Pass(period)
}

// atRest checks the wakes of CronJobs, at a moment when nothing is left to do now.
func (d *Driver) atRest() error {
	if !d.calm || !d.cfg.Settings.CronJobs {
		return nil
	}
	return d.checker.Pending(d.now().Go(), d.process.Loop.Wake().Go())
}
