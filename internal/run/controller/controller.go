package controller

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/discovery"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/informer"
	"github.com/jobledger/jobledger/events/kube"
	jobmetrics "github.com/jobledger/jobledger/events/metrics"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/run/backup"
	"github.com/jobledger/jobledger/internal/run/copying"
	"github.com/jobledger/jobledger/internal/run/known"
	"github.com/jobledger/jobledger/internal/run/lease"
	"github.com/jobledger/jobledger/internal/subject/zones"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/executor"
	"github.com/jobledger/jobledger/reconciler/executor/kubeapi"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/livetail"
	"github.com/jobledger/jobledger/store/open"
)

// controller is the parts of a run, tied together.
type controller struct {
	config   *Config
	settings events.Settings
	logger   *slog.Logger
	cluster  *Cluster
	registry *prometheus.Registry
	lease    *lease.Lease // nil when none is wanted
	identity string       // as which the Lease is held
	adopts   bool         // it was said that the log is another than before

	log       store.Log
	key       events.Key // of the log
	queue     *loop.Queue
	informer  *informer.Informer
	around    *informer.Surroundings // nodes and namespaces
	messages  *informer.Messages     // how much of them is kept
	executor  *executor.Executor
	hands     *countedExecutor
	runner    *loop.Runner
	publisher *kube.Publisher
	alarm     *kube.Alarm
	disk      disk
	budgets   budgets
	counter   *jobmetrics.Consumer
	scrubber  *scrubber
	packer    *packer
	retainer  *retainer
	lists     joblist.Config             // of the log's Jobs, for readers
	damage    func() []error             // what is known to be wrong with the log, for them
	stream    *streamer                  // nil for none
	copier    *copying.Copier            // nil for none
	endpoint  *endpoint                  // nil for none
	clock     atomic.Pointer[loop.Clock] // nil until the loop runs; the endpoint reads it
	health    *Health
	metrics   *metrics
	drain     *Drain                       // nil unless it drains
	gangs     discovery.DiscoveryInterface // tells which the server has; nil where none are made
	unserved  chan struct{}                // has one entry when a request met that the API of gangs is not served
}

// Run runs a controller until ctx ends or something fails, and then stops in good order.
func Run(ctx context.Context, config *Config) error {
	logger := config.Logger
	c := &controller{
		config: config, settings: config.Settings, logger: logger, cluster: config.Cluster, health: &Health{logger: logger}, registry: prometheus.NewRegistry(),
		unserved: make(chan struct{}, 1),
	}
	registerProgram(c.registry, config.Program)
	if config.Settings.Draining {
		c.drain = &Drain{Log: logger, Drained: config.Drained}
	}
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
	if !c.observes() {
		c.health.set(func(h *Health) { h.standby, h.second = true, findingOut }) // before a port answers
	}
	if config.Scrape.Address == "" {
		return work(ctx)
	}
	scrape, err := newScrape(&config.Scrape, c.health, c.registry, config.Cluster.Client, logger)
	if err != nil {
		return err
	}
	logger.Info("serving health and metrics", "metrics", scrape.URL())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(scrape.Run) // ends with the next
	group.Go(func() error {
		defer stopServing(scrape)
		return work(ctx)
	})
	return group.Wait()
}

// work does what a controller does, on the log.
func (c *controller) work(ctx context.Context, log store.Opened) (err error) {
	config, logger := c.config, c.logger
	dir, err := open.Dir(config.Log)
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, serve.AddressFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the address of the controller before: %w", err)
	}
	id, head := log.Identity(), log.Head()
	logger.Info("log opened", "directory", dir, "logID", id.LogID, "epoch", id.Epoch, "term", log.Term(),
		"records", uint64(head.Sequence), "hash", head.Hash.String())
	world, err := loop.Recover(ctx, log)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	if world.Lost != (events.Loss{}) {
		return c.explainLoss(&loop.LossError{Loss: world.Lost})
	}
	if err := c.takeKey(log, world.Key); err != nil {
		return err
	}
	if err := c.heedCopy(ctx, log); err != nil {
		return err
	}
	if err := refuseStates(config.Retention, loop.StatesBytes(world)); err != nil {
		return err
	}
	logger.Info("state folded", "jobs", world.Len(), "finishedJobs", world.Stubs())
	c.health.set(func(h *Health) { h.listing = true })
	c.metrics = newMetrics(c.registry, log)
	c.ofFiles(log)
	c.reportZones(world)
	c.log = livetail.New(countedLog{log, c.metrics}, 0)
	c.lists, c.damage = joblist.Config{Log: c.log, Files: store.FilesOf(log), Dir: dir}, log.Damage
	if c.stream, err = newStreamer(&config.Stream, dir, c.log, logger); err != nil {
		return err
	}
	if c.stream != nil {
		c.stream.Diverged = func(e *publish.DivergedError) { // the loop records it, and ends
			c.queue.Observe(events.Observation{Facts: &events.LossFound{Loss: e.Loss()}})
		}
	}
	defer func() { c.stream.close() }()
	if c.copier, err = c.newCopier(dir, log); err != nil {
		return err
	}
	if c.retainer, err = newRetainer(config.Retention, log, logger, c.health, c.registry, c.consumers()...); err != nil {
		return err
	}
	c.settleCronJobs(ctx)
	if err := c.assemble(ctx, world); err != nil {
		return err
	}
	return c.run(ctx)
}

// newCopier makes what copies the log; nil when that is not wanted.
func (c *controller) newCopier(dir string, log store.Opened) (*copying.Copier, error) {
	place := c.config.Copy.Place
	if place == nil {
		return nil, nil
	}
	return copying.New(copying.Config{
		Dir: dir, Log: c.log, Durable: log.Durable, Written: c.metrics.written.Load, Place: place, Unfenced: c.config.Copy.Unfenced, Writer: c.config.Program.Version, Logger: c.logger,
		Ahead: func(e *backup.AheadError) { // the loop records it, and ends
			c.queue.Observe(events.Observation{Facts: &events.LossFound{Loss: e.Loss()}})
		},
	})
}

// heedCopy ends a start when the copy has records that the log lost, is of another log, or would not be safe from a
// second writer. A place that does not answer is not waited for: the copier says the same later.
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
		c.logger.Warn("the copy of the log cannot be asked whether it has later records than the log: going on without its answer", "copy", place.String(),
			"error", err)
	}
	return unlessStopped(ctx, nil)
}

// ofFiles makes what looks after the files of the log. Of a log without files it does nothing.
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

// takeKey takes the key of the log, which the last run knew under that ID.
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

// assemble makes the parts. Nothing runs yet.
func (c *controller) assemble(ctx context.Context, world *projector.World) (err error) {
	client, err := kubeapi.New(c.cluster.Client)
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
	objects := executor.NewObjects(informer.TemplateHash(c.key)).WithCronJobs(informer.CronTemplateHash(c.key))
	var keeper informer.Keeper = objects
	if c.observes() {
		keeper = nil // what it keeps is for carrying out commands
	}
	var finished func(*kubewire.Job)
	if c.settings.DeleteExpired {
		finished = (&expiryWarner{log: c.logger, now: time.Now}).look
	}
	c.messages = informer.NewMessages(c.config.Messages, c.logger)
	c.informer, err = informer.New(informer.Config{
		Client: c.cluster.Client, Namespace: c.settings.Namespace, Mode: c.settings.Mode, Draining: c.settings.Draining, Others: c.settings.ObserveOthers, CronJobs: c.settings.CronJobs, Gangs: c.settings.Gangs.AsksBeta(),
		Identity: identity, Key: c.key, Sink: c.queue, Keeper: keeper, Known: known.Of(world), Logger: c.logger,
		Foreign: c.metrics.ofJobs.Foreign, Finished: finished, KeepLabels: c.config.Labels,
		Messages: c.messages,
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
			Leader: c.identity, Patience: c.config.Patience, Busy: busy, Clock: func() time.Duration { return time.Since(began) },
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
	if c.config.Listen != "" {
		if c.endpoint, err = c.newEndpoint(); err != nil {
			return err
		}
	}
	return c.leaveAddresses()
}

// relist lists everything again, because the log had no room for a while.
func (c *controller) relist() {
	c.informer.Relist(events.ListingGap)
	c.around.Relist()
}

// assembleHands makes the parts by which the world hears of what was decided: commands, Kubernetes Events, and the
// metrics of Jobs, which are those of who runs them.
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
			default: // it is asked already
			}
		}, Crons: crons, Objects: objects, Mode: c.settings.Mode,
		Observe: c.informer.ObserveJob, ObservePod: c.informer.ObservePod, ObserveCronJob: c.informer.ObserveCronJob, ObserveRun: c.informer.ObserveRun, Wrote: c.informer.Wrote, Behind: c.informer.Behind, StopTimeout: c.config.Stop,
		RequestTimeout: min(30*time.Second, c.settings.RequestTimeout/2), // shorter than the server's
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
	c.counter = jobmetrics.Follow(c.log, world, c.metrics.ofJobs) // before the loop changes the world
	return nil
}

// consumers are those for whom the log keeps records while it has room.
func (c *controller) consumers() (names []string) {
	if !c.observes() {
		names = append(names, kube.Consumer)
	}
	if c.stream != nil && !c.config.Stream.Publish.Core {
		names = append(names, publish.Consumer)
	}
	if c.copier != nil {
		names = append(names, copying.Consumer)
	}
	return names
}

// observes reports whether another controller runs the Jobs, and this one only reads.
func (c *controller) observes() bool { return c.settings.Mode == events.ModeObserve }

// runsCronJobs reports whether Jobs of CronJobs are made here, in place of the built-in CronJob controller.
func (c *controller) runsCronJobs() bool { return c.settings.RunsCronJobs() }

// noExecutor carries nothing out.
type noExecutor struct{}

// Submit is described by loop.Executor.
func (noExecutor) Submit(tasks ...events.Task) {
	if len(tasks) > 0 {
		panic("a command is to be carried out in observe mode") // the loop decides nothing there
	}
}

// TakeBack is described by loop.Executor.
func (noExecutor) TakeBack(...events.Task) {}

// Hasten is described by loop.Executor.
func (noExecutor) Hasten(...events.Task) {}

// Stop is described by loop.Executor.
func (noExecutor) Stop(context.Context) {}

// salt protects erased evidence from being guessed.
func salt() (s events.Salt) {
	_, _ = rand.Read(s[:]) // never fails
	return s
}

// zoneData says which time zone database new rules of zones come from; empty where no decision depends on a zone.
func zoneData(s *events.Settings) string {
	if !s.CronJobs {
		return ""
	}
	return zones.Version()
}
