package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// run starts the parts of a leading controller, and waits for them. They stop in the order in which facts move through
// them. The informer reports nothing more, the loop reads what is left in its queue and waits for the commands in
// flight, the consumers of the log catch up, and readers are disconnected.
func (c *controller) run(ctx context.Context) error {
	c.announce(ctx)
	group, ctx := errgroup.WithContext(ctx)
	// after ends when the loop has ended, which is later than ctx. It is for the parts that run longer than the loop.
	after, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	group.Go(func() error { return c.watch(ctx) })      // ends when ctx ends
	go c.around.Run(ctx)                                // ends a short time after ctx, or when the process ends
	group.Go(func() error { return c.worry(ctx) })      // ends when ctx ends; an error ends the run
	group.Go(func() error { return c.watchGangs(ctx) }) // ends when ctx ends; an error ends the run
	if !c.tended {
		c.tend(ctx, after, group)
	}
	group.Go(func() error { c.retainer.run(ctx); return nil })          // ends when ctx ends
	group.Go(func() error { fitProcessors(ctx, c.logger); return nil }) // ends when ctx ends
	group.Go(func() error {                                             // ends when ctx has ended and the loop has stopped cleanly
		defer release()
		defer c.queue.Close() // ends the informer's wait for space in the queue
		return c.decide(ctx)
	})
	if !c.observes() {
		group.Go(func() error { // ends after the loop has ended
			return c.executor.Run(after, func(r events.TaskResult) {
				c.hands.ended(&r)
				c.queue.Report(r)
			})
		})
		// When the loop has ended, this publishes the Events that are left, for at most 5 seconds.
		group.Go(func() error { return c.publish(after) })
		group.Go(func() error { return c.count(after) })          // ends after the loop has ended
		group.Go(func() error { c.alarm.Run(after); return nil }) // ends after the loop has ended
	}
	if c.stream != nil {
		// When the loop has ended, this publishes the records that are left, for at most 5 seconds.
		group.Go(func() error { return c.stream.run(after) })
	}
	// When the loop has ended, this copies the records that are left, for at most 5 seconds.
	group.Go(func() error { return c.copyLog(after) })
	if err := group.Wait(); err != nil {
		return err
	}
	c.finishLists()
	c.logger.Info("stopped in good order")
	return nil
}

// watch runs the informer until ctx ends, and then waits at most a second for it. The reason: client-go's Reflector
// waits up to a minute between tries to reach a server that refuses connections, and does not look at ctx in that time.
// What the informer still reports after that second is not read.
func (c *controller) watch(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { // ends a short time after ctx, or when the process ends
		c.messages.Wait(ctx)
		ended <- c.informer.Run(ctx)
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Second):
		return nil
	}
}

func (c *controller) decide(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		c.health.set(func(h *Health) { h.stopping = true })
		if c.leaseLost() {
			c.logger.Error("the Lease is lost: stopping at once", "error", context.Cause(ctx))
			return
		}
		c.logger.Info("stopping: waiting for what is in flight", "within", c.config.Stop.String())
	})
	defer stop()
	err := c.explainLoss(c.runner.Run(ctx))
	if err != nil {
		c.health.set(func(h *Health) { h.failed = err })
	}
	return err
}

// publish publishes Kubernetes Events until ctx ends. Then it publishes what is left for the durable records, for at
// most 5 seconds.
func (c *controller) publish(ctx context.Context) error {
	if err := c.publisher.Run(ctx); err != nil {
		return fmt.Errorf("publish Kubernetes Events: %w", err)
	}
	if c.leaseLost() {
		return nil // if the Lease is lost, the next leader publishes the rest
	}
	bound, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	if c.lease != nil {
		bound, cancel = c.lease.Within(bound)
		defer cancel()
	}
	if err := c.publisher.CatchUp(bound); err != nil {
		c.logger.Warn("Kubernetes Events are behind; the next start goes on with them", "error", err)
	}
	return nil
}

// count updates the metrics of Jobs from durable records until ctx ends.
func (c *controller) count(ctx context.Context) error {
	if err := c.counter.Run(ctx); err != nil {
		return fmt.Errorf("metrics of Jobs: %w", err)
	}
	return nil
}

// copyLog copies the log until ctx ends, if a copy is configured. Then it copies what is left of the durable records,
// for at most 5 seconds.
func (c *controller) copyLog(ctx context.Context) error {
	if c.copier == nil {
		return nil
	}
	if err := c.copier.Run(ctx); err != nil || c.leaseLost() {
		return err // if the Lease is lost, the next leader continues the copy
	}
	bound, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	if err := c.copier.CatchUp(bound); err != nil && !errors.Is(err, store.ErrClosed) {
		c.logger.Warn("the copy of the log is behind; the next start goes on with it", "error", err)
	}
	return nil
}

// finishLists updates the lists of Jobs, from which 'get jobs' is answered, up to the end of the log; it takes at most
// 5 seconds. If it does not finish, later answers take a little longer.
func (c *controller) finishLists() {
	bound, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	if err := c.keeper.Finish(bound); err != nil {
		c.logger.Warn("the lists of Jobs are behind: 'get jobs' takes longer", "error", err)
	}
}
