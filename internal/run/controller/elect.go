package controller

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jobledger/jobledger/internal/run/following"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// elects reports whether this controller needs a Lease. Observe mode writes nothing to the cluster, so it needs none.
func (c *controller) elects() bool { return c.config.Lease.On && !c.observes() }

// newLease prepares the Lease without taking it. A controller for one namespace keeps its Lease there, so that rights
// in that namespace suffice.
func (c *controller) newLease() (err error) {
	f := &c.config.Lease
	client, err := c.cluster.Patient(f.RenewDeadline / 2)
	if err != nil {
		return err
	}
	c.identity = identity()
	c.lease, err = lease.New(lease.Config{
		Client: client, Namespace: cmp.Or(f.Namespace, c.settings.Namespace, lease.DefaultNamespace),
		MakeNamespace: f.Namespace == "" && c.settings.Namespace == "", Scope: c.settings.Namespace, Cron: c.runsCronJobs(),
		Identity: c.identity, Duration: f.Duration, RenewDeadline: f.RenewDeadline, RetryPeriod: f.RetryPeriod, Logger: c.logger,
	})
	if err != nil {
		return err
	}
	slowPaths.WithLabelValues(lease.UsualName)
	registerLease(c.registry, lease.UsualName, c.lease.Holds)
	return nil
}

// registerLease adds the gauge that says whether this process holds its Lease.
func registerLease(r prometheus.Registerer, name string, holds func() bool) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leader_election_master_status", Help: "1 while this process holds the Lease of that name, 0 while it does not.",
		ConstLabels: prometheus.Labels{"name": name},
	}, func() float64 {
		if holds() {
			return 1
		}
		return 0
	}))
}

// elect runs the controller while it holds the Lease. A process that waits for the Lease is a standby: it is healthy
// and ready (O-035), unless it may be a second controller of the same Jobs. elect opens the log before it tries to take
// the Lease. The open log proves that the previous holder has ended, because a process with an open log locks the file
// LOCK.
func (c *controller) elect(ctx context.Context) error {
	if err := c.newLease(); err != nil {
		return err
	}
	if err := c.leave(ctx); err != nil {
		return unlessStopped(ctx, err)
	}
	if err := c.refuseEarly(ctx); err != nil {
		return unlessStopped(ctx, err)
	}
	return c.withLog(ctx, func(ctx context.Context, log store.Opened) error {
		c.logger.Info("waiting for the Lease", "lease", c.lease.Name(), "identity", c.identity)
		lock := log.LockID()
		own := func() lease.Log {
			id, head := log.Durable()
			return lease.Log{Identity: id, Head: head.Sequence, Hash: head.Hash, Lock: lock}
		}
		if err := c.refuseElsewhere(ctx, log, own()); err != nil {
			return unlessStopped(ctx, err)
		}
		err := c.lease.Run(ctx, lease.Bid{
			Log: own,
			Admit: func(before lease.Said) error {
				if before.LogID == own().LogID {
					c.standBy("")
				}
				return c.refuseSaid(before, own(), log)
			},
			Lead: func(ctx context.Context) error { return c.elected(ctx, log) },
		})
		return c.explainLease(err)
	})
}

// explainLease adds to an error of the Lease what the operator can do about it.
func (c *controller) explainLease(err error) error {
	switch {
	case errors.Is(err, lease.ErrDenied) && apierrors.IsUnauthorized(err):
		err = fmt.Errorf("%w; renew the token or the certificate of this account", err)
	case errors.Is(err, lease.ErrDenied):
		err = fmt.Errorf("%w; give this user the rights of deploy/base/role.yaml in that namespace, or name another one "+
			"with --leader-elect-resource-namespace, or go without a Lease with --leader-elect=false", err)
	}
	if above := (*lease.OutrankedError)(nil); errors.As(err, &above) {
		err = fmt.Errorf("stopped, because another controller began to run the same Jobs: %w", c.runsToo(&above.By))
	}
	return err
}

// elected runs the controller after it took the Lease. It returns an error instead if in the meantime another
// controller, with another Lease, began to run the same Jobs.
func (c *controller) elected(ctx context.Context, log store.Opened) error {
	if err := c.refuseBeside(ctx); err != nil {
		return unlessStopped(ctx, err)
	}
	c.logger.Info("leading", "lease", c.lease.Name(), "identity", c.identity)
	c.health.set(func(h *Health) { h.standby, h.second = false, "" })
	return c.work(ctx, log)
}

// findingOut is the text that probes get from a process that is not ready, because it does not know yet whether another
// controller runs the same Jobs.
const findingOut = "whether another controller runs these Jobs is being found out"

// standBy sets the text with which probes explain why this waiting process is not ready: it may be a second controller
// of the same Jobs. The text is empty if the process is ready to take over.
func (c *controller) standBy(second string) {
	c.health.set(func(h *Health) { h.second = second })
}

// unlessStopped returns err, or nil if ctx has ended: a requested stop is no failure.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // an error that a stop caused is no failure
	}
	return err
}

// leaseLost reports whether the Lease was held and is now lost.
func (c *controller) leaseLost() bool {
	if c.lease == nil {
		return false
	}
	select {
	case <-c.lease.Lost():
		return true
	default:
		return false
	}
}

// identity returns a unique name for this process: the host's name and a random number.
func identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	var unique [8]byte
	_, _ = rand.Read(unique[:]) // never fails
	return host + "_" + hex.EncodeToString(unique[:])
}

// withLog opens the log, calls do with it, and closes the log.
func (c *controller) withLog(ctx context.Context, do func(context.Context, store.Opened) error) (err error) {
	log, err := c.openLog(ctx)
	if err != nil {
		return unlessStopped(ctx, c.explainLoss(err))
	}
	// The log is closed last, because all other parts use it, and because the file LOCK, which the Lease names, must
	// exist until they have ended.
	defer func() {
		if closed := log.Close(); closed != nil && err == nil {
			err = fmt.Errorf("close the log: %w", closed)
		}
		c.logger.Info("log closed", "head", uint64(log.Head().Sequence))
	}()
	if err := c.goOn(ctx, log); err != nil {
		return unlessStopped(ctx, err)
	}
	return do(ctx, log)
}

// openLog opens the log for writing. If this run uses a Lease, and no NATS stream replicates the log, it waits while
// another process has the log open.
func (c *controller) openLog(ctx context.Context) (store.Opened, error) {
	if err := c.refuseAlone(); err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		log, err := c.openWithRoom(ctx)
		var held *store.HeldError
		if err == nil || c.lease == nil || c.member != nil || !errors.As(err, &held) {
			return log, err
		}
		if !told {
			c.logger.Info("another process has the log open: waiting", "error", held.Holder())
			c.standBy("")
		}
		select {
		case <-time.After(openAgain):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// refuseAlone returns an error if the log in the directory is shared with other controllers (by a NATS stream or by
// --follow), but this run is not configured to share it.
func (c *controller) refuseAlone() error {
	dir, err := open.Dir(c.config.Log)
	if err != nil {
		return nil //nolint:nilerr // a log without a directory is never shared
	}
	if c.member == nil {
		err = replicating.RefuseAlone(dir)
	}
	if c.standby == nil {
		err = cmp.Or(err, following.RefuseAlone(dir))
	}
	return err
}

// openAgain is the time between tries to open a log that another process has open.
const openAgain = 200 * time.Millisecond
