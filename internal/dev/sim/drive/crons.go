package drive

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/reconciler/executor"
)

// resources are those that the controller watches.
func (d *Driver) resources() []events.Resource {
	if d.cfg.Settings.CronJobs {
		return []events.Resource{events.Jobs, events.Pods, events.CronJobs}
	}
	return []events.Resource{events.Jobs, events.Pods}
}

// noteRun notes which version of its CronJob was known when a write of a Job was decided on.
func (d *Driver) noteRun(call *executor.Call) {
	if verb := runVerbs[call.Task.Command.Traits().Kind]; verb != "" {
		d.seen[verb+" "+call.Task.Job.Namespace+"/"+events.RunNameOf(call.Task.Command)] = call.Task.Base
	}
}

// runVerbs are what the API server calls the writes of Jobs of CronJobs.
var runVerbs = map[events.CommandKind]string{events.CommandCreateJob: "create", events.CommandDeleteRun: "delete"}

// cronSeen tells the checker what noteRun noted.
func (d *Driver) cronSeen(w apiserver.Write) uint64 { return d.seen[w.Verb+" "+w.Key.String()] }

// longestBackoff is longer than any CronJob waits after an error.
const longestBackoff = 20 * time.Minute

// PassCalmly ends the disturbances, and lets everything run for that long once all backoffs are over. Whenever nothing
// is left to do, a look must be pending for each CronJob in time (C-248).
func (d *Driver) PassCalmly(period time.Duration) error {
	d.client.Faults, d.lapsed = d.policy, false
	if err := d.Pass(longestBackoff); err != nil {
		return err
	}
	d.calm = true
	defer func() { d.calm = false }()
	return d.Pass(period)
}

// atRest checks what must hold when nothing is left to do at the time.
func (d *Driver) atRest() error {
	if !d.calm || !d.cfg.Settings.CronJobs {
		return nil
	}
	return d.checker.Pending(d.now().Go(), d.process.Loop.Wake().Go())
}
