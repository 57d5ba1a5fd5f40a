package informer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Sink takes observations, one at a time and in their order.
type Sink interface {
	// Observe may block for as long as the sink has no room; the watch goes on meanwhile. It must return soon after
	// the context given to Run has ended.
	Observe(o events.Observation)
}

// Config says what to watch and whom to tell. Client, Mode and Sink are required.
type Config struct {
	Client    kubernetes.Interface
	Namespace string          // watched namespace; empty for all
	Mode      events.Mode     // which Jobs are ours
	Draining  bool            // of those, none that has not begun
	Others    bool            // the Jobs of other controllers are told, too (events.Settings.ObserveOthers)
	CronJobs  bool            // CronJobs are watched, too
	Gangs     bool            // it is told whether a controller owns a Job (events.GangRule.AsksBeta)
	Identity  events.Identity // the life of the log, by which pods of ours are recognised
	Key       events.Key      // of the log, with which specs and templates are hashed; New refuses the zero key
	Sink      Sink
	Keeper    Keeper // told what the executor needs of unfinished Jobs; may be nil
	Known     Known  // what the log believes to exist; the zero value when it knows nothing
	// KeepLabels are names of labels of Jobs that are recorded; nil for UsualLabels, empty for none.
	KeepLabels []string
	Messages   *Messages    // how much is kept of what containers write; nil for all
	Logger     *slog.Logger // nil for the default
	// Foreign is told the managedBy of each Job that appears and that is not ours (J-204). It must return at once; may be
	// nil.
	Foreign func(managedBy string)
	// Finished is told each version of a Job of ours that has finished and is not being deleted. It must return at once,
	// and not keep the Job; may be nil.
	Finished func(*kubewire.Job)
}

func (c *Config) validate() error {
	switch {
	case c.Client == nil:
		return errors.New("informer: no client")
	case c.Key == events.Key{}:
		return errors.New("informer: no key")
	case c.Sink == nil:
		return errors.New("informer: no sink")
	case c.Mode != events.ModeDelegated && c.Mode != events.ModeAll && c.Mode != events.ModeObserve:
		return fmt.Errorf("informer: unknown mode %d", c.Mode)
	}
	c.defaults()
	return nil
}

func (c *Config) defaults() {
	if c.Keeper == nil {
		c.Keeper = nobody{}
	}
	if c.Foreign == nil {
		c.Foreign = func(string) {}
	}
	if c.Finished == nil {
		c.Finished = func(*kubewire.Job) {}
	}
	if c.KeepLabels == nil {
		c.KeepLabels = UsualLabels
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
}

// Informer watches Jobs and Pods. Its methods may be called from any goroutine; Run once.
type Informer struct {
	sink      Sink
	logger    *slog.Logger
	feed      *Feed
	followers []*follower   // of the feed's resources
	proofs    patience      // of rewinds by live reads
	failed    chan error    // has the first error that ends Run
	stopped   chan struct{} // closed when Run ends
}

// New returns an informer that does nothing until Run.
func New(config Config) (*Informer, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	return newInformer(config, NewFeed(config)), nil
}

func newInformer(config Config, feed *Feed) *Informer {
	i := &Informer{sink: config.Sink, logger: config.Logger, feed: feed, failed: make(chan error, 1), stopped: make(chan struct{})}
	for _, r := range feed.resources {
		i.followers = append(i.followers, r.follow(&config, i.fail, i.stopped))
	}
	feed.relist = i.restart
	feed.now = func() events.Time { return events.At(time.Now()) }
	return i
}

// Run lists, watches and delivers until ctx ends, and then returns nil. It returns ErrUnusable when the API server says
// something that cannot be relied on, such as a resourceVersion that is not a number; trouble in reaching the server is
// logged and tried again.
func (i *Informer) Run(ctx context.Context) error {
	ctx = klog.NewContext(ctx, logr.FromSlogHandler(i.logger.Handler()))
	group, ctx := errgroup.WithContext(ctx)
	context.AfterFunc(ctx, func() { close(i.stopped) })
	for n, f := range i.followers {
		group.Go(func() error { // ends with ctx
			if n > 0 {
				select {
				case <-i.followers[n-1].source.began:
				case <-ctx.Done():
				}
			}
			f.run(ctx)
			return nil
		})
	}
	group.Go(func() error { i.deliver(ctx); return nil }) // ends with ctx
	group.Go(func() error {                               // ends with ctx, or ends it
		select {
		case err := <-i.failed:
			return err
		case <-ctx.Done():
			return nil
		}
	})
	return group.Wait()
}

func (i *Informer) fail(err error) {
	select {
	case i.failed <- err:
	default: // another came first
	}
}

// deliver hands the queue to the sink until ctx ends.
func (i *Informer) deliver(ctx context.Context) {
	for {
		o, ok := i.feed.queue.next(ctx)
		if !ok {
			return
		}
		i.sink.Observe(o)
	}
}

// restart lists a resource again.
func (i *Informer) restart(r events.Resource) {
	for _, f := range i.followers {
		if f.listing.resource == r {
			f.restart()
		}
	}
}

// Relist lists all resources again. The sink is told ListingStarted with that reason, the objects, and a Synced for
// each resource, after everything that was queued before.
func (i *Informer) Relist(reason events.ListingReason) {
	i.feed.Relist(reason)
	for _, f := range i.followers {
		f.restart()
	}
}

// Sure reports whether what was seen is certain to be of the cluster's past or present. It is not while a resource is
// not watched: the cluster may be restored from a backup meanwhile, and then what was decided is not to be carried out.
func (i *Informer) Sure() bool {
	for _, f := range i.followers {
		if !f.source.sure.Load() {
			return false
		}
	}
	return true
}

// Wrote takes note of a version that an answer to one of our own requests brought; see [Feed.Wrote].
func (i *Informer) Wrote(life events.Identity, r events.Resource, uid types.UID, version uint64, dropped bool) {
	i.feed.Wrote(life, r, uid, version, dropped)
}

// Behind takes the proof of a rewind that a live read gave, which was asked for in that life of the log. Everything is
// listed again then. Of a server whose reads and lists contradict each other, which never agree, it takes one only so
// often.
func (i *Informer) Behind(life events.Identity, proof events.Rewind) {
	if i.proofs.take(time.Now()) {
		i.feed.Behind(life, proof)
	}
}

// patience spaces things out: each waits longer than the one before, until there was none for a while.
type patience struct {
	mu   sync.Mutex
	next time.Time
	wait time.Duration
}

// take reports whether it is time for another.
func (p *patience) take(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case now.Before(p.next):
		return false
	case p.wait == 0, now.After(p.next.Add(calm)):
		p.wait = firstPause
	default:
		p.wait = min(2*p.wait, calm)
	}
	p.next = now.Add(p.wait)
	return true
}

// Waiting is the number of observations that the sink has not taken yet.
func (i *Informer) Waiting() int { return i.feed.queue.len() }

// ObserveJob is the observation of a Job that was read live; see [Feed.ObserveJob].
func (i *Informer) ObserveJob(job *kubewire.Job) events.Observation { return i.feed.ObserveJob(job) }

// ObserveRun is the observation of a Job of a CronJob that was read live; see [Feed.ObserveRun].
func (i *Informer) ObserveRun(job *kubewire.Job) events.Observation { return i.feed.ObserveRun(job) }

// ObserveCronJob is the observation of a CronJob that was read live; see [Feed.ObserveCronJob].
func (i *Informer) ObserveCronJob(cronJob *kubewire.CronJob) events.Observation {
	return i.feed.ObserveCronJob(cronJob)
}

// ObservePod is the observation of a Pod that was read live; see [Feed.ObservePod].
func (i *Informer) ObservePod(pod *kubewire.Pod) events.Observation { return i.feed.ObservePod(pod) }
