package controller

import (
	"context"
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/run/backup"
	"github.com/jobledger/jobledger/internal/run/copying"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/checkpoint"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/copylog"
)

// lead runs the controller as the leader, the only process that writes the log and acts. It adds informer, loop,
// executor and publishers to the parts that run already, and returns when ctx ends or a part fails.
func (c *controller) lead(ctx context.Context, log store.Opened) (err error) {
	config, world := c.config, c.takeWorld()
	if err := c.heedCopy(ctx, log); err != nil {
		return err
	}
	if err := c.provenByPods(ctx, log, world); err != nil {
		return err
	}
	if c.copier, err = c.newCopier(c.dir, log); err != nil {
		return err
	}
	c.health.set(func(h *Health) { h.listing = true })
	c.reportZones(world)
	if c.stream, err = newStreamer(&config.Stream, c.dir, c.log, c.logger); err != nil {
		return err
	}
	if c.stream != nil {
		// makes the loop record that the log lost records, and end
		c.stream.Diverged = func(e *publish.DivergedError) {
			c.queue.Observe(events.Observation{Facts: &events.LossFound{Loss: e.Loss()}})
		}
	}
	defer func() { c.stream.close() }()
	if err := refuseStates(config.Retention, checkpoint.StatesBytes(world)); err != nil {
		return err
	}
	if c.retainer, err = newRetainer(config.Retention, log, c.logger, c.health, c.registry, c.consumers()...); err != nil {
		return err
	}
	c.settleCronJobs(ctx)
	if err := c.assemble(ctx, world); err != nil {
		return err
	}
	return c.run(ctx)
}

// takeWorld hands the state that was folded from the log over to the loop, which keeps it up to date from then on.
func (s *standing) takeWorld() *projector.World {
	world := s.fold.World()
	s.fold = nil
	return world
}

// heedCopy checks the copy of the log before the controller acts. It returns an error if the copy has records that the
// log has lost, belongs to another log, or could be written by two processes at once. If the place of the copy does not
// answer, it returns nil, because the copier makes the same checks later.
func (c *controller) heedCopy(ctx context.Context, log store.Log) error {
	place := c.config.Copy.Place
	if place == nil {
		return nil
	}
	bound, cancel := context.WithTimeout(ctx, copyWithin)
	defer cancel()
	lost, is, err := copying.Lost(bound, place, log)
	if is {
		return c.refuseLoss(&loop.LossError{Loss: lost}, max(lost.Epoch, log.Identity().Epoch))
	}
	var other *copying.OtherLogError
	if errors.As(err, &other) {
		return fmt.Errorf("--%s: %w", CopyFlag, err)
	}
	if err == nil && !c.config.Copy.Unfenced {
		var found copylog.Probe
		if found, err = copylog.Try(bound, place); err == nil && !found.Fenced {
			return fmt.Errorf("--%s=%s: %w", CopyFlag, place, copying.ErrUnfenced)
		}
	}
	if err != nil && ctx.Err() == nil {
		c.logger.Warn(
			"the copy of the log cannot be asked whether it has later records than the log: going on without its answer",
			"copy", place.String(), "error", err,
		)
	}
	return unlessStopped(ctx, nil)
}

// newCopier returns the copier of the log; nil if no copy is configured.
func (c *controller) newCopier(dir string, log store.Opened) (*copying.Copier, error) {
	place := c.config.Copy.Place
	if place == nil {
		return nil, nil
	}
	return copying.New(copying.Config{
		Dir: dir, Log: c.log, Durable: log.Durable, Written: c.metrics.written.Load, Place: place,
		Unfenced: c.config.Copy.Unfenced, Writer: c.config.Program.Version, Logger: c.logger,
		// makes the loop record that the log lost records, and end
		Ahead: func(e *backup.AheadError) {
			c.queue.Observe(events.Observation{Facts: &events.LossFound{Loss: e.Loss()}})
		},
	})
}
