package informer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// What lists and watches may say that is not believed.
var (
	// ErrOlder: a list is older than what was seen, or was asked for before a rewind. Ask for the newest state instead, which
	// is believed whatever it says: if it is older, too, the cluster was restored from a backup.
	ErrOlder = errors.New("the list is of the past")
	// ErrUnusable: the API server breaks a promise that everything rests on. It ends Run.
	ErrUnusable = errors.New("the API server cannot be relied on")
)

// Feed is the informer as a step machine, without a client and without goroutines: it is told what lists and watches say,
// and gives observations. The simulation drives it step by step; [Informer] feeds it from an API server. It strips the
// objects that it is given and may keep Jobs, so they are its own from then on.
//
// It remembers of a Job how to route its pods, of a pod its version, and its facts while a Job may yet come that makes it
// ours. Its methods may be called from any goroutine; each returns at once.
type Feed struct {
	mode     events.Mode
	draining bool
	identity events.Identity
	key      events.Key
	keeper   Keeper
	foreign  func(managedBy string)
	queue    *queue
	log      *slog.Logger

	mu        sync.Mutex // methods whose names end in Locked expect it to be held
	jobs      map[types.UID]*knownJob
	selecting map[string]map[types.UID]*knownJob // by namespace: the managed Jobs with a selector of the user's that adopt pods
	pods      map[types.UID]*knownPod
	orphans   map[types.UID]map[types.UID]*knownPod // by owner: pods whose owner is not known
	ownerless map[string]map[types.UID]*knownPod    // by namespace: pods without a controller that have labels
	labelled  map[types.UID]map[types.UID]*knownPod // of those: by the Job that their label names, as a generated selector does

	jobList, podList listing
	relist           func(events.Resource) // called under the lock when a resource has to be listed again; may be nil
}

// knownJob is what routing needs of a Job that exists.
type knownJob struct {
	ref        events.JobRef
	version    uint64
	managed    bool
	ours       bool // its pods carry our own tracking finalizer
	fromLog    bool // known from the log only: not seen yet
	ran        bool // of those: the controller ran it
	kept       bool // the keeper has it
	over       bool // it is finished or being deleted: it adopts no pods any more
	wrote      answer
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
	tracked bool          // it was told to carry the finalizer
	wrote   answer
}

// listing is where one resource's list and watch are.
type listing struct {
	resource  events.Resource
	newest    uint64 // newest resourceVersion seen, of objects, lists and bookmarks
	wrote     uint64 // newest resourceVersion that the answer to a write of our own brought
	floor     uint64 // the newer of the two when the list was asked for: a quorum read that is older proves a rewind
	asks      uint64 // lists asked for
	anew      bool   // the cluster was rewound: a list of the newest state is to come, and nothing that is watched counts before
	since     uint64 // the lists asked for by then: that list must be a later one
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

// NewFeed returns a feed that has seen nothing. It uses all of the configuration but Client, Namespace and Sink.
func NewFeed(c Config) *Feed {
	c.defaults()
	feed := &Feed{
		mode: c.Mode, draining: c.Draining, identity: c.Identity, key: c.Key, keeper: c.Keeper, foreign: c.Foreign, queue: newQueue(), log: c.Logger,
		jobs:      map[types.UID]*knownJob{},
		selecting: map[string]map[types.UID]*knownJob{},
		pods:      map[types.UID]*knownPod{},
		orphans:   map[types.UID]map[types.UID]*knownPod{},
		ownerless: map[string]map[types.UID]*knownPod{},
		labelled:  map[types.UID]map[types.UID]*knownPod{},
	}
	// The loop has written the ListingStarted of a start before it starts us.
	feed.jobList = listing{resource: events.Jobs, newest: c.Known.JobsVersion, announced: true, first: make(chan struct{})}
	feed.podList = listing{resource: events.Pods, newest: c.Known.PodsVersion, announced: true, first: make(chan struct{})}
	feed.jobList.floor, feed.podList.floor = feed.jobList.newest, feed.podList.newest
	for _, k := range c.Known.Jobs {
		feed.jobs[k.Job.UID] = &knownJob{ref: k.Job, version: k.Version, managed: true, fromLog: true, ran: k.Managed}
	}
	for _, k := range c.Known.Pods {
		feed.pods[k.UID] = &knownPod{version: k.Version, owner: k.Owner, space: k.Namespace, told: true}
	}
	return feed
}

// Take takes the next observation; ok is false when none waits.
func (feed *Feed) Take() (o events.Observation, ok bool) { return feed.queue.take() }

// Relist says that both resources are about to be listed again, and why.
func (feed *Feed) Relist(reason events.ListingReason) {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	feed.startLocked(reason, &feed.jobList, &feed.podList)
}

func (feed *Feed) startLocked(reason events.ListingReason, lists ...*listing) {
	facts := &events.ListingStarted{Reason: reason}
	for _, l := range lists {
		facts.Resources = append(facts.Resources, l.resource)
		facts.LastVersions = append(facts.LastVersions, l.newest)
		l.announced = true
	}
	feed.queue.mark(events.Observation{Facts: facts})
}

// beginLocked checks a list and puts down that it begins. A list that is not of the newest state is refused with ErrOlder
// when it is behind what was seen; one that is proves by that that the cluster was rewound.
func (feed *Feed) beginLocked(l *listing, version uint64, newest bool, objects iter.Seq[sighting]) error {
	switch {
	case l.anew && (l.asks <= l.since || !newest):
		return fmt.Errorf("list of %s at version %d was asked for before the rewind: %w", l.resource, version, ErrOlder)
	case newest:
		if proof, ok := l.rewound(version, objects); ok {
			feed.rewindLocked(proof, l)
		}
	case version < l.newest:
		return fmt.Errorf("list of %s at version %d, and %d was seen: %w", l.resource, version, l.newest, ErrOlder)
	default:
		for o := range objects {
			if o.listed < o.known {
				return fmt.Errorf("list of %s has an object at version %d, and %d was seen: %w", l.resource, o.listed, o.known, ErrOlder)
			}
		}
	}
	l.anew = false
	if !l.announced {
		feed.startLocked(events.ListingRelisted, l)
	}
	return nil
}

func (feed *Feed) endLocked(l *listing, version uint64) {
	l.newest = version
	l.announced = false
	feed.queue.mark(events.Observation{Facts: &events.Synced{
		Resources: []events.Resource{l.resource}, Versions: []uint64{version},
	}})
	if !l.listed {
		l.listed = true
		close(l.first)
	}
}

// bookmark takes note of a version that brought no object.
func (feed *Feed) bookmark(l *listing, version string) error {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	n, err := parseVersion(version)
	if err != nil {
		return err
	}
	feed.sawLocked(l, n)
	return nil
}

// sawLocked takes note of a version that the watch brought. It reports whether what came with it counts: not while the resource
// has to be listed anew.
func (feed *Feed) sawLocked(l *listing, version uint64) bool {
	if l.anew {
		return false
	}
	l.newest = max(l.newest, version)
	return true
}

// versionOf is the resourceVersion of an object.
func versionOf(o metav1.Object) (uint64, error) {
	n, err := parseVersion(o.GetResourceVersion())
	if err != nil {
		return 0, fmt.Errorf("object %s/%s: %w", o.GetNamespace(), o.GetName(), err)
	}
	return n, nil
}

// parseVersion reads a resourceVersion. API servers promise since 1.35 that they are numbers that grow; with one that
// does not keep the promise nothing here would hold.
func parseVersion(version string) (uint64, error) {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion %q is not a number: %w", version, ErrUnusable)
	}
	return n, nil
}
