package controller

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/discovery"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/informer"
	"github.com/jobledger/jobledger/events/kube"
	jobmetrics "github.com/jobledger/jobledger/events/metrics"
	"github.com/jobledger/jobledger/events/observation"
	"github.com/jobledger/jobledger/internal/run/copying"
	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/internal/run/following"
	"github.com/jobledger/jobledger/internal/run/known"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/internal/subject/zones"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/executor"
	"github.com/jobledger/jobledger/reconciler/executor/kubeapi"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// controller is one run of a controller, with all its parts.
type controller struct {
	config   *Config
	settings events.Settings
	logger   *slog.Logger
	cluster  *Cluster
	registry *prometheus.Registry
	lease    *lease.Lease // nil if no Lease is wanted
	identity string       // the identity that holds the Lease
	adopts   bool         // set once a message has said that this run replaces the log that the Lease named
	// this process's part in the replication of the log; nil unless a NATS stream replicates it
	member  *replicating.Member
	standby *following.Standby // nil unless the log is copied from another controller (--follow)
	logID   string             // ID of the log that is copied from another controller
	// the records that were stored in the log's stream again before this process led; nil for none
	refilled *events.StreamRefilled

	giver *feed.Giver // sends the log's records to readers on other machines; nil for none

	standing // log, key, lists and the other parts that run even while another process leads and this one waits

	queue     *loop.Queue
	informer  *informer.Informer
	around    *informer.Surroundings // watches nodes and namespaces
	messages  *observation.Messages  // decides how much of containers' messages is recorded
	executor  *executor.Executor
	hands     *countedExecutor
	runner    *loop.Runner
	publisher *kube.Publisher
	alarm     *kube.Alarm
	disk      disk
	budgets   budgets
	counter   *jobmetrics.Consumer
	retainer  *retainer
	stream    *streamer                  // nil for none
	copier    *copying.Copier            // nil for none
	clock     atomic.Pointer[loop.Clock] // the loop's clock; nil until the loop runs; the method now reads it
	health    *Health
	metrics   *metrics
	drain     *Drain                       // nil unless the controller drains
	gangs     discovery.DiscoveryInterface // says which gang APIs the server has; nil if no gangs are made
	unserved  chan struct{}                // gets a value if a request finds that the server lacks the gang API
}

// newController returns a controller that has a config and a registry, and no other parts yet.
func newController(config *Config) *controller {
	logger := config.Logger
	c := &controller{
		config: config, settings: config.Settings, logger: logger, cluster: config.Cluster,
		health: &Health{logger: logger}, registry: prometheus.NewRegistry(), unserved: make(chan struct{}, 1),
	}
	registerProgram(c.registry, config.Program)
	if config.Settings.Draining {
		c.drain = &Drain{Log: logger, Drained: config.Drained}
	}
	return c
}

// Run runs a controller until ctx ends or a part fails, and then stops it cleanly. It returns the error of the part
// that failed; nil after a stop by ctx.
func Run(ctx context.Context, config *Config) error {
	c := newController(config)
	logger := c.logger
	known, err := c.chooseGangs()
	if err != nil {
		return err
	}
	work := func(ctx context.Context) error {
		if !known {
			if err := c.awaitGangs(ctx); err != nil {
				return unlessStopped(ctx, err)
			}
		}
		if !c.observes() {
			if err := c.refuseUnled(ctx); err != nil {
				return unlessStopped(ctx, err)
			}
			c.health.set(func(h *Health) { h.standby, h.second = false, "" })
		}
		return c.withLog(ctx, c.work)
	}
	if c.elects() {
		work = c.elect
	}
	if config.Replicate != nil {
		work = c.replicate
	}
	if config.Follow != nil {
		work = c.follow
	}
	if !c.observes() {
		// Set before a port answers: no probe may find this process ready before it knows whether it may lead
		c.health.set(func(h *Health) { h.standby, h.second = true, findingOut })
	}
	if config.Scrape.Address == "" {
		return work(ctx)
	}
	scrape, err := c.newScrape()
	if err != nil {
		return err
	}
	logger.Info("serving health and metrics", "metrics", scrape.URL())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(scrape.Run) // ends when the next goroutine shuts it down
	group.Go(func() error {
		defer stopServing(scrape)
		return work(ctx)
	})
	return group.Wait()
}

// assemble makes the parts of a leading controller. It starts none of them.
func (c *controller) assemble(ctx context.Context, world *projector.World) (err error) {
	client, err := c.hand()
	if err != nil {
		return err
	}
	var api clusterAPI = client
	if c.log, api, err = withFailpoints(c.log, api); err != nil {
		return err
	}
	identity := c.log.Identity()
	c.queue = loop.NewQueue()
	c.queue.Remember(c.log, world)
	objects := executor.NewObjects(observation.TemplateHash(c.key)).WithCronJobs(observation.CronTemplateHash(c.key))
	var keeper observation.Keeper = objects
	if c.observes() {
		keeper = nil // the keeper serves only the execution of commands, and a controller in observe mode executes none
	}
	var finished func(*kubewire.Job)
	if c.settings.DeleteExpired {
		finished = (&expiryWarner{log: c.logger, now: time.Now}).look
	}
	c.messages = observation.NewMessages(c.config.Messages, c.logger)
	c.informer, err = informer.New(informer.Config{
		Client: c.cluster.Client, Namespace: c.settings.Namespace, Sink: c.queue,
		Feed: observation.Config{
			Mode: c.settings.Mode, Draining: c.settings.Draining, Others: c.settings.ObserveOthers,
			CronJobs: c.settings.CronJobs, Gangs: c.settings.Gangs.AsksBeta(),
			Identity: identity, Key: c.key, Keeper: keeper, Known: known.Of(world), Logger: c.logger,
			Foreign: c.metrics.ofJobs.Foreign, Finished: finished, KeepLabels: c.config.Labels,
			Messages: c.messages,
		},
	})
	if err != nil {
		return err
	}
	c.around = informer.NewSurroundings(informer.SurroundingsConfig{
		Client: c.cluster.Client, Namespace: c.settings.Namespace, Off: !c.config.Around, Sink: c.queue,
		Messages: c.messages,
		Nodes:    world.OutOfOrder(), Namespaces: world.GoingNamespaces(), Logger: c.logger,
	})
	var hands loop.Executor = noExecutor{}
	var lost <-chan struct{}
	var busy func(events.Stream) bool
	if !c.observes() {
		if err := c.assembleHands(world, api, objects); err != nil {
			return err
		}
		hands, busy = c.hands, c.executor.Busy
	}
	if c.lease != nil {
		lost = c.lease.Lost()
	}
	server, _ := c.cluster.time(ctx)
	began, clock := time.Now(), loop.NewClock(server)
	c.clock.Store(clock)
	c.runner = &loop.Runner{
		Loop: loop.New(loop.Config{
			Log: c.log, World: world, Settings: c.settings, Program: c.config.Program.Version, Key: c.key.ID(), ZoneData: zoneData(&c.settings), Salt: salt,
			Refilled: c.refilled,
			Leader:   c.identity, Patience: c.config.Patience, Busy: busy, Clock: func() time.Duration { return time.Since(began) },
		}),
		Queue: c.queue, Executor: hands, Clock: clock, Log: c.logger,
		Full: c.full, Relist: c.relist, Behind: c.informer.Behind, ServerTime: c.cluster.time,
		Drain: c.config.Stop, Show: c.show, Lost: lost, Prunes: c.retainer.prunes,
	}
	c.metrics.parts(c.queue, c.informer, c.executor, c.health)
	if c.stream != nil {
		c.health.set(func(h *Health) { h.degraded = c.stream.degraded })
		c.metrics.streaming(c.stream)
	}
	if c.copier != nil {
		c.health.set(func(h *Health) { h.copied = c.copier.Degraded })
		c.registry.MustRegister(c.copier)
	}
	if err := c.answer(); err != nil {
		return err
	}
	return c.leaveAddresses()
}

// hand returns the client that carries out commands. With a Lease, this client sends nothing while the Lease is not
// held; a request that was about to be sent when the process or its machine froze for a while is not sent later either.
func (c *controller) hand() (*kubeapi.Client, error) {
	if c.lease == nil {
		return kubeapi.New(c.cluster.Client)
	}
	acting, err := c.cluster.Acting(c.lease.Holds)
	if err != nil {
		return nil, err
	}
	return kubeapi.New(acting)
}

// relist makes the informers list everything in the cluster again. It is called when the log has disk space again,
// because nothing was recorded in the meantime.
func (c *controller) relist() {
	c.informer.Relist(events.ListingGap)
	c.around.Relist()
}

// assembleHands makes the parts that act on decisions: the executor, the publisher of Kubernetes Events, and the
// metrics of Jobs. Only a controller that runs the Jobs itself has them; one in observe mode has none of them.
func (c *controller) assembleHands(world *projector.World, api clusterAPI, objects *executor.Objects) (err error) {
	may := c.informer.Sure
	var within func(context.Context) (context.Context, context.CancelFunc)
	if c.lease != nil {
		may = func() bool { return c.lease.Holds() && c.informer.Sure() }
		within = c.lease.Within
	}
	var workloads executor.WorkloadAPI
	if c.settings.Gangs.AsksBeta() {
		workloads = api
	}
	var crons executor.CronAPI
	if c.runsCronJobs() {
		crons = api
	}
	c.executor, err = executor.New(executor.Config{
		Seal: c.key.Seal, Term: c.log.Term(), May: may, Within: within, API: api, Groups: api, Workloads: workloads, Unserved: func() {
			select {
			case c.unserved <- struct{}{}:
			default: // a value is waiting already, and says the same
			}
		}, Crons: crons, Objects: objects, Mode: c.settings.Mode,
		Observe: c.informer.ObserveJob, ObservePod: c.informer.ObservePod, ObserveCronJob: c.informer.ObserveCronJob, ObserveRun: c.informer.ObserveRun, Wrote: c.informer.Wrote, Behind: c.informer.Behind, StopTimeout: c.config.Stop,
		// The timeout is below the time for which a sent request may still take effect at the server.
		RequestTimeout: min(30*time.Second, c.settings.RequestTimeout/2),
	})
	if err != nil {
		return err
	}
	c.hands = newCountedHands(c.executor, c.metrics)
	c.publisher, err = kube.New(kube.Config{
		Log: c.log, Client: c.cluster.Client, Mode: c.settings.Mode, Gangs: c.settings.GangScheduling, Logger: c.logger,
	})
	if err != nil {
		return err
	}
	c.alarm = kube.NewAlarm(c.log, c.cluster.Client, c.logger)
	c.registry.MustRegister(c.metrics.ofJobs)
	c.counter = jobmetrics.Follow(c.log, world, c.metrics.ofJobs) // must read world before the loop changes it
	return nil
}

// observes reports whether this controller only reads, while another controller runs the Jobs.
func (c *controller) observes() bool { return c.settings.Mode == events.ModeObserve }

// salt returns a random salt. Where a text was erased, the log keeps a hash of text and salt, so that nobody can test a
// guess of the text.
func salt() (s events.Salt) {
	_, _ = rand.Read(s[:]) // never fails
	return s
}

// zoneData returns the version of the time zone database from which new zone rules are recorded; empty if CronJobs are
// not recorded.
func zoneData(s *events.Settings) string {
	if !s.CronJobs {
		return ""
	}
	return zones.Version()
}
