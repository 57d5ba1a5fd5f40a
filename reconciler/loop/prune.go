package loop

import (
	"context"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// Pruning is records that are to go. Who sends one deletes the files once it is durable.
type Pruning struct {
	Facts    *events.Pruned
	Recorded chan<- struct{} // closed when the record that says so is durable, or when there is none because it may not be said
}

// pruned is a Pruning that was recorded and is not durable yet.
type pruned struct {
	Pruning
	at events.Sequence
}

// Prune records that the files before some record go. It needs no room of its own: what it asks for makes room. Nothing
// in memory changes by it: a file only goes when a later one has all that is known.
func (l *Loop) Prune(now events.Time, facts *events.Pruned) events.Sequence {
	b := l.begin(now)
	at := l.put(b, controllerDraft(events.KindPruned, facts))
	l.commit(b, true)
	return at
}

// prune records that records go, unless the file that they make way for does not stand alone by what is folded: then
// nobody is told to delete anything.
func (r *Runner) prune(p Pruning) {
	if _, whole := r.Loop.world.Restated(); p.Facts.First > whole {
		close(p.Recorded)
		return
	}
	r.pruned = append(r.pruned, pruned{p, r.Loop.Prune(r.Clock.Now(), p.Facts)})
}

// prunedThrough tells those whose records are durable.
func (r *Runner) prunedThrough(seq events.Sequence) {
	for len(r.pruned) > 0 && r.pruned[0].at <= seq {
		close(r.pruned[0].Recorded)
		r.pruned = r.pruned[1:]
	}
}

// Prune records that records go from a log that no controller has, and deletes their files. The world is what the log
// says; files is the log as one that lets files go.
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

// StatesBytes is how large the states are that each file of the log has, in stored form: those of what is unfinished,
// or not deleted yet.
func StatesBytes(w *projector.World) (bytes int64) {
	for _, s := range w.Stating() {
		if d, ok := stateOf(w, s); ok {
			bytes += int64(stored(&d))
		}
	}
	return bytes + int64(len(w.ControllerFacts()))
}
