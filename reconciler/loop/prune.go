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

// pruned is a recorded Pruning whose record is not durable yet.
type pruned struct {
	Pruning
	at events.Sequence
}

// Prune records that the files before record facts.First are deleted, and returns the record's sequence. It does not
// ask for space in the log, because it frees space. The state does not change: a file is deleted only if a later one is
// self-contained.
func (l *Loop) Prune(now events.Time, facts *events.Pruned) events.Sequence {
	b := l.begin(now)
	at := l.put(b, controllerDraft(events.KindPruned, facts))
	l.commit(b, true)
	return at
}

// prune records a pruning. It refuses if the first remaining file is not known to be self-contained, because the log
// could then no longer be recovered.
func (r *Runner) prune(p Pruning) {
	if _, whole := r.Loop.world.Restated(); p.Facts.First > whole {
		close(p.Recorded)
		return
	}
	r.pruned = append(r.pruned, pruned{p, r.Loop.Prune(r.Clock.Now(), p.Facts)})
}

// prunedThrough tells the senders of prunings whose record is durable that they may delete the files.
func (r *Runner) prunedThrough(seq events.Sequence) {
	for len(r.pruned) > 0 && r.pruned[0].at <= seq {
		close(r.pruned[0].Recorded)
		r.pruned = r.pruned[1:]
	}
}

// Prune records a pruning in a log that no controller has open, and deletes the files. world is the state of the log;
// files is the same log as a store.Pruner. It returns an error if no later file is self-contained.
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
