package observation

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Errors about the answers of lists and watches.
var (
	// ErrOlder: a list is older than what was seen before, or was requested before a rewind (the cluster was restored
	// from a backup). The caller should then request the newest state. The feed never refuses a list of the newest
	// state: if that list is older, too, it proves a rewind.
	ErrOlder = errors.New("the list is of the past")
	// ErrUnusable: the API server breaks a promise that the feed depends on. It ends the informer.
	ErrUnusable = errors.New("the API server cannot be relied on")
)

// Feed is the informer as a state machine, without client and goroutines. Callers give it the results of lists and
// watches, and take observations from it. The simulation drives it step by step; package events/informer connects it to
// an API server. It strips the objects that it gets and may keep Jobs, so the caller must not use them afterwards.
//
// Of a Job it keeps the fields that decide which pods are reported. Of a pod it keeps the version, and the facts as
// long as a Job may still appear that makes the pod ours. Any goroutine may call its methods; none blocks for long.
type Feed struct {
	mode     events.Mode
	settings events.Settings // Mode and ObserveOthers decide which Jobs are reported
	draining bool
	gangs    bool
	identity events.Identity
	key      events.Key
	keeper   Keeper
	foreign  func(managedBy string)
	finished func(*kubewire.Job)
	labels   []string // labels of Jobs that are recorded
	messages *Messages
	editors  editors
	specs    memo[*specContent] // cache by namespace and shape of the spec
	queue    *queue
	log      *slog.Logger

	mu        sync.Mutex // methods with names that end in Locked require it
	jobs      *jobs
	pods      *pods
	cronJobs  *cronJobs // nil when CronJobs are not watched
	resources []watched // in the order in which their first lists are taken

	now    func() events.Time    // see Config
	relist func(events.Resource) // called with mu held; see Config
}

// NewFeed returns an empty feed.
func NewFeed(c Config) *Feed {
	c.defaults()
	feed := &Feed{
		now: c.Now, relist: c.Relist, mode: c.Mode, settings: events.Settings{Mode: c.Mode, ObserveOthers: c.Others, CronJobs: c.CronJobs}, draining: c.Draining, gangs: c.Gangs, identity: c.Identity, key: c.Key, keeper: c.Keeper, foreign: c.Foreign, finished: c.Finished, labels: sorted(c.KeepLabels), messages: c.Messages, queue: newQueue(), log: c.Logger,
	}
	feed.jobs, feed.pods = newJobs(feed, &c.Known), newPods(feed, &c.Known)
	feed.resources = []watched{feed.jobs, feed.pods}
	if c.CronJobs {
		feed.cronJobs = newCronJobs(feed, &c.Known)
		feed.resources = append(feed.resources, feed.cronJobs)
	}
	for n, r := range feed.resources[1:] {
		r.list().after = feed.resources[n].list()
	}
	return feed
}

// Take removes and returns the next observation; ok is false when none waits.
func (feed *Feed) Take() (o events.Observation, ok bool) { return feed.queue.take() }

// Next waits for the next observation, and removes and returns it. It returns false when ctx has ended. Only one
// goroutine may call it.
func (feed *Feed) Next(ctx context.Context) (events.Observation, bool) { return feed.queue.next(ctx) }

// Waiting returns the number of observations that were not taken yet.
func (feed *Feed) Waiting() int { return feed.queue.len() }

// Relist announces a new listing of all resources, with its reason.
func (feed *Feed) Relist(reason events.ListingReason) {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	feed.startLocked(reason, feed.lists()...)
}

func (feed *Feed) startLocked(reason events.ListingReason, lists ...*listing) {
	facts := &events.ListingStarted{Reason: reason}
	for _, l := range lists {
		if reason == events.ListingRelisted && (facts.LastSeen == 0 || l.heard < facts.LastSeen) {
			facts.LastSeen = l.heard // the earliest over all resources
		}
		facts.Resources = append(facts.Resources, l.resource)
		facts.LastVersions = append(facts.LastVersions, l.newest)
		l.announced = true
	}
	feed.queue.mark(events.Observation{Facts: facts})
}

// lists returns the listings of all resources.
func (feed *Feed) lists() []*listing {
	var lists []*listing
	for _, r := range feed.resources {
		lists = append(lists, r.list())
	}
	return lists
}
