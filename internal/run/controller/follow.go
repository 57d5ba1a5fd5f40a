package controller

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/internal/run/following"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/reconciler/checkpoint"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
)

// FollowConfig names the controllers that share one log: one of them leads and writes it, and the others copy it.
type FollowConfig struct {
	Clients []*feed.Client // one for each controller, possibly including this one
	Where   string         // their addresses, for messages
	Key     events.Key     // key of the log, the same for all controllers
}

// follow copies the log of the leading controller, and works while this process holds the Lease. Each controller has a
// copy of the log in a directory of its own.
func (c *controller) follow(ctx context.Context) error {
	if err := c.newLease(); err != nil {
		return err
	}
	standby := following.New(following.Config{
		Log: c.config.Log, Clients: c.config.Follow.Clients, Where: c.config.Follow.Where, Self: c.identity,
		Retry: c.config.Lease.RetryPeriod, Logger: c.logger, Leads: c.lease.Holds, Followers: c.giver.Known,
	})
	c.registry.MustRegister(standby)
	c.standBy("the log of the controller that leads is looked for")
	logID, err := c.prepare(ctx, standby)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	c.standby, c.logID = standby, logID
	return c.withLog(ctx, func(ctx context.Context, log store.Opened) error {
		if err := standby.Begin(log); err != nil {
			return err
		}
		if err := c.stand(ctx, log, log); err != nil {
			return unlessStopped(ctx, err)
		}
		from := &followed{Standby: standby, controller: c, opened: log}
		if err := cmp.Or(from.otherKey(), refuseStates(c.config.Retention, checkpoint.StatesBytes(c.fold.World()))); err != nil {
			return err
		}
		return newFollower(c, from, log).run(ctx)
	})
}

// prepare makes the log in the directory ready to be a copy of the leading controller's log, and returns the log's ID.
// If no controller has a log yet, the first one that writes a log ID into the Lease decides.
func (c *controller) prepare(ctx context.Context, standby *following.Standby) (logID string, err error) {
	if err := c.leave(ctx); err != nil {
		return "", err
	}
	said, err := c.saidByLease(ctx)
	if err != nil {
		return "", err
	}
	if err := c.refuseBeside(ctx); err != nil {
		return "", err
	}
	// If the operator adopts another log (--adopt), what the Lease says about a log does not count: a new log gets an
	// ID of its own, and replaces the one that the Lease names.
	if c.config.Lease.Adopt {
		said = lease.Said{}
	}
	if logID, err = standby.Prepare(ctx, said); err != nil || logID != "" {
		return logID, err
	}
	if err := c.refuseStranger(ctx, ""); err != nil {
		return "", err
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	logID = hex.EncodeToString(id[:])
	if c.config.Lease.Adopt {
		return logID, nil
	}
	if said, err = c.lease.NameLog(ctx, events.Identity{LogID: logID, Epoch: 1}); err != nil {
		return "", err
	}
	return standby.Prepare(ctx, said)
}

// followed is a log that this process copies from the controller that leads (--follow). It implements source, the way
// in which a process gets a shared log and takes it over.
type followed struct {
	*following.Standby
	*controller
	opened store.Opened
}

var _ source = (*followed)(nil)

// Own implements source: it returns the description of the log for the Lease, with the next epoch (life of the log),
// which this process claims by it.
func (f *followed) Own(l lease.Log) lease.Log {
	l.Epoch = max(l.Epoch, f.Claims())
	return l
}

// Exchange implements source: it waits until ctx ends. Nothing has to be sent, because other controllers read the log
// from this process's port.
func (f *followed) Exchange(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Write implements source: it waits until ctx ends. There is nothing to watch while this process writes the log,
// because only the Lease keeps other controllers from writing.
func (f *followed) Write(ctx context.Context) error { return f.Exchange(ctx) }

// watchEvery is the time between checks of how far behind the leader this process is.
const watchEvery = 250 * time.Millisecond

// Watch implements source: four times a second it calls say with the reason why this copy of the log is behind the
// leader's; "" if it is not.
func (f *followed) Watch(ctx context.Context, say func(string)) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		text := ""
		if err := f.Behind(); err != nil {
			text = err.Error()
		}
		say(text)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// takeWithin limits how long a process that holds the Lease tries to become the log's writer; then it gives the Lease
// up.
const takeWithin = 30 * time.Second

// errNotHeldAnymore is returned if the Lease was lost before this process could write the log.
var errNotHeldAnymore = errors.New("the Lease was lost before the log was taken over")

// Take implements source: it makes this process the log's writer, and returns its term (the number of this time as
// writer). If the copy here may lack records that the previous leader wrote, Take begins the epoch (life of the log)
// that this process claimed in the Lease. What those records said is then learned from the cluster. holds reports
// whether the Lease is still held.
func (f *followed) Take(ctx context.Context, holds func() bool) (term uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, takeWithin)
	defer cancel()
	if err := f.fold.Follow(ctx, f.opened); err != nil {
		return 0, err
	}
	if err := f.otherKey(); err != nil {
		return 0, err
	}
	world := f.fold.World()
	to, ok := f.opened.(store.Follower)
	if !ok {
		return 0, errors.New("this kind of log cannot follow another one")
	}
	term = max(f.opened.Term(), world.Term+1)
	if err := to.SetTerm(term); err != nil {
		return 0, err
	}
	epoch, lost := f.Takeover()
	if !holds() {
		return 0, errNotHeldAnymore
	}
	if epoch == 0 {
		return term, nil
	}
	head := f.opened.Head()
	f.logger.Warn("the log goes on in a new epoch: what the leader before wrote behind the newest record here is missing",
		"epoch", epoch, "lacksFrom", uint64(head.Sequence)+1, "lacksThroughAtLeast", uint64(max(lost.Sequence, head.Sequence)),
		"newestHere", words.Zone{}.Second(head.Time), "lease", lost.String())
	return term, loop.BeginEpoch(ctx, f.log, world, events.At(time.Now()), salt, epoch, lost)
}

// Release implements source: it tells the processes that copy this log that the last record is written, and waits for a
// short time until they have it.
func (f *followed) Release(ctx context.Context) error {
	f.giver.End()
	ctx, cancel := context.WithTimeout(ctx, following.ShipWithin)
	defer cancel()
	_, head := f.opened.Durable()
	if lack := f.giver.Shipped(ctx, head.Sequence); len(lack) > 0 {
		return fmt.Errorf("standby %s has the log up to record %d, and it ends with %d", lack[0].Name, lack[0].Through,
			head.Sequence)
	}
	return nil
}

// otherKey returns an error if this process's key (the secret by which erased values are named) is not the one with
// which the leader wrote the log.
func (f *followed) otherKey() error {
	before := f.fold.World().Key
	if before == "" || before == f.key.ID() {
		return nil
	}
	return fmt.Errorf("%w: the log was written under key %s, and --%s is key %s: all controllers that follow each other have "+
		"one key", store.ErrOtherKey, before, replicating.KeyFlag, f.key.ID())
}
