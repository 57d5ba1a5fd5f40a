package informer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// errUnusable marks what makes the API server's word useless; it ends Run.
var errUnusable = errors.New("the API server cannot be relied on")

// view is what the informer remembers of the cluster: of a Job how to route its pods, of a pod its version, and its
// facts while a Job may yet come that makes it ours. Its methods lock it; those whose names end in Locked expect that.
type view struct {
	mode     events.Mode
	identity events.Identity
	keeper   Keeper
	queue    *queue
	log      *slog.Logger

	mu        sync.Mutex
	fail      context.CancelCauseFunc
	jobs      map[types.UID]*knownJob
	selecting map[string]map[types.UID]*knownJob // by namespace: the managed Jobs with a selector that is not generated
	pods      map[types.UID]*knownPod
	orphans   map[types.UID]map[types.UID]*knownPod // by owner: pods whose owner is not known
	ownerless map[string]map[types.UID]*knownPod    // by namespace: pods without a controller that have labels

	jobList, podList listing
}

// knownJob is what routing needs of a Job that exists.
type knownJob struct {
	ref        events.JobRef
	version    uint64
	managed    bool
	ours       bool            // its pods carry our own tracking finalizer
	fromLog    bool            // known from the log only: not seen yet
	kept       bool            // the keeper has it
	selector   labels.Selector // nil for the generated one
	conditions []string        // the pod conditions that its podFailurePolicy names
}

// knownPod is what the informer keeps of a pod that exists.
type knownPod struct {
	version uint64
	owner   events.JobRef // zero UID for none; the strings are shared by the pods of a Job
	space   string        // namespace
	told    bool          // the sink was told of it, so it is told to the end
	held    *podFacts     // nil once nothing but its own object can change what is told of it
}

// listing is where one resource's list and watch are.
type listing struct {
	resource  events.Resource
	source    *source
	newest    uint64 // newest resourceVersion seen, of objects, lists and bookmarks
	announced bool   // the sink knows that a listing is under way
	first     chan struct{}
	listed    bool // first is closed
}

// wait returns true once the resource was listed, or false when ctx ended before.
func (l *listing) wait(ctx context.Context) bool {
	select {
	case <-l.first:
		return true
	case <-ctx.Done():
		return false
	}
}

func newView(c Config, q *queue) *view {
	v := &view{
		mode: c.Mode, identity: c.Identity, keeper: c.Keeper, queue: q, log: c.Logger,
		fail:      func(error) {},
		jobs:      map[types.UID]*knownJob{},
		selecting: map[string]map[types.UID]*knownJob{},
		pods:      map[types.UID]*knownPod{},
		orphans:   map[types.UID]map[types.UID]*knownPod{},
		ownerless: map[string]map[types.UID]*knownPod{},
	}
	// The loop has written the ListingStarted of a start before it starts us.
	v.jobList = listing{resource: events.Jobs, newest: c.Known.JobsVersion, announced: true, first: make(chan struct{})}
	v.podList = listing{resource: events.Pods, newest: c.Known.PodsVersion, announced: true, first: make(chan struct{})}
	for _, k := range c.Known.Jobs {
		v.jobs[k.Job.UID] = &knownJob{ref: k.Job, version: k.Version, managed: true, fromLog: true}
	}
	for _, k := range c.Known.Pods {
		v.pods[k.UID] = &knownPod{version: k.Version, owner: k.Owner, space: k.Namespace, told: true}
	}
	return v
}

// onFailure names what to call when the API server says something unusable.
func (v *view) onFailure(fail context.CancelCauseFunc) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fail = fail
}

// announce tells the sink that both resources will be listed again.
func (v *view) announce(reason events.ListingReason) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.startLocked(reason, &v.jobList, &v.podList)
}

func (v *view) startLocked(reason events.ListingReason, lists ...*listing) {
	facts := &events.ListingStarted{Reason: reason}
	for _, l := range lists {
		facts.Resources = append(facts.Resources, l.resource)
		facts.LastVersions = append(facts.LastVersions, l.newest)
		l.announced = true
	}
	v.queue.mark(events.Observation{Facts: facts})
}

// beginLocked checks a list and tells the sink that it begins. An error means that the list is older than what was
// seen and is not to be believed; the next one is asked for without a version, and that one is.
func (v *view) beginLocked(l *listing, version uint64, older func() bool) error {
	consistent := l.source.consistent.Load()
	if !consistent && (version < l.newest || older()) {
		l.source.insist.Store(true)
		return fmt.Errorf("list of %s at version %d is older than what was seen, %d", l.resource, version, l.newest)
	}
	if consistent && version < l.newest {
		v.log.Warn("the cluster is behind what was seen of it: it was restored", "resource", l.resource.String(),
			"version", version, "seen", l.newest)
	}
	l.source.insist.Store(false)
	if !l.announced {
		v.startLocked(events.ListingRelisted, l)
	}
	return nil
}

func (v *view) endLocked(l *listing, version uint64) {
	l.newest = version
	l.announced = false
	v.queue.mark(events.Observation{Facts: &events.Synced{
		Resources: []events.Resource{l.resource}, Versions: []uint64{version},
	}})
	if !l.listed {
		l.listed = true
		close(l.first)
	}
}

// bookmark takes note of a version that brought no object.
func (v *view) bookmark(l *listing, version string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	n, err := v.parseLocked(version)
	if err != nil {
		return err
	}
	l.newest = max(l.newest, n)
	return nil
}

// versionLocked is the resourceVersion of an object.
func (v *view) versionLocked(o metav1.Object) (uint64, error) {
	n, err := v.parseLocked(o.GetResourceVersion())
	if err != nil {
		return 0, fmt.Errorf("object %s/%s: %w", o.GetNamespace(), o.GetName(), err)
	}
	return n, nil
}

// parseLocked reads a resourceVersion. API servers promise since 1.35 that they are numbers that grow; with one that
// does not keep the promise nothing here would hold, so Run ends.
func (v *view) parseLocked(version string) (uint64, error) {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		err = fmt.Errorf("resourceVersion %q is not a number: %w", version, errUnusable)
		v.fail(err)
	}
	return n, err
}
