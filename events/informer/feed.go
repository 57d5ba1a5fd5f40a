package informer

import (
	"errors"
	"log/slog"
	"sync"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// What lists and watches may say that is not believed.
var (
	// ErrOlder: a list is older than what was seen, or was asked for before a rewind. Ask for the newest state instead,
	// which is believed whatever it says: if it is older, too, the cluster was restored from a backup.
	ErrOlder = errors.New("the list is of the past")
	// ErrUnusable: the API server breaks a promise that everything rests on. It ends Run.
	ErrUnusable = errors.New("the API server cannot be relied on")
)

// Feed is the informer as a step machine, without a client and without goroutines: it is told what lists and watches
// say, and gives observations. The simulation drives it step by step; [Informer] feeds it from an API server. It strips
// the objects that it is given and may keep Jobs, so they are its own from then on.
//
// It remembers of a Job how to route its pods, of a pod its version, and its facts while a Job may yet come that makes
// it ours. Its methods may be called from any goroutine; each returns at once.
type Feed struct {
	mode     events.Mode
	settings events.Settings // mode, and whether the Jobs of other controllers are told: whose Jobs are told
	draining bool
	gangs    bool
	identity events.Identity
	key      events.Key
	keeper   Keeper
	foreign  func(managedBy string)
	finished func(*kubewire.Job)
	labels   []string // of Jobs, that are kept
	messages *Messages
	editors  editors
	specs    memo[*specContent] // by namespace and shape
	queue    *queue
	log      *slog.Logger

	mu        sync.Mutex // methods whose names end in Locked expect it to be held
	jobs      *jobs
	pods      *pods
	cronJobs  *cronJobs // nil where they are not watched
	resources []watched // the list of each is taken after that of the one before it

	now    func() events.Time    // the wall clock; says 0 where there is none
	relist func(events.Resource) // called under the lock when a resource has to be listed again; may be nil
}

// NewFeed returns a feed that has seen nothing. It uses all of the configuration but Client, Namespace and Sink.
func NewFeed(c Config) *Feed {
	c.defaults()
	feed := &Feed{
		now: func() events.Time { return 0 }, mode: c.Mode, settings: events.Settings{Mode: c.Mode, ObserveOthers: c.Others, CronJobs: c.CronJobs}, draining: c.Draining, gangs: c.Gangs, identity: c.Identity, key: c.Key, keeper: c.Keeper, foreign: c.Foreign, finished: c.Finished, labels: sorted(c.KeepLabels), messages: c.Messages, queue: newQueue(), log: c.Logger,
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

// Take takes the next observation; ok is false when none waits.
func (feed *Feed) Take() (o events.Observation, ok bool) { return feed.queue.take() }

// Relist says that all resources are about to be listed again, and why.
func (feed *Feed) Relist(reason events.ListingReason) {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	feed.startLocked(reason, feed.lists()...)
}

func (feed *Feed) startLocked(reason events.ListingReason, lists ...*listing) {
	facts := &events.ListingStarted{Reason: reason}
	for _, l := range lists {
		if reason == events.ListingRelisted && (facts.LastSeen == 0 || l.heard < facts.LastSeen) {
			facts.LastSeen = l.heard // of the one that was silent for longest
		}
		facts.Resources = append(facts.Resources, l.resource)
		facts.LastVersions = append(facts.LastVersions, l.newest)
		l.announced = true
	}
	feed.queue.mark(events.Observation{Facts: facts})
}

// lists are the listings of all resources.
func (feed *Feed) lists() []*listing {
	var lists []*listing
	for _, r := range feed.resources {
		lists = append(lists, r.list())
	}
	return lists
}
