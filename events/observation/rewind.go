package observation

import (
	"iter"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// A cluster that is restored from a backup goes back: old versions come again with other contents, and deleted objects
// exist again. A quorum read proves this (design §5) if it is older than a version that was already known when the
// read was sent. (The loop has another proof: a deleted Job or CronJob that exists again.) In contrast, a list that a
// lagging API server answers from its cache proves nothing.

// sighting is a known object in a list, with the versions to compare.
type sighting struct {
	uid           types.UID
	listed, known uint64 // resourceVersions
	wrote         answer
}

// answer is the resourceVersion in the API server's answer to a write of ours. If a list that was requested after the
// write shows an older version of the object, the cluster was rewound (restored from a backup).
type answer struct {
	version uint64
	asks    uint64 // number of lists requested before the write: they may be older, which proves no rewind
}

// asking records that a list is about to be requested, and the newest version known now. If the list is of the newest
// state and has an older version, it proves a rewind.
func (feed *Feed) asking(l *listing) {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	l.asks++
	l.floor = max(l.newest, l.wrote)
}

// rewound reports whether a list of the newest state proves a rewind, and returns the proof.
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

// rewindLocked forgets everything, because it is from a past that the cluster no longer has. A new epoch begins. All
// resources must be listed again, except that of listed: its new list has just arrived, and proved the rewind. listed
// is nil if a live read proved it.
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

// MustList reports whether the resource must be listed again; until then its watched objects are ignored.
func (feed *Feed) MustList(r events.Resource) bool {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	w := feed.watchedAs(r)
	return w != nil && w.list().anew
}

// watchedAs returns the resource r; nil when it is not watched.
func (feed *Feed) watchedAs(r events.Resource) watched {
	for _, w := range feed.resources {
		if w.list().resource == r {
			return w
		}
	}
	return nil
}

// Wrote records the version in the answer to a request of ours that was decided in the epoch of life. dropped means
// that the request removed a finalizer. If such an answer has the version in which the pod still had the finalizer, the
// pod was deleted with it.
func (feed *Feed) Wrote(life events.Identity, r events.Resource, uid types.UID, version uint64, dropped bool) {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	if life.Epoch < feed.identity.Epoch {
		return // the request was decided before the rewind, so its version is of a past that is gone
	}
	if dropped && feed.pods.removedLocked(uid, version) {
		version++
	}
	if w := feed.watchedAs(r); w != nil {
		w.wroteLocked(uid, answer{version, w.list().asks})
	}
}

// Behind takes a proof of a rewind from a live read that was sent in the epoch of life. It returns true if the rewind
// was not known yet; all resources must be listed again then.
func (feed *Feed) Behind(life events.Identity, proof events.Rewind) bool {
	feed.mu.Lock()
	defer feed.mu.Unlock()
	if life.Epoch < feed.identity.Epoch {
		return false
	}
	feed.rewindLocked(proof, nil)
	return true
}
