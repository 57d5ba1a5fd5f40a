package controller

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/livetail"
	"github.com/jobledger/jobledger/store/open"
)

// standing is the part of a process that works whether or not the process leads. It folds the log into the state of the
// Jobs, answers readers, compresses and verifies the log's files, and keeps lists of Jobs. It writes no records and
// sends no commands to the API server; only lead does.
type standing struct {
	log      store.Log  // the log, with its appends counted and its newest records in memory
	key      events.Key // key of the log
	dir      string
	fold     *loop.Fold // the state of the Jobs up to the log's end; nil once the loop has taken it over
	scrubber *scrubber
	packer   *packer
	lists    joblist.Config  // settings of the lists of Jobs, for readers
	keeper   *joblist.Keeper // keeps these lists up to date
	damage   func() []error  // known damage of the log, for readers
	endpoint *endpoint       // nil for none
	tended   bool            // tend has started the parts that do not depend on the Lease
}

// work folds the open log and makes the parts of the controller (stand), and then runs it as the leader (lead).
func (c *controller) work(ctx context.Context, log store.Opened) error {
	if err := c.stand(ctx, log, log); err != nil {
		return unlessStopped(ctx, err)
	}
	return c.lead(ctx, log)
}

// stand folds the open log into the state of the Jobs, and makes the parts that look after its files; it starts none of
// them. writes is what the leader later appends to: log, or a wrapper of it. The error says why the log cannot be used:
// it lost records, or it cannot be folded.
func (c *controller) stand(ctx context.Context, log store.Opened, writes store.Log) (err error) {
	if c.dir, err = open.Dir(c.config.Log); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(c.dir, serve.AddressFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the address of the controller before: %w", err)
	}
	id, head := log.Identity(), log.Head()
	c.logger.Info("log opened", "directory", c.dir, "logID", id.LogID, "epoch", id.Epoch, "term", log.Term(),
		"records", uint64(head.Sequence), "hash", head.Hash.String())
	if c.fold, err = loop.NewFold(ctx, log); err != nil {
		return err
	}
	world := c.fold.World()
	if world.Lost != (events.Loss{}) {
		return c.explainLoss(&loop.LossError{Loss: world.Lost})
	}
	if err := c.takeKey(log, world.Key); err != nil {
		return err
	}
	c.logger.Info("state folded", "jobs", world.Len(), "finishedJobs", world.Stubs())
	c.metrics = newMetrics(c.registry, log)
	c.ofFiles(log)
	c.log = livetail.New(countedLog{writes, c.metrics}, 0)
	c.lists, c.damage = joblist.Config{Log: c.log, Files: store.FilesOf(log), Dir: c.dir}, log.Damage
	c.keeper = joblist.NewKeeper(c.lists, c.logger)
	if shared, ok := log.(store.Shared); ok && c.giver != nil {
		c.giver.Open(shared)
	}
	return nil
}

// tend starts the parts that run whether or not this process leads. Verifying and compressing the log's files and
// keeping the lists of Jobs end with ctx. The port for readers ends with after.
func (s *standing) tend(ctx, after context.Context, group *errgroup.Group) {
	group.Go(func() error { s.scrubber.run(ctx); return nil }) // ends when ctx ends
	group.Go(func() error { s.packer.run(ctx); return nil })   // ends when ctx ends
	group.Go(func() error { s.keeper.Run(ctx); return nil })   // ends when ctx ends
	if s.endpoint == nil {
		return
	}
	group.Go(s.endpoint.Run) // ends when the next goroutine closes the port
	group.Go(func() error {
		<-after.Done()
		bound, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		return s.endpoint.close(bound)
	})
}

// ofFiles makes the parts that verify and compress the log's files. If this kind of log has no files, they do nothing.
func (c *controller) ofFiles(log store.Opened) {
	if filed, ok := log.(store.Filed); ok {
		c.health.set(func(h *Health) { h.Holes = filed.Holes })
		c.metrics.disk(filed)
		tellRoom(c.config.Stream.Embedded, filed.Usage, c.logger)
	}
	tended, _ := log.(store.Tended)
	c.scrubber = newScrubber(tended, c.logger, c.registry)
	c.packer = newPacker(tended, c.config.PackEvery, c.logger, c.registry)
}

// takeKey reads the key of the log (a secret by which erased values are named), or creates one. before is the ID of the
// key of the last run; if the key is another one now, takeKey logs a warning.
func (c *controller) takeKey(log store.Opened, before string) error {
	key, made, err := log.Key()
	if err != nil {
		return err
	}
	c.key = key
	switch {
	case before == "" || before == key.ID():
	case made:
		c.logger.Warn("the key of the log was lost: there is a new one, and the specs of unfinished Jobs are stated again under it",
			"before", before, "now", key.ID())
	default:
		c.logger.Warn("the key of the log is another one than that of the last run: the specs of unfinished Jobs are stated again under it",
			"before", before, "now", key.ID())
	}
	return nil
}
