package loop

import (
	"context"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// Pruning is a request to record that old files of the log are deleted. Its sender deletes them once the record is
// durable.
type Pruning struct {
	Facts    *events.Pruned
	Recorded chan<- struct{} // closed when the record is durable, or at once if the files must stay
}

// pruned is a Pruning that is recorded, in record at, but not durable yet.
type pruned struct {
	Pruning
	at events.Sequence
}

// Prune records that the files before record facts.First are deleted, and returns the record's sequence. It does not
// ask whether the log has space, because the deletion frees space. The state does not change: a file is deleted only if
// a later one is self-contained (readable without older files).
func (l *Loop) Prune(now events.Time, facts *events.Pruned) events.Sequence {
	b := l.begin(now)
	at := l.put(b, controllerDraft(events.KindPruned, facts))
	l.commit(b, true)
	return at
}

// prune records that files of the log are deleted. It refuses if the first file that would be kept is not known to be
// self-contained (readable without older files), because the log could then no longer be recovered.
func (r *Runner) prune(p Pruning) {
	if _, whole := r.Loop.world.Restated(); p.Facts.First > whole {
		close(p.Recorded)
		return
	}
	r.pruned = append(r.pruned, pruned{p, r.Loop.Prune(r.Clock.Now(), p.Facts)})
}

// prunedThrough closes the channels of requests whose Pruned record is durable (up to seq): their senders may then
// delete the files.
func (r *Runner) prunedThrough(seq events.Sequence) {
	for len(r.pruned) > 0 && r.pruned[0].at <= seq {
		close(r.pruned[0].Recorded)
		r.pruned = r.pruned[1:]
	}
}

// Prune deletes old files of a log that no controller has open, after it has recorded the deletion. world is the state
// of the log; files is the same log as a store.Pruner; facts say what is deleted. It returns an error if no later file
// is self-contained (readable without older files).
func Prune(
	ctx context.Context, log store.Log, files store.Pruner, world *projector.World, now events.Time, salt func() events.Salt, facts *events.Pruned,
) error {
	if _, whole := world.Restated(); facts.First > whole {
		return fmt.Errorf("no later file stands alone: the newest that does begins with record %d", whole)
	}
	l := New(Config{Log: log, World: world, Salt: salt, Settings: world.Settings})
	at := l.Prune(now, facts)
	if _, err := log.Wait(ctx, at-1); err != nil {
		return fmt.Errorf("record that records go: %w", err)
	}
	_, err := files.Prune(ctx, facts.First)
	return err
}
