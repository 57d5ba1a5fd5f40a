package controller

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/reconciler/checkpoint"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// follower is a process that copies the log of the leading process until it gets the Lease, and then leads itself.
type follower struct {
	*controller
	source source
	log    store.Opened

	stop     context.CancelFunc     // stops copying and folding the leader's log
	followed chan struct{}          // closed when copying and folding the leader's log have stopped
	leads    atomic.Bool            // set when this process leads and no longer copies
	lacks    atomic.Pointer[string] // which records this log lacks, so that the Lease was not taken; nil for none
	// the last message said that the whole log is read, and not that this process is behind; for Watch's goroutine only
	current bool
}

func newFollower(c *controller, from source, log store.Opened) *follower {
	return &follower{controller: c, source: from, log: log, followed: make(chan struct{})}
}

// replicate copies the log from the NATS stream that replicates it, and runs the controller while this process holds
// the Lease. Each process has a log of its own on disk, so none waits for a log that another process has locked.
func (c *controller) replicate(ctx context.Context) error {
	if err := c.newLease(); err != nil {
		return err
	}
	member, err := c.join(ctx)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer member.Close()
	c.member = member
	if err := c.leave(ctx); err != nil {
		return unlessStopped(ctx, err)
	}
	if err := member.Fill(ctx, c.config.Log); err != nil {
		return unlessStopped(ctx, err)
	}
	return c.withLog(ctx, func(ctx context.Context, log store.Opened) error {
		if err := member.Begin(ctx, log); err != nil {
			return unlessStopped(ctx, err)
		}
		if err := c.stand(ctx, log, member.Log(log)); err != nil {
			return unlessStopped(ctx, err)
		}
		c.registry.MustRegister(member)
		if err := refuseStates(c.config.Retention, checkpoint.StatesBytes(c.fold.World())); err != nil {
			return err
		}
		return newFollower(c, replicated{member}, log).run(ctx)
	})
}

// join finds the NATS stream that replicates the log, by what the Lease and the log's directory say. It returns an
// error if the Lease says that another log runs these Jobs.
func (c *controller) join(ctx context.Context) (*replicating.Member, error) {
	own := replicating.Own{}
	there, err := open.Exists(c.config.Log)
	unfilled, err1 := open.Unfilled(c.config.Log)
	if err = errors.Join(err, err1); err == nil && there && !unfilled {
		own.LogID, err = logIDOf(c.config.Log)
	}
	if err != nil {
		return nil, fmt.Errorf("look for a log in %s: %w", c.config.Log, err)
	}
	said, err := c.saidByLease(ctx)
	if err != nil {
		return nil, err
	}
	own.Lease, own.LogOf = said.Stream, said.LogID
	if err := c.refuseBeside(ctx); err != nil {
		return nil, err
	}
	config := *c.config.Replicate
	config.Name = c.identity
	if config.Step, err = refillPoints(); err != nil {
		return nil, err
	}
	config.Reader, config.Least, config.Logger = loop.Reader(c.config.Program.Version), loop.Least(), c.logger
	member, err := replicating.Join(ctx, config, own)
	if err != nil {
		return nil, err
	}
	// If the Lease names another log, this process is refused now. If it names this log, the two are compared later,
	// when the log is open.
	if said.LogID != member.LogID() {
		if err := c.refuse(said, lease.Log{Identity: events.Identity{LogID: member.LogID()}}); err != nil {
			member.Close()
			return nil, err
		}
	}
	return member, nil
}

func logIDOf(address string) (id string, err error) {
	log, err := open.Archive(address)
	if err != nil {
		return "", err
	}
	return log.Identity().LogID, log.Close()
}

// run copies the leader's log until this process gets the Lease, and then leads.
func (f *follower) run(ctx context.Context) error {
	if err := f.answer(); err != nil {
		return err
	}
	if err := f.leaveAddresses(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	// after ends when bid has returned, which is later than ctx. It is for the parts that answer readers until the end.
	after, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	if m, ok := f.source.(mender); ok {
		f.scrubber.mend = m.Mend
	}
	f.tend(ctx, after, group)
	f.tended = true
	group.Go(func() error { return f.source.Exchange(ctx) }) // ends when ctx ends
	following, stop := context.WithCancel(ctx)
	defer stop()
	f.stop = stop
	group.Go(func() error { // ends when the leader's log is no longer copied
		defer close(f.followed)
		reading, ctx := errgroup.WithContext(following)
		reading.Go(func() error { return f.source.Follow(ctx) })
		reading.Go(func() error { return f.keepFolding(ctx) })
		return reading.Wait()
	})
	group.Go(func() error { return f.source.Watch(ctx, f.tellBehind) }) // ends when ctx ends
	group.Go(func() error {                                             // ends when ctx ends, or when this process has led
		defer release()
		return f.bid(ctx)
	})
	return group.Wait()
}

// keepFolding updates the state of the Jobs from records as they become durable, until ctx ends.
func (f *follower) keepFolding(ctx context.Context) error {
	for {
		if _, err := f.log.Wait(ctx, f.fold.Through()); err != nil {
			return unlessStopped(ctx, err)
		}
		if err := f.foldOn(ctx); err != nil {
			return unlessStopped(ctx, err)
		}
	}
}

// foldOn updates the state of the Jobs from the records up to the log's end. If the leader has recorded that it deleted
// old files, foldOn deletes them in this process's log, too.
func (f *follower) foldOn(ctx context.Context) error {
	keep := events.Sequence(0)
	for rec, err := range f.log.Read(ctx, f.fold.Through()+1) {
		if err == nil {
			err = f.fold.Apply(&rec)
		}
		if err != nil {
			return fmt.Errorf("fold what came from the leader, behind record %d: %w", f.fold.Through(), err)
		}
		if p, ok := rec.Facts.(*events.Pruned); ok {
			keep = p.First
		}
	}
	pruner, ok := f.log.(store.Pruner)
	if keep == 0 || !ok {
		return nil
	}
	if _, err := pruner.Prune(ctx, keep); err != nil && ctx.Err() == nil {
		f.logger.Warn("old files of the log stay until the next start", "error", err)
	}
	return nil
}

// tellBehind gives probes and the program's log the reason why this process would not take the Lease now; empty if it
// would.
func (f *follower) tellBehind(why string) {
	standby := false
	if lacks := f.lacks.Load(); why == "" && lacks != nil {
		why = *lacks
	}
	f.health.set(func(h *Health) {
		if standby = h.standby; standby {
			h.second = why
		}
	})
	switch {
	case !standby || f.current == (why == ""):
		return
	case why != "":
		f.logger.Warn("this standby is behind, and does not want the Lease", "why", why)
	default:
		_, head := f.log.Durable()
		f.logger.Info("standing by: all that there is of the log is read", "head", uint64(head.Sequence))
	}
	f.current = why == ""
}

// own returns the description of this process's log that the Lease gets if this process takes it.
func (f *follower) own() lease.Log {
	id, head := f.log.Durable()
	return f.source.Own(lease.Log{Identity: id, Head: head.Sequence, Hash: head.Hash, Lock: f.log.LockID()})
}

// bid waits for the Lease, and then leads as long as this process holds it.
func (f *follower) bid(ctx context.Context) error {
	f.logger.Info("standing by for the Lease", "lease", f.lease.Name(), "identity", f.identity)
	if err := f.refuseElsewhere(ctx, f.log, f.own()); err != nil {
		return unlessStopped(ctx, err)
	}
	return f.explainLease(f.lease.Run(ctx, lease.Bid{
		Log: f.own,
		Admit: func(before lease.Said) error {
			f.source.Saw(before)
			if before.Holder != "" && !lacks(before, f.own()) {
				f.lacks.Store(nil)
			}
			return f.refuseSaid(before, f.own(), f.log)
		},
		Ready: f.ready,
		Freed: f.source.Released(),
		Lead:  f.lead,
	}))
}

// ready returns why the Lease may not be taken now; nil if it may.
func (f *follower) ready(before lease.Said) error {
	if f.leads.Load() {
		return nil
	}
	err := f.source.Ready(before, f.own())
	switch lack := (*lackError)(nil); {
	case errors.As(err, &lack):
		f.lacks.Store(new(err.Error()))
	case err == nil:
		f.lacks.Store(nil)
	}
	return err
}

// lead makes this process the log's writer, and runs the controller on the log. It ends when the Lease is lost, when
// the source of the log fails, or when ctx ends.
func (f *follower) lead(ctx context.Context) error {
	if err := f.refuseBeside(ctx); err != nil {
		return unlessStopped(ctx, err)
	}
	f.stop()
	<-f.followed
	f.leads.Store(true)
	if err := f.take(ctx); err != nil {
		return unlessStopped(ctx, err)
	}
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	leading, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	wrote := make(chan error, 1)
	go func() { // ends when this process stops writing, or when the source fails
		err := f.source.Write(writing)
		if err != nil {
			lose(err)
		}
		wrote <- err
	}()
	f.health.set(func(h *Health) { h.standby, h.second = false, "" })
	f.recordRefill(leading)
	err := f.controller.lead(leading, f.log)
	if err == nil && errors.Is(context.Cause(leading), context.Cause(ctx)) && !f.leaseLost() {
		f.giveBack()
	}
	stop()
	return errors.Join(err, <-wrote)
}

// take makes this process the log's writer, reads the newest records, and logs the term (the number of this time as
// writer).
func (f *follower) take(ctx context.Context) error {
	slow := time.AfterFunc(askTimeout, func() {
		f.logger.Warn("the Lease is held, and the log is not taken over yet: nothing is decided until then")
	})
	defer slow.Stop()
	term, err := f.source.Take(ctx, f.lease.Holds)
	if err != nil {
		return err
	}
	if err := f.foldOn(ctx); err != nil {
		return err
	}
	world := f.fold.World()
	if world.Lost != (events.Loss{}) {
		return f.explainLoss(&loop.LossError{Loss: world.Lost})
	}
	f.logger.Info("leading", "lease", f.lease.Name(), "identity", f.identity, "term", term,
		"records", uint64(f.fold.Through()), "jobs", world.Len())
	return nil
}

// recordRefill makes the loop record a refill in its first batch. A refill stored records in the log's NATS stream
// again that the stream had lost. When that record is durable, the source forgets the refill.
func (f *follower) recordRefill(ctx context.Context) {
	from, is := f.source.(refiller)
	if !is {
		return
	}
	if f.refilled = from.Refilled(); f.refilled == nil {
		return
	}
	done := func() {
		if err := from.Recorded(); err != nil {
			f.logger.Warn("REPLICA still says that the stream got records again", "error", err)
		}
	}
	// If an earlier process ended after it had recorded the refill, the log has the record, and the source can forget
	// the refill.
	if hasRefill(ctx, f.log, *f.refilled) {
		f.refilled = nil
		done()
		return
	}
	head := f.log.Head().Sequence
	go func() { // ends when ctx ends, or when the loop's first batch is durable
		if _, err := f.log.Wait(ctx, head); err == nil {
			done()
		}
	}()
}

// hasRefill reports whether the log has a record of this refill (records stored again in the log's NATS stream).
func hasRefill(ctx context.Context, log store.Log, of events.StreamRefilled) bool {
	for r, err := range log.ReadStream(ctx, events.Controller, 0, store.Backward) {
		if err != nil || r.Sequence <= of.Through {
			break
		}
		if f, ok := r.Facts.(*events.StreamRefilled); ok && *f == of {
			return true
		}
	}
	return false
}

// giveBack tells the source of the log that this process has stopped cleanly and has written its last record.
func (f *follower) giveBack() {
	bound, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	if err := f.source.Release(bound); err != nil {
		f.logger.Warn("the log is not released in good order: another one leads all the same, only later", "error", err)
	}
}
