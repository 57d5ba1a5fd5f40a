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

// Consumer updates the metrics from durable records. One goroutine at a time may use it.
type Consumer struct {
	log     store.Reader
	metrics *Metrics
	cursor  follow.Cursor // after the newest counted record; at first, after the end of the log at the start

	settings events.Settings   // settings of the run
	pending  []events.Resource // resources whose listing has not ended yet
	starting bool              // the first listing of this process has not ended
	jobs     map[events.Stream]*job
	specs    specs
	batch    []events.Stream // Jobs with records in the current batch
	// deletions holds the deletions of expired Jobs that have not been answered yet, at most one per Job.
	deletions map[events.Stream]deletion
	// held counts, for the current batch, how often an ended pod gained (+1) or lost (-1) the finalizer. For a pod that
	// only moves from one Job to another the sum is 0.
	held map[types.UID]int
}

// Follow returns a consumer of the records after world, the state computed from the log so far. It only reads world,
// and only before it returns.
func Follow(log store.Reader, world *projector.World, m *Metrics) *Consumer {
	c := &Consumer{
		log: log, metrics: m, starting: true, settings: world.Settings,
		pending: []events.Resource{events.Jobs, events.Pods},
		jobs:    map[events.Stream]*job{}, specs: specs{}, held: map[types.UID]int{}, deletions: map[events.Stream]deletion{},
	}
	c.cursor = follow.Cursor{
		Log: log, Next: world.Head + 1, Take: c.count,
		// Records that the log has deleted before they were read are not counted
		Pruned: func(events.Sequence, events.Sequence) {},
	}
	for _, j := range world.Holders() {
		c.find(j)
	}
	c.countHeld()
	return c
}

// Run counts records that become durable, until ctx ends or the log closes, and then returns nil. Other errors come
// from the log.
func (c *Consumer) Run(ctx context.Context) error {
	return follow.Orderly(ctx, c.follow(ctx, c.cursor.Follow))
}

// CatchUp counts all records that are durable now.
func (c *Consumer) CatchUp(ctx context.Context) error {
	return c.follow(ctx, c.cursor.CatchUp)
}

func (c *Consumer) follow(ctx context.Context, on func(context.Context) error) error {
	if err := on(ctx); err != nil {
		return fmt.Errorf("count records from %d on: %w", c.cursor.Next, err)
	}
	return nil
}

// count handles one record. Records come in order. Errors come from the log.
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

// listing notes whether objects are being listed: nothing is decided meanwhile.
func (c *Consumer) listing(rec *events.Record) {
	switch f := rec.Facts.(type) {
	case *events.ControllerStarted:
		c.settings = f.Settings
		for _, j := range c.jobs {
			c.lookOn(j)
		}
	case *events.EpochChanged: // all state of the cluster is forgotten
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

// apply handles a record of a Job, or of the orphan pods of a namespace.
func (c *Consumer) apply(ctx context.Context, rec *events.Record) error {
	c.expiry(rec)
	j := c.jobs[rec.Stream]
	if j == nil {
		// If the Job is unknown, a spec is either the first record of a new Job, which gets its state at the next
		// record, or the new TTL of a retired Job
		if f, ok := rec.Facts.(*events.JobSpec); ok {
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

// open creates the state of a Job at the first record of its object, or at a pod that makes a retired Job (one without
// work left) a Job again. It returns nil for all other records: these are about finished Jobs.
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

// isInput reports whether the loop decides about a Job because it has a record of this kind, once per batch.
func isInput(k events.Kind) bool {
	switch k {
	case events.KindStateStored, events.KindDecided, events.KindWouldDecide, events.KindTicksObserved, events.KindJobRetired:
		return false
	default:
		return true
	}
}

// endOfBatch counts a decision without commands for each Job that had to be decided in the batch, and drops finished
// Jobs.
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

// forget drops the state of a Job about which nothing more will be counted.
func (c *Consumer) forget(s events.Stream, j *job, now events.Time) {
	over := j.retired || (len(j.flights) == 0 && ((j.gone && j.holding == 0) || (!j.seen() && len(j.pods) == 0)))
	if over {
		c.drop(s, j, now)
	}
}

// rewound drops all state, because the cluster or the log went back in time.
func (c *Consumer) rewound(now events.Time) {
	for s, j := range c.jobs { // any order: this only adds and subtracts
		c.drop(s, j, now)
	}
	c.batch = c.batch[:0]
	clear(c.deletions)
}

func (c *Consumer) drop(s events.Stream, j *job, now events.Time) {
	for uid := range j.pods {
		c.podChanged(j, uid, pod{})
	}
	for _, f := range j.flights { // observations showed the results of these commands before the answers
		c.answered(j, f, false, now)
	}
	c.metrics.retrying.remove(j.retrying)
	c.specs.release(j.spec)
	delete(c.jobs, s)
}

// countHeld counts how many ended pods gained and lost the finalizer (J-201).
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
