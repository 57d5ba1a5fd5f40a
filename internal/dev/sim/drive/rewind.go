package drive

import (
	"context"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/invariants"
)

// backup is a backup of the cluster, with what the checker knew at that moment.
type backup struct {
	server  *apiserver.Backup
	checker *invariants.Backup
}

// rewind makes a backup of the cluster, or restores the last one. At a restore all servers stop, the requests in flight
// are lost, and the server stores again what the backup has. The controller's process survives this, or is killed and
// starts again.
func (d *Driver) rewind() error {
	if err := d.checker.Check(); err != nil {
		return err
	}
	if d.backup == nil || d.rng.IntN(4) == 0 {
		d.backup = &backup{d.World.Server.Backup(), d.checker.Backup()}
		d.say("backup at %d", d.World.Server.Version())
		return nil
	}
	d.say("the cluster at %d is restored from the backup at %d", d.World.Server.Version(), d.backup.server.Version())
	unsent, cancel := context.WithCancel(context.Background())
	cancel()
	// The requests in flight are lost. The executor cannot know that, so it gets an unknown outcome for each.
	for len(d.flying) > 0 {
		call := pluck(d.rng, &d.flying)
		result := call.Do(unsent)
		if !call.Withdrawn {
			result.Ended.Ending, result.Ended.Sent = events.OutcomeUnknown, true
		}
		d.answered = append(d.answered, answer{call, result})
	}
	d.rewinds++
	known := d.World.Server.Version()
	d.World.Server.Restore(d.backup.server)
	// If the Jobs prove that the cluster went back, writes of other objects may raise the resource version above the
	// known one before the controller lists anything. So the version alone then proves nothing.
	if d.rng.IntN(3) == 0 && d.tells() {
		d.say("and comes to %d by other objects", known)
		d.World.Server.Pass(known)
	}
	d.World.Kubelet.Rewound()
	d.checker.Rewound(d.backup.checker, d.resting != nil)
	clear(d.intents)
	d.backup, d.away = nil, true
	d.process.Watches = map[events.Resource]*apiserver.Cursor{}
	if d.rng.IntN(3) == 0 {
		d.fall()
		return d.boot()
	}
	return nil
}

// tells reports whether the restored Jobs prove to the controller that the cluster went back, even if the resource
// version does not prove it: the log knows a newer version of a Job, or that the Job was deleted.
func (d *Driver) tells() bool {
	if appended, durable := d.Log().Batches(); appended != durable {
		return false
	}
	w := d.process.Loop.World()
	for _, o := range d.World.Server.List(apiserver.Jobs).Items {
		j, listed := w.Job(events.JobStream(o.GetUID())), o.(*batchv1.Job)
		if version, err := strconv.ParseUint(listed.ResourceVersion, 10, 64); err == nil && j != nil && j.Known() && (j.Gone || j.Version > version) {
			return true
		}
	}
	return false
}

// Rewinds returns how often the cluster went back.
func (d *Driver) Rewinds() uint64 { return d.rewinds }

// behind handles a proof that the cluster went back: a read showed an old version, or a deleted Job was seen again. The
// executor and the loop call it.
func (d *Driver) behind(life events.Identity, proof events.Rewind) {
	if d.process.Feed.Behind(life, proof) {
		d.say("the cluster is found to be behind: %+v", proof)
		d.process.Watches, d.away = map[events.Resource]*apiserver.Cursor{}, true
	}
}
