package observation

import (
	"fmt"
	"iter"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

// listing is the state of one resource's list and watch. Rewind means that the cluster went back in time: it was
// restored from a backup.
type listing struct {
	resource events.Resource
	after    *listing    // the resource whose first list is taken before; nil for none
	version  uint64      // resourceVersion of the newest list
	newest   uint64      // newest resourceVersion seen in objects, lists and bookmarks
	wrote    uint64      // newest resourceVersion in an answer to a write of ours
	heard    events.Time // when the server last sent something; 0 when unknown
	// The larger one of newest and wrote when the list was requested. If a list of the newest state is below it, that
	// proves a rewind
	floor     uint64
	asks      uint64 // number of lists requested
	anew      bool   // after a rewind: watched objects are ignored until a list of the newest state comes
	since     uint64 // value of asks at the rewind: only a list requested after it is taken
	announced bool   // the sink has got the ListingStarted record for the next list
	first     chan struct{}
	listed    bool // first is closed
}

// wait returns true once the first list of the resource l.after was taken, or false when the informer ends before that.
func (l *listing) wait(stopped <-chan struct{}) bool {
	if l.after == nil {
		return true
	}
	select {
	case <-l.after.first:
		return true
	case <-stopped:
		return false
	}
}

// The first lists are requested one after another, each as soon as the server has begun to answer the one before: its
// version is then fixed. They are taken in the same order, each when the one before was taken completely. So a pod
// finds its Job known, and no pod is in an older state than its Job. This order matters without an old log: a status
// that has counted a pod, together with an older state of that pod that still has its finalizer, would count the pod
// twice. A change during the earlier list can still make that list newer than the later one, in which case the later
// list is refused.

// beginLocked checks a list and begins the listing. It returns ErrOlder for a list that is older than what was seen. A
// list of the newest state is never refused: if it is older than what was seen, it proves a rewind.
func (feed *Feed) beginLocked(l *listing, version uint64, newest bool, objects iter.Seq[sighting]) error {
	switch {
	case l.anew && (l.asks <= l.since || !newest):
		return fmt.Errorf("list of %s at version %d was asked for before the rewind: %w", l.resource, version, ErrOlder)
	case !l.listed && l.after != nil && version < l.after.version:
		return fmt.Errorf("list of %s is at version %d, that of %s at %d: %w", l.resource, version, l.after.resource, l.after.version, ErrOlder)
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
	l.newest, l.version = version, version
	l.heard = feed.now()
	l.announced = false
	feed.queue.mark(events.Observation{Facts: &events.Synced{
		Resources: []events.Resource{l.resource}, Versions: []uint64{version},
	}})
	if !l.listed {
		l.listed = true
		close(l.first)
	}
}

// versionOf returns the resourceVersion of an object.
func versionOf(o metav1.Object) (uint64, error) {
	n, err := ParseVersion(o.GetResourceVersion())
	if err != nil {
		return 0, fmt.Errorf("object %s/%s: %w", o.GetNamespace(), o.GetName(), err)
	}
	return n, nil
}

// ParseVersion parses a resourceVersion. API servers have promised since 1.35 that these are increasing numbers; the
// informer depends on that, so it returns ErrUnusable for any other text.
func ParseVersion(version string) (uint64, error) {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion %q is not a number: %w", version, ErrUnusable)
	}
	return n, nil
}
