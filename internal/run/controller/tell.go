package controller

import (
	"context"
	"errors"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// show updates metrics and probes from the state of the loop. The loop calls it between turns.
func (c *controller) show(l *loop.Loop) {
	w := l.World()
	_, whole := w.Restated()
	c.retainer.whole.Store(uint64(whole))
	c.metrics.jobs.Store(int64(w.Len()))
	c.metrics.stubs.Store(int64(w.Stubs()))
	c.metrics.showRefused(l, c.health)
	c.showBudgets(l)
	c.metrics.overdue.show(w, time.Now(), c.runner.Clock.Now())
	if c.drain != nil {
		c.drain.Look(w, time.Now())
	}
	was, before, rival := false, "", l.Rival()
	c.health.set(func(h *Health) {
		was, h.listing = h.listing, w.Listing
		before, h.rival = h.rival, rival
		h.turned = time.Now()
	})
	switch {
	case rival != "" && rival != before:
		c.logger.Error(rival)
	case rival == "" && before != "":
		c.logger.Info("no other controller was at work for a minute: decisions go on")
	}
	if was && !w.Listing {
		go tuneCollector() // ends by itself within a moment; the loop need not wait for it
		c.logger.Info("cluster listed: deciding", "jobs", w.Len(), "finishedJobs", w.Stubs())
	}
}

// announce logs the version, the settings and the API server of this run.
func (c *controller) announce(ctx context.Context) {
	attrs := []any{
		"version", c.config.Program.Version, "rules", reconciler.RulesVersion, "manage", c.settings.Mode.String(), "server", c.cluster.host,
	}
	if c.settings.Namespace != "" {
		attrs = append(attrs, "namespace", c.settings.Namespace)
	}
	if c.settings.Draining {
		attrs = append(attrs, "drain", true)
	}
	if c.settings.Mode == events.ModeAll { // tells whether the built-in TTL controller must be off
		attrs = append(attrs, "ttl-after-finished", c.settings.DeleteExpired)
	}
	if c.settings.CronJobs {
		attrs = append(attrs, "cronjobs", map[bool]string{true: "run", false: "observed"}[c.runsCronJobs()])
	}
	for _, s := range c.settings.Differences() {
		attrs = append(attrs, s.Flag, s.Value)
	}
	if c.endpoint != nil {
		attrs = append(attrs, "listen", c.endpoint.URL())
	}
	if c.stream != nil {
		attrs = append(attrs, "nats", c.stream.Dial.Servers(), "natsCluster", c.stream.Cluster)
	}
	if c.copier != nil {
		attrs = append(attrs, "copy", c.config.Copy.Place.String())
	}
	bound, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if version, err := c.cluster.version(bound); err == nil {
		c.logger.Info("running", append(attrs, "serverVersion", version)...)
	} else {
		c.logger.Warn("running, but the API server does not answer yet", append(attrs, "error", err)...)
	}
}

// worry logs at once which rights are missing. While the cluster cannot be listed, it logs every 15 seconds that this
// is so, and why, because client-go retries silently when a server refuses connections. An error ends the run.
func (c *controller) worry(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	look := func(ctx context.Context) string {
		denied, err := c.lookAtRights(ctx)
		if err != nil {
			cancel(err)
		}
		return denied
	}
	look(ctx)
	was := false
	every(ctx, worryEvery, func(ctx context.Context) {
		listing, denied := false, ""
		c.health.set(func(h *Health) { listing, denied = h.listing, h.denied })
		if listing || denied != "" || !c.informer.Sure() {
			denied = look(ctx)
		}
		if listing && was && denied == "" {
			bound, cancel := context.WithTimeout(ctx, askTimeout)
			_, err := c.cluster.version(bound)
			cancel()
			c.logger.Warn("the cluster is still being listed: nothing is decided until that is done", "server", c.cluster.host, "error", err)
		}
		was = listing
	})
	if err := context.Cause(ctx); errors.Is(err, errWithoutCronJobs) {
		return err
	}
	return nil
}

// worryEvery is how long a listing may take before a message says so, and the time between such messages.
const worryEvery = 15 * time.Second
