package metrics

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/follow"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// Consumer counts what durable records say. One goroutine at a time may use it.
type Consumer struct {
	log     store.Reader
	metrics *Metrics
	cursor  follow.Cursor // at the record behind what was counted, or found at the start

	settings events.Settings   // of the run
	pending  []events.Resource // resources that the open listing still waits for
	starting bool              // the first listing of this process has not ended
	jobs     map[events.Stream]*job
	specs    specs
	batch    []events.Stream // that have records in the batch being read
	// deletions of expired Jobs that are in flight, by the Job: at most one.
	deletions map[events.Stream]deletion
	// held is, of the batch being read, how often an ended pod began (+1) or ceased (-1) to hold the finalizer: a pod that
	// only moves from one stream to another does neither.
	held map[types.UID]int
}

// Follow returns a consumer of what the log says after world, which is what it says so far. The world is only read,
// before Follow returns.
func Follow(log store.Reader, world *projector.World, m *Metrics) *Consumer {
	c := &Consumer{
		log: log, metrics: m, starting: true, settings: world.Settings,
		pending: []events.Resource{events.Jobs, events.Pods},
		jobs:    map[events.Stream]*job{}, specs: specs{}, held: map[types.UID]int{}, deletions: map[events.Stream]deletion{},
	}
	c.cursor = follow.Cursor{
		Log: log, Next: world.Head + 1, Take: c.count,
		Pruned: func(events.Sequence, events.Sequence) {}, // what a counter missed that was so far behind is not counted
	}
	for _, j := range world.Holders() {
		c.find(j)
	}
	c.countHeld()
	return c
}

// Run counts what becomes durable until ctx ends or the log closes, and then returns nil. Any other error is the log's.
func (c *Consumer) Run(ctx context.Context) error {
	return follow.Orderly(ctx, c.follow(ctx, c.cursor.Follow))
}

// CatchUp counts what is durable now and was not counted.
func (c *Consumer) CatchUp(ctx context.Context) error {
	return c.follow(ctx, c.cursor.CatchUp)
}

func (c *Consumer) follow(ctx context.Context, on func(context.Context) error) error {
	if err := on(ctx); err != nil {
		return fmt.Errorf("count records from %d on: %w", c.cursor.Next, err)
	}
	return nil
}

// count takes one record; its error is the log's. Records come in order.
func (c *Consumer) count(ctx context.Context, rec *events.Record) error {
	if rec.Stream == events.Controller {
		c.listing(rec)
	} else if rec.Stream.Kind == events.StreamCronJob {
		c.cronJob(rec)
	} else if err := c.apply(ctx, rec); err != nil {
		return err
	}
	if rec.Last {
		c.endOfBatch(rec)
	}
	return nil
}

// listing follows when the view of the cluster is built again: nothing is decided then.
func (c *Consumer) listing(rec *events.Record) {
	switch f := rec.Facts.(type) {
	case *events.ControllerStarted:
		c.settings = f.Settings
		for _, j := range c.jobs {
			c.lookOn(j)
		}
	case *events.EpochChanged: // all that was known of the cluster is forgotten
		c.rewound(rec.Time)
		c.pending = []events.Resource{events.Jobs, events.Pods}
	case *events.ListingStarted:
		for _, r := range f.Resources {
			if !slices.Contains(c.pending, r) {
				c.pending = append(c.pending, r)
			}
		}
	case *events.Synced:
		c.pending = slices.DeleteFunc(c.pending, func(r events.Resource) bool { return slices.Contains(f.Resources, r) })
		c.starting = c.starting && len(c.pending) > 0
	case *events.ControllerStopped:
		c.pending = []events.Resource{events.Jobs, events.Pods}
	}
}

// apply takes a record of a Job's stream, or a namespace's.
func (c *Consumer) apply(ctx context.Context, rec *events.Record) error {
	c.expiry(rec)
	j := c.jobs[rec.Stream]
	if j == nil {
		if f, ok := rec.Facts.(*events.JobSpec); ok { // the Job comes with its next record; a retired one may have had another TTL
			return c.specStored(ctx, rec, f)
		}
		if j = c.open(rec); j == nil {
			return nil
		}
	}
	if !j.met {
		j.met = true
		c.batch = append(c.batch, rec.Stream)
	}
	j.touched = j.touched || isInput(rec.Kind)
	switch f := rec.Facts.(type) {
	case *events.JobSpec:
		return c.specStored(ctx, rec, f)
	case *events.JobSeen:
		return c.jobSeen(ctx, j, rec, f)
	case *events.JobGone:
		j.gone = true
	case *events.PodSeen:
		c.podSeen(j, f)
	case *events.PodGone:
		c.finalizerRemoved(j, f.UID)
		c.podChanged(j, f.UID, pod{})
	case *events.Decision:
		if rec.Kind == events.KindDecided {
			c.decided(j, rec, f)
		}
	case *events.CommandEnded:
		c.commandEnded(j, rec, f)
	case *events.JobRetired:
		j.retired = true
	}
	return nil
}

// open begins to remember a Job with its first record, or with a pod that makes a retired one one that is to be seen
// again. Whatever else is told of a Job that is not remembered is about one that is over.
func (c *Consumer) open(rec *events.Record) *job {
	switch rec.Kind {
	case events.KindJobAdded, events.KindPodAdded:
		j := &job{}
		c.jobs[rec.Stream] = j
		return j
	default:
		return nil
	}
}

// isInput reports whether a record of that kind touches its stream, which is then decided once in the batch.
func isInput(k events.Kind) bool {
	switch k {
	case events.KindStateStored, events.KindDecided, events.KindWouldDecide, events.KindTicksObserved, events.KindJobRetired:
		return false
	default:
		return true
	}
}

// endOfBatch counts the decisions of the batch that asked for nothing, and forgets the Jobs that are over.
func (c *Consumer) endOfBatch(rec *events.Record) {
	for _, s := range c.batch {
		j := c.jobs[s]
		if len(c.pending) == 0 && j.touched && !j.decided && j.counts() {
			c.synced(j, &sync{began: rec.Time, counts: true, action: j.action(nil)}, rec.Time)
		}
		j.met, j.touched, j.decided = false, false, false
		c.forget(s, j, rec.Time)
	}
	c.batch = c.batch[:0]
	c.countHeld()
}

// forget drops what is remembered of a Job when nothing is to be told of it any more.
func (c *Consumer) forget(s events.Stream, j *job, now events.Time) {
	over := j.retired || (len(j.flights) == 0 && ((j.gone && j.holding == 0) || (!j.seen() && len(j.pods) == 0)))
	if over {
		c.drop(s, j, now)
	}
}

// rewound forgets everything, as the world does.
func (c *Consumer) rewound(now events.Time) {
	for s, j := range c.jobs { // in no order: it only adds and subtracts
		c.drop(s, j, now)
	}
	c.batch = c.batch[:0]
	clear(c.deletions)
}

func (c *Consumer) drop(s events.Stream, j *job, now events.Time) {
	for uid := range j.pods {
		c.podChanged(j, uid, pod{})
	}
	for _, f := range j.flights { // they were overtaken by what was seen
		c.answered(j, f, false, now)
	}
	c.metrics.retrying.remove(j.retrying)
	c.specs.release(j.spec)
	delete(c.jobs, s)
}

// countHeld counts how many ended pods began and ceased to hold the finalizer (J-201).
func (c *Consumer) countHeld() {
	for _, n := range c.held {
		switch {
		case n > 0:
			c.metrics.terminatedPods.WithLabelValues(eventAdd).Inc()
		case n < 0:
			c.metrics.terminatedPods.WithLabelValues(eventDelete).Inc()
		}
	}
	clear(c.held)
}
