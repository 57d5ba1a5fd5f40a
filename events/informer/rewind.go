package informer

import (
	"iter"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// A cluster that was restored from a backup goes back: versions that were seen come again, with other contents, and
// objects that were gone are there again. A quorum read proves that (design §5): one that was asked for when a version
// was known, and is older. (The loop has another proof: a Job or CronJob that had gone.) A list that a lagging API
// server answers from its cache is merely of the past.

// sighting is an object on a list that is known.
type sighting struct {
	uid           types.UID
	listed, known uint64 // versions
	wrote         answer
}

// answer is a version that the answer to a write of our own brought, perhaps before the watch did.
type answer struct {
	version uint64
	asks    uint64 // how many lists had been asked for by then: one of those may be older, and proves nothing
}

// asking takes note that a list is about to be asked for: what is known by now it must not be behind.
func (feed *Feed) asking(l *listing) {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	l.asks++
	l.floor = max(l.newest, l.wrote)
}

// rewound finds out whether a list of the newest state proves a rewind.
func (l *listing) rewound(version uint64, objects iter.Seq[sighting]) (events.Rewind, bool) {
	if version < l.floor {
		return events.Rewind{Resource: l.resource, Known: l.floor, Found: version}, true
	}
	for o := range objects {
		known := o.known
		if o.wrote.asks < l.asks {
			known = max(known, o.wrote.version)
		}
		if o.listed < known {
			return events.Rewind{Resource: l.resource, Known: known, Found: o.listed, Object: o.uid}, true
		}
	}
	return events.Rewind{}, false
}

// rewindLocked forgets everything: what was seen is of a past that the cluster does not have. Another life of the log
// begins, and all resources are listed anew, but the one whose list is at hand.
func (feed *Feed) rewindLocked(proof events.Rewind, listed *listing) {
	feed.log.Warn("the cluster went back: it was restored from a backup. Everything is listed again",
		"resource", proof.Resource.String(), "known", proof.Known, "found", proof.Found, "object", string(proof.Object))
	feed.identity.Epoch++
	feed.keeper.Reset(feed.identity)
	for _, r := range feed.resources {
		r.clearLocked()
	}
	feed.queue.mark(events.Observation{Facts: &events.EpochChanged{
		Epoch: feed.identity.Epoch, Reason: events.EpochClusterRewound, Rewind: proof,
	}})
	for _, l := range feed.lists() {
		l.newest, l.wrote, l.floor = 0, 0, 0
		if l.anew, l.since = l != listed, l.asks; l.anew && feed.relist != nil {
			feed.relist(l.resource)
		}
	}
	feed.startLocked(events.ListingRelisted, feed.lists()...)
}

// MustList reports whether the resource has to be listed anew: what is watched of it is not taken before.
func (feed *Feed) MustList(r events.Resource) bool {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	w := feed.watchedAs(r)
	return w != nil && w.list().anew
}

// watchedAs is the resource of that name, or nil when it is not watched.
func (feed *Feed) watchedAs(r events.Resource) watched {
	for _, w := range feed.resources {
		if w.list().resource == r {
			return w
		}
	}
	return nil
}

// Wrote takes note of the version that the answer to a request of ours brought, which was decided in that life of the
// log. When a finalizer was dropped, and the answer carries the very version in which the pod still had it, the pod was
// removed with it.
func (feed *Feed) Wrote(life events.Identity, r events.Resource, uid types.UID, version uint64, dropped bool) {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	if life.Epoch < feed.identity.Epoch {
		return // of before the rewind
	}
	if dropped && feed.pods.removedLocked(uid, version) {
		version++
	}
	if w := feed.watchedAs(r); w != nil {
		w.wroteLocked(uid, answer{version, w.list().asks})
	}
}

// Behind takes the proof of a rewind that a live read gave, which was asked for in that life of the log. It reports
// whether it is news: all resources have to be listed anew then.
func (feed *Feed) Behind(life events.Identity, proof events.Rewind) bool {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	if life.Epoch < feed.identity.Epoch {
		return false
	}
	feed.rewindLocked(proof, nil)
	return true
}
