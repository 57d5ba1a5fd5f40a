package drive

import (
	"context"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/sim/apiserver"
	"github.com/jobledger/jobledger/internal/sim/invariants"
)

// backup is the cluster at one moment, and what the checker knew of it.
type backup struct {
	server  *apiserver.Backup
	checker *invariants.Backup
}

// rewind makes a backup of the cluster, or restores the one that there is: all servers stop, what was on its way to them never
// arrives, and they come back with what was stored at the time of the backup. The process lives through it, or is killed and
// starts again before or afterwards.
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
	for len(d.flying) > 0 { // their answers are lost, and the sender cannot know that
		call := pluck(d.rng, &d.flying)
		result := call.Do(unsent)
		if !call.Withdrawn {
			result.Ended.Ending, result.Ended.Sent = events.OutcomeUnknown, true
		}
		d.answered = append(d.answered, answer{call, result})
	}
	d.rewinds++
	d.World.Server.Restore(d.backup.server)
	d.World.Kubelet.Rewound()
	d.checker.Rewound(d.backup.checker)
	clear(d.intents)
	d.backup, d.away = nil, true
	d.process.Watches = map[events.Resource]*apiserver.Cursor{}
	if d.rng.IntN(3) == 0 {
		d.fall()
		return d.boot()
	}
	return nil
}

// Rewinds is how often the cluster went back.
func (d *Driver) Rewinds() uint64 { return d.rewinds }

// behind takes the proof of a live read that the cluster went back.
func (d *Driver) behind(life events.Identity, proof events.Rewind) {
	if d.process.Feed.Behind(life, proof) {
		d.say("a live read finds the cluster behind")
		d.process.Watches, d.away = map[events.Resource]*apiserver.Cursor{}, true
	}
}
