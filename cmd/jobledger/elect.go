package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/lease"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// electFlags say whether a Lease is held, and which.
type electFlags struct {
	wanted          *bool // nil when the operator did not say
	on              bool
	duration, renew time.Duration
	retry           time.Duration
	name, namespace string
	adopt           bool
}

func (f *electFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "leader-elect", false, "work only while holding a Lease; on in a cluster, off with a kubeconfig, unless given")
	flags.DurationVar(&f.duration, "leader-elect-lease-duration", lease.DefaultDuration, "how long others wait after the newest renewal of the Lease")
	flags.DurationVar(&f.renew, "leader-elect-renew-deadline", lease.DefaultRenewDeadline, "how long a renewal is tried before the Lease is given up")
	flags.DurationVar(&f.retry, "leader-elect-retry-period", lease.DefaultRetryPeriod, "time between tries to take or renew the Lease")
	flags.StringVar(&f.name, "leader-elect-resource-name", "jobledger", "name of the Lease")
	flags.StringVar(&f.namespace, "leader-elect-resource-namespace", "", "namespace of the Lease; that of this process, or of the kubeconfig's context, unless given")
	flags.BoolVar(&f.adopt, "adopt", false, "go on though the Lease says that another log runs the Jobs of this cluster")
}

// check takes which flags were given, and refuses what cannot work.
func (f *electFlags) check(flags *pflag.FlagSet) error {
	if flags.Changed("leader-elect") {
		f.wanted = &f.on
	}
	switch {
	case f.retry <= 0:
		return usage("--leader-elect-retry-period=%s: must be longer than nothing", f.retry)
	case f.renew <= f.retry+f.retry/5:
		return usage("--leader-elect-renew-deadline=%s: must be longer than 1.2 times --leader-elect-retry-period=%s", f.renew, f.retry)
	case f.duration < f.renew+f.retry+f.retry/5: // a loss is noticed that long after the renew deadline, at the latest
		return usage("--leader-elect-lease-duration=%s: must be longer than --leader-elect-renew-deadline=%s by 1.2 times --leader-elect-retry-period=%s at least",
			f.duration, f.renew, f.retry)
	case f.duration < time.Second:
		return usage("--leader-elect-lease-duration=%s: must be at least 1s", f.duration)
	case f.name == "":
		return usage("--leader-elect-resource-name: the Lease needs a name")
	}
	return nil
}

// elects reports whether a Lease is to be held.
func (c *controller) elects() bool {
	if c.observes() {
		return false // it writes nothing, so not a Lease either
	}
	if wanted := c.flags.elect.wanted; wanted != nil {
		return *wanted
	}
	return c.cluster.inside
}

// elect works while holding the Lease. A process that waits for it is a standby: it has not opened the log, which one
// process at a time may, and it is healthy and ready (O-035).
func (c *controller) elect(ctx context.Context) error {
	f := &c.flags.elect
	client, err := c.cluster.patient(f.renew / 2)
	if err != nil {
		return err
	}
	namespace := f.namespace
	if namespace == "" {
		namespace = c.cluster.namespace
	}
	c.identity = identity()
	c.lease, err = lease.New(lease.Config{
		Client: client, Namespace: namespace, Name: f.name, Identity: c.identity,
		Duration: f.duration, RenewDeadline: f.renew, RetryPeriod: f.retry, Logger: c.logger,
	})
	if err != nil {
		return err
	}
	c.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leader_election_master_status", Help: "1 while this process holds the Lease of that name, 0 while it does not.",
		ConstLabels: prometheus.Labels{"name": f.name},
	}, func() float64 {
		if c.lease.Holds() {
			return 1
		}
		return 0
	}))
	if err := c.refuseEarly(ctx); err != nil {
		return err
	}
	c.health.set(func(h *health) { h.standby = true })
	c.logger.Info("waiting for the Lease", "lease", namespace+"/"+f.name, "identity", c.identity)
	return c.lease.Run(ctx, func(ctx context.Context, before lease.Log) error {
		c.logger.Info("leading", "lease", namespace+"/"+f.name, "identity", c.identity)
		c.health.set(func(h *health) { h.standby = false })
		return c.work(ctx, before)
	})
}

// leaseLost reports whether a Lease was held and is lost.
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

// identity is a name for this process that no other has.
func identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	var unique [8]byte
	_, _ = rand.Read(unique[:]) // never fails
	return host + "_" + hex.EncodeToString(unique[:])
}

// refuseEarly finds out before waiting that the log here is not the one that the Lease speaks of. What it cannot find out
// now is found when the Lease is held.
func (c *controller) refuseEarly(ctx context.Context) error {
	bound, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	before, err := c.lease.Read(bound)
	if err != nil {
		c.logger.Warn("cannot look at the Lease yet", "error", err)
		return nil
	}
	own := lease.Log{}
	log, err := boltlog.OpenReadOnly(c.flags.log)
	var held *store.HeldError
	switch {
	case err == nil:
		own = lease.Log{Identity: log.Identity(), Head: log.Head().Sequence}
		if err := log.Close(); err != nil {
			return err
		}
	case errors.As(err, &held): // by the process that leads
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return c.refuse(before, own)
}

// refuse says why not to work on a log, by what the Lease says of the log that ran the Jobs before (design §4, Identity).
func (c *controller) refuse(before, own lease.Log) error {
	switch {
	case before.LogID == "":
		return nil
	case before.LogID != own.LogID && c.flags.elect.adopt:
		c.logger.Warn("another log ran the Jobs of this cluster before: going on with this one", "before", before.LogID, "now", own.LogID)
		return nil
	case before.LogID != own.LogID && own.LogID == "":
		return fmt.Errorf("the Lease %s says that log %s runs the Jobs of this cluster, and there is no log in %s: "+
			"give --log where that one is, or --adopt to begin a new one", c.flags.elect.name, before.LogID, c.flags.log)
	case before.LogID != own.LogID:
		return fmt.Errorf("the Lease %s says that log %s runs the Jobs of this cluster, and the one in %s is log %s: "+
			"give --log where that one is, or --adopt to go on with this one", c.flags.elect.name, before.LogID, c.flags.log, own.LogID)
	case before.Epoch > own.Epoch || before.Head > own.Head:
		return fmt.Errorf("the log in %s ends with record %d, and the Lease %s says that it had record %d: it is an older copy, "+
			"and restoring one is not supported: move it away, and begin a new one with --adopt",
			c.flags.log, own.Head, c.flags.elect.name, before.Head)
	}
	return nil
}

// openLog opens the log for writing. Who has just won the Lease may have to wait until who lost it has let go of the log.
func (c *controller) openLog(ctx context.Context) (*boltlog.Log, error) {
	patience := time.NewTimer(0)
	if c.lease != nil {
		patience.Reset(c.flags.elect.duration + c.flags.stop)
	}
	defer patience.Stop()
	for told := false; ; told = true {
		log, err := c.openWithRoom(ctx)
		var held *store.HeldError
		if err == nil || c.lease == nil || !errors.As(err, &held) {
			return log, err
		}
		if !told {
			c.logger.Warn("another process still has the log open: waiting", "error", err)
		}
		select {
		case <-time.After(openAgain):
		case <-patience.C:
			return nil, err
		case <-ctx.Done():
			return nil, err
		}
	}
}

// openAgain is how long to wait for a log that another process has open.
const openAgain = 200 * time.Millisecond
