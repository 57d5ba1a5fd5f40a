package loop

import (
	"context"
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// restored returns the state from which a process that opens the log begins to fold, and the last record that this
// state includes: from the newest snapshot, or the empty state before the newest self-contained file (readable without
// older files), if that is later.
func restored(ctx context.Context, log store.Reader) (*projector.World, events.Sequence, error) {
	world, from, err := fromSnapshot(ctx, log)
	if err != nil {
		return nil, 0, err
	}
	file, err := wholeFile(ctx, log, from)
	if err != nil {
		return nil, 0, fmt.Errorf("look for the newest file that stands alone: %w", err)
	}
	if file > from+1 {
		return projector.NewWorld(), file - 1, nil
	}
	return world, from, nil
}

// wholeFile returns the first record of the newest self-contained file (readable without older files); 0 if none begins
// after record `after`. It reads only records of the controller, and only as far back as the newest one that tells.
func wholeFile(ctx context.Context, log store.Reader, after events.Sequence) (events.Sequence, error) {
	for r, err := range log.ReadStream(ctx, events.Controller, 0, store.Backward) {
		if errors.Is(err, store.ErrPruned) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		if r.Sequence <= after {
			return 0, nil
		}
		switch f := r.Facts.(type) {
		case *events.FileRestated:
			return f.File, nil
		case *events.StoredState:
			w := projector.NewWorld()
			w.Apply(&r)
			_, whole := w.Restated()
			return kept(ctx, log, whole)
		}
	}
	return 0, nil
}

// kept returns `at` if the log still has record `at`, otherwise 0.
func kept(ctx context.Context, log store.Reader, at events.Sequence) (events.Sequence, error) {
	if at == 0 {
		return 0, nil
	}
	for _, err := range log.Read(ctx, at) {
		if errors.Is(err, store.ErrPruned) {
			return 0, nil
		}
		return at, err
	}
	return 0, nil
}

func fromSnapshot(ctx context.Context, log store.Reader) (*projector.World, events.Sequence, error) {
	snapshot, ok, err := log.LoadSnapshot(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("load the snapshot: %w", err)
	}
	if !ok {
		return projector.NewWorld(), 0, nil
	}
	streams := make([]projector.StreamAt, len(snapshot.Streams))
	for i, s := range snapshot.Streams {
		streams[i] = projector.StreamAt{Stream: s.Stream, AsOf: s.AsOf, Facts: s.State, Names: s.Names}
	}
	if world, from, err := projector.Restore(streams); err == nil {
		return world, from, nil
	}
	return projector.NewWorld(), 0, nil // the snapshot cannot be decoded: fold from the first record
}
