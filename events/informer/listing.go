package informer

import (
	"fmt"
	"iter"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

// listing is where one resource's list and watch are.
type listing struct {
	resource  events.Resource
	after     *listing    // whose list is taken before; nil for none
	version   uint64      // of the newest list
	newest    uint64      // newest resourceVersion seen, of objects, lists and bookmarks
	wrote     uint64      // newest resourceVersion that the answer to a write of our own brought
	heard     events.Time // when the server was heard last; 0 when that is not known
	floor     uint64      // the newer of the two when the list was asked for: a quorum read that is older proves a rewind
	asks      uint64      // lists asked for
	anew      bool        // the cluster was rewound: a list of the newest state is to come, and nothing that is watched counts before
	since     uint64      // the lists asked for by then: that list must be a later one
	announced bool        // the sink knows that a listing is under way
	first     chan struct{}
	listed    bool // first is closed
}

// wait returns true once the first list of the resource before was taken, or false when the informer ends before that.
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

// The first lists of all resources are asked for one after another, each as soon as the server has begun to answer the
// one before: by then it has settled of which version that is. They are taken in this order, each when the one before
// was taken whole. So a pod finds its Job known. And no pod is of an older state than its Job: a status that has
// counted a pod, beside that pod with its finalizer, would count it again where no log knows better. A change that
// comes with the list before can still make it newer; then a list is refused.

// beginLocked checks a list and puts down that it begins. A list that is not of the newest state is refused with
// ErrOlder when it is behind what was seen; one that is proves by that that the cluster was rewound.
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
