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
	"github.com/jobledger/jobledger/events/observation"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Sink takes observations, one at a time and in order. The controller's loop is one.
type Sink interface {
	// Observe may block as long as the sink has no room; the watch goes on meanwhile. It must return soon after the
	// context of Run has ended.
	Observe(o events.Observation)
}

// Config configures an informer. Client, Sink and the feed's Mode and Key are required.
type Config struct {
	Client    kubernetes.Interface
	Namespace string // watched namespace; empty for all
	Sink      Sink
	// Feed says what is observed, and how. New refuses the zero key, and sets Now and Relist. The informer uses its
	// Logger, too.
	Feed observation.Config
}

func (c *Config) validate() error {
	switch {
	case c.Client == nil:
		return errors.New("informer: no client")
	case c.Feed.Key == events.Key{}:
		return errors.New("informer: no key")
	case c.Sink == nil:
		return errors.New("informer: no sink")
	case c.Feed.Mode != events.ModeDelegated && c.Feed.Mode != events.ModeAll && c.Feed.Mode != events.ModeObserve:
		return fmt.Errorf("informer: unknown mode %d", c.Feed.Mode)
	}
	if c.Feed.Logger == nil {
		c.Feed.Logger = slog.Default()
	}
	return nil
}

// Informer watches Jobs, pods and CronJobs. Any goroutine may call its methods; Run may be called once.
type Informer struct {
	sink      Sink
	logger    *slog.Logger
	feed      *observation.Feed
	followers []*follower   // one per resource of the feed, in the order of their first lists
	proofs    patience      // limits how often a live read may report a rewind
	failed    chan error    // receives the first error that ends Run
	stopped   chan struct{} // closed when Run ends
}

// New returns an informer that does nothing until Run. It returns an error when a required field of config is missing.
func New(config Config) (*Informer, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	i := &Informer{
		sink: config.Sink, logger: config.Feed.Logger, failed: make(chan error, 1), stopped: make(chan struct{}),
	}
	config.Feed.Now, config.Feed.Relist = func() events.Time { return events.At(time.Now()) }, i.restart
	i.feed = observation.NewFeed(config.Feed)
	i.followers = i.follow(&config)
	return i, nil
}

// Run lists, watches and delivers observations until ctx ends, and then returns nil. It returns observation.ErrUnusable
// when the API server breaks a promise, for example with a resourceVersion that is not a number. It logs and retries
// failed requests.
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
	group.Go(func() error {                               // ends with ctx; after an error it ends the group's ctx
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
	default: // the channel already holds an earlier error, which ends Run: drop this one
	}
}

// deliver passes the queue to the sink until ctx ends.
func (i *Informer) deliver(ctx context.Context) {
	for {
		o, ok := i.feed.Next(ctx)
		if !ok {
			return
		}
		i.sink.Observe(o)
	}
}

// restart lists a resource again.
func (i *Informer) restart(r events.Resource) {
	for _, f := range i.followers {
		if f.resource == r {
			f.restart()
		}
	}
}

// Relist lists all resources again. After everything that is already queued, the sink gets a ListingStarted with this
// reason, the objects, and a Synced for each resource.
func (i *Informer) Relist(reason events.ListingReason) {
	i.feed.Relist(reason)
	for _, f := range i.followers {
		f.restart()
	}
}

// Sure reports whether the cluster has certainly not been restored from a backup since the last observation. It is
// false while the watch of a resource is interrupted. Decisions must not be carried out then.
func (i *Informer) Sure() bool {
	for _, f := range i.followers {
		if !f.source.sure.Load() {
			return false
		}
	}
	return true
}

// Wrote records the resourceVersion in the answer to one of our own requests, by [observation.Feed.Wrote].
func (i *Informer) Wrote(life events.Identity, r events.Resource, uid types.UID, version uint64, dropped bool) {
	i.feed.Wrote(life, r, uid, version, dropped)
}

// Behind takes a proof of a rewind from a live read that was sent in the epoch of life. It then lists everything again.
// It limits the rate with a backoff, because a server whose reads and lists contradict each other would give proofs for
// ever.
func (i *Informer) Behind(life events.Identity, proof events.Rewind) {
	if i.proofs.take(time.Now()) {
		i.feed.Behind(life, proof)
	}
}

// patience is a rate limit with a backoff: after each allowed call, the next one must wait twice as long as before, at
// most the time calm. If no call comes for the time calm after a wait, the waits begin again at firstPause.
type patience struct {
	mu   sync.Mutex
	next time.Time
	wait time.Duration
}

// take reports whether a call is allowed now, because the current wait is over. If so, it begins the next wait.
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

// Waiting returns the number of observations that the sink has not taken yet.
func (i *Informer) Waiting() int { return i.feed.Waiting() }

// ObserveJob returns the observation of a Job from a live read, by [observation.Feed.ObserveJob].
func (i *Informer) ObserveJob(job *kubewire.Job) events.Observation { return i.feed.ObserveJob(job) }

// ObserveRun returns the observation of a CronJob's Job from a live read, by [observation.Feed.ObserveRun].
func (i *Informer) ObserveRun(job *kubewire.Job) events.Observation { return i.feed.ObserveRun(job) }

// ObserveCronJob returns the observation of a CronJob from a live read, by [observation.Feed.ObserveCronJob].
func (i *Informer) ObserveCronJob(cronJob *kubewire.CronJob) events.Observation {
	return i.feed.ObserveCronJob(cronJob)
}

// ObservePod returns the observation of a pod from a live read, by [observation.Feed.ObservePod].
func (i *Informer) ObservePod(pod *kubewire.Pod) events.Observation { return i.feed.ObservePod(pod) }
