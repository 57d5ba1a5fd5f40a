package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// kept is the copy while it is open, with the goroutines that compress its files and keep its lists of Jobs.
type kept struct {
	log      *boltlog.Log
	lists    history.Lists
	logger   *slog.Logger
	compared bool // the copy's end was compared with the controller's log; only the goroutine that writes uses it

	stop  context.CancelFunc // stops the goroutines that maintain the files
	after sync.WaitGroup     // waits for these goroutines
}

// openKept opens the copy that exists; nil if there is none. It deletes a copy that is damaged, or that a crash left
// incomplete.
func (m *Mirror) openKept() (*kept, error) {
	if _, err := boltlog.Restoring(m.dir); !errors.Is(err, fs.ErrNotExist) {
		return nil, m.remove()
	}
	if there, err := boltlog.Exists(m.dir); err != nil || !there {
		return nil, err
	}
	k, err := m.open()
	if held := new(store.HeldError); err == nil || errors.As(err, &held) {
		return k, err
	}
	m.logger.Warn("the copy of the log cannot be opened: it is thrown away and begun again",
		"directory", m.dir, "error", err)
	return nil, m.remove()
}

func (m *Mirror) open() (*kept, error) {
	options := m.config.Log
	options.Logger = m.logger
	log, err := boltlog.Open(m.dir, options)
	if err != nil {
		return nil, err
	}
	config := joblist.Config{Log: log, Files: log.Files, Dir: m.dir}
	ctx, stop := context.WithCancel(context.Background())
	k := &kept{log: log, lists: joblist.New(config), logger: m.logger, stop: stop}
	k.after.Go(func() { joblist.NewKeeper(config, m.logger).Run(ctx) }) // ends when close is called
	k.after.Go(func() { k.pack(ctx) })                                  // ends when close is called
	return k, nil
}

// packEvery is the time between checks for sealed files to compress.
const packEvery = time.Minute

// pack compresses complete files of the copy until ctx ends.
func (k *kept) pack(ctx context.Context) {
	tick := time.NewTicker(packEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if _, err := k.log.Pack(ctx); err != nil && ctx.Err() == nil {
			k.logger.Warn("a file of the copy of the log stays as large as it is", "error", err)
		}
	}
}

func (k *kept) close() error {
	k.stop()
	k.after.Wait()
	return k.log.Close()
}

// close closes the copy, if there is one.
func (m *Mirror) close() error {
	m.mu.Lock()
	k := m.kept
	m.kept = nil
	m.mu.Unlock()
	if k == nil {
		return nil
	}
	return k.close()
}

// remove deletes the copy.
func (m *Mirror) remove() error {
	if err := os.RemoveAll(m.dir); err != nil {
		return fmt.Errorf("remove the copy of the log: %w", err)
	}
	return nil
}

// makeKept starts a new copy, with the records of the first answer (part).
func (m *Mirror) makeKept(ctx context.Context, part *feed.Part) (*kept, error) {
	if err := m.remove(); err != nil {
		return nil, err
	}
	if err := boltlog.BeginRestore(m.dir, "a copy of the log of a controller is begun here"); err != nil {
		return nil, err
	}
	first := part.Runs[0]
	stored := func(yield func([]byte, error) bool) {
		for _, one := range first.Records {
			if !yield(one, nil) {
				return
			}
		}
	}
	head, _, err := boltlog.WriteFile(ctx, m.dir, boltlog.FileSpec{First: first.First, Begin: part.Begin}, stored)
	if err != nil {
		return nil, fmt.Errorf("begin the copy of the log: %w", err)
	}
	if head.Hash != first.After {
		return nil, fmt.Errorf("begin the copy of the log: %w: it ends with record %d, hash %s, and not %s",
			store.ErrDiverged, head.Sequence, head.Hash, first.After)
	}
	if err := boltlog.EndRestore(m.dir); err != nil {
		return nil, err
	}
	k, err := m.open()
	if err != nil {
		return nil, err
	}
	if err := k.take(ctx, part.Runs[1:]); err != nil {
		return nil, errors.Join(err, k.close())
	}
	return k, nil
}

// take adds received records to the copy, and waits until they are durable. If a record says that the controller
// deleted old files, take deletes them in the copy.
func (k *kept) take(ctx context.Context, runs []feed.Run) error {
	k.compared = true
	var last store.Commit
	for i, run := range runs {
		last = k.log.AppendStored(run, i == len(runs)-1)
	}
	if last == nil {
		return nil
	}
	<-last.Done() // waits for the disk even if ctx has ended
	if err := last.Err(); err != nil {
		return fmt.Errorf("write the copy of the log: %w", err)
	}
	keep, err := pruned(runs)
	if err != nil || keep == 0 {
		return err
	}
	if _, err := k.log.Prune(ctx, keep); err != nil && ctx.Err() == nil {
		k.logger.Warn("old files of the copy of the log stay", "error", err)
	}
	return nil
}

// pruned returns the oldest record that the controller still has, according to the newest record in runs that says so;
// 0 if there is none.
func pruned(runs []feed.Run) (keep events.Sequence, err error) {
	for _, run := range slices.Backward(runs) {
		for _, stored := range slices.Backward(run.Records) {
			l, err := events.DecodeLabel(stored)
			if err != nil {
				return 0, err
			}
			if l.Kind != events.KindPruned {
				continue
			}
			r, err := events.DecodeRecord(stored)
			if err != nil {
				return 0, err
			}
			if p, ok := r.Facts.(*events.Pruned); ok {
				return p.First, nil
			}
		}
	}
	return 0, nil
}
