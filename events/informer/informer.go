package informer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/jobledger/jobledger/events"
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
	Identity  events.Identity // the life of the log, by which pods of ours are recognised
	Sink      Sink
	Keeper    Keeper       // told what the executor needs of unfinished Jobs; nil for nobody
	Known     Known        // what the log believes to exist; the zero value when it knows nothing
	Logger    *slog.Logger // nil for the default
}

func (c *Config) validate() error {
	switch {
	case c.Client == nil:
		return errors.New("informer: no client")
	case c.Sink == nil:
		return errors.New("informer: no sink")
	case c.Mode != events.ModeDelegated && c.Mode != events.ModeAll && c.Mode != events.ModeObserve:
		return fmt.Errorf("informer: unknown mode %d", c.Mode)
	}
	if c.Keeper == nil {
		c.Keeper = nobody{}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return nil
}

// Informer watches Jobs and Pods. Its methods may be called from any goroutine; Run once.
type Informer struct {
	config Config
	queue  *queue
	view   *view
	jobs   *follower
	pods   *follower
}

// New returns an informer that does nothing until Run.
func New(config Config) (*Informer, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	q := newQueue()
	v := newView(config, q)
	client, namespace := config.Client, config.Namespace
	return &Informer{
		config: config,
		queue:  q,
		view:   v,
		jobs:   newFollower(&v.jobList, jobSource(client, namespace), &batchv1.Job{}, jobStore{v}, config.Logger),
		pods:   newFollower(&v.podList, podSource(client, namespace), &corev1.Pod{}, podStore{v}, config.Logger),
	}, nil
}

// Run lists, watches and delivers until ctx ends, and then returns nil. It returns an error when the API server says
// something that cannot be relied on, such as a resourceVersion that is not a number; trouble in reaching the server
// is logged and tried again.
func (i *Informer) Run(ctx context.Context) error {
	ctx = klog.NewContext(ctx, logr.FromSlogHandler(i.config.Logger.Handler()))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	i.view.onFailure(cancel)

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { i.jobs.run(ctx); return nil }) // ends with ctx
	group.Go(func() error {                                // ends with ctx
		if i.view.jobList.wait(ctx) {
			i.pods.run(ctx)
		}
		return nil
	})
	group.Go(func() error { i.deliver(ctx); return nil }) // ends with ctx
	err := group.Wait()
	if cause := context.Cause(ctx); err == nil && errors.Is(cause, errUnusable) {
		err = cause
	}
	return err
}

// deliver hands the queue to the sink until ctx ends.
func (i *Informer) deliver(ctx context.Context) {
	for {
		o, ok := i.queue.next(ctx)
		if !ok {
			return
		}
		i.config.Sink.Observe(o)
	}
}

// Relist lists both resources again. The sink is told ListingStarted with that reason, the objects, and a Synced for
// each resource, after everything that was queued before.
func (i *Informer) Relist(reason events.ListingReason) {
	i.view.announce(reason)
	i.jobs.restart()
	i.pods.restart()
}

// Waiting is the number of observations that the sink has not taken yet.
func (i *Informer) Waiting() int { return i.queue.len() }
