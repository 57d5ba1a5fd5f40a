package observation

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// resource takes the lists and the watch of one resource, and keeps a state K for each object. O is a pointer to the
// object type. It tracks the versions of objects, which objects were reported, and which are missing from a list. kind
// supplies what is specific to the resource.
//
// To add a resource, write a kind in a file of its own and add a line to NewFeed; package events/informer reads it.
type resource[O kubewire.Object, K kept] struct {
	listing
	feed  *Feed
	kind  kind[O, K]
	known map[types.UID]K // existing objects that concern us, or may later
}

// kind is the part of a resource that depends on its objects. Methods with names that end in Locked require the feed's
// lock.
type kind[O kubewire.Object, K kept] interface {
	// strip removes the fields of an object that are not used.
	strip(o O)
	// takeLocked stores an object with a new version in known, and reports it if it concerns us.
	takeLocked(o O, version uint64) error
	// forgetLocked removes an object from all state other than known.
	forgetLocked(uid types.UID, k K)
	// gone returns the observation of a deletion. o is nil when the deletion itself was missed.
	gone(uid types.UID, k K, o O, version uint64) events.Observation
	// outlived reports whether the waiting observation of an object can be dropped once the object is deleted.
	outlived(seen events.Facts) bool
	// resetLocked clears all state other than known. It is called after a rewind of the cluster.
	resetLocked()
}

// kept is the state K that is kept of an existing object; it contains an entry.
type kept interface{ common() *entry }

// entry is the state that is kept of every object, whatever its type.
type entry struct {
	version uint64 // newest resourceVersion seen
	wrote   answer // the answer to our own newest write
	told    bool   // it was reported, so all its later versions and its deletion are reported too
}

func (e *entry) common() *entry { return e }

// watched is a resource of any object type.
type watched interface {
	list() *listing
	wroteLocked(uid types.UID, a answer)
	clearLocked()
}

// newResource returns a resource without objects. version is its newest resourceVersion in the log.
func newResource[O kubewire.Object, K kept](feed *Feed, kind kind[O, K], name events.Resource, version uint64) resource[O, K] {
	return resource[O, K]{
		listing: listing{
			resource: name, newest: version, floor: version, first: make(chan struct{}),
			announced: true, // at a start the controller's main loop writes the ListingStarted record
		},
		feed: feed, kind: kind, known: map[types.UID]K{},
	}
}

func (r *resource[O, K]) list() *listing { return &r.listing }

// Name is described by [Resource].
func (r *resource[O, K]) Name() events.Resource { return r.listing.resource }

// Strip is described by [Resource].
func (r *resource[O, K]) Strip(o O) { r.kind.strip(o) }

// Asking is described by [Resource].
func (r *resource[O, K]) Asking() { r.feed.asking(&r.listing) }

// WaitTurn is described by [Resource].
func (r *resource[O, K]) WaitTurn(stopped <-chan struct{}) bool { return r.listing.wait(stopped) }

// takeList takes a complete and current list with its resourceVersion.
func (r *resource[O, K]) takeList(objects []O, version string) error {
	r.Asking()
	for _, o := range objects {
		r.kind.strip(o)
	}
	return r.Replace(objects, version, true)
}

// Replace takes a list of stripped objects. newest says that the list is of the newest state. Otherwise Replace may
// refuse the list with ErrOlder and change nothing.
func (r *resource[O, K]) Replace(objects []O, listVersion string, newest bool) error {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	version, err := ParseVersion(listVersion)
	if err != nil {
		return err
	}
	versions := make(map[types.UID]uint64, len(objects))
	for _, o := range objects {
		if versions[o.GetUID()], err = versionOf(o); err != nil {
			return err
		}
	}
	sightings := func(yield func(sighting) bool) {
		for _, o := range objects {
			uid := o.GetUID()
			k, ok := r.known[uid]
			if !ok {
				continue
			}
			if e := k.common(); !yield(sighting{uid, versions[uid], e.version, e.wrote}) {
				return
			}
		}
	}
	if err := r.feed.beginLocked(&r.listing, version, newest, sightings); err != nil {
		return err
	}
	slices.SortFunc(objects, func(a, b O) int { return byAge(a, b) })
	for _, o := range objects {
		if err := r.kind.takeLocked(o, versions[o.GetUID()]); err != nil {
			return err
		}
	}
	var missed O
	for _, uid := range missing(r.known, versions) {
		r.dropLocked(uid, r.known[uid], missed, version)
	}
	r.feed.endLocked(&r.listing, version)
	return nil
}

// Changed takes an object from the watch. It ignores a version that is not newer than the last one seen.
func (r *resource[O, K]) Changed(o O) error {
	r.kind.strip(o)
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	version, err := versionOf(o)
	if err != nil || !r.sawLocked(version) {
		return err
	}
	if k, ok := r.known[o.GetUID()]; ok && version <= k.common().version {
		return nil
	}
	return r.kind.takeLocked(o, version)
}

// Deleted takes a deleted object from the watch.
func (r *resource[O, K]) Deleted(o O) error {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	version, err := versionOf(o)
	if err != nil || !r.sawLocked(version) {
		return err
	}
	if k, ok := r.known[o.GetUID()]; ok {
		r.dropLocked(o.GetUID(), k, o, version)
	}
	return nil
}

// Bookmark takes a resourceVersion from the watch that came without an object.
func (r *resource[O, K]) Bookmark(version string) error {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	n, err := ParseVersion(version)
	if err != nil {
		return err
	}
	r.sawLocked(n)
	return nil
}

// sawLocked records a resourceVersion from the watch. It returns false while the resource must be listed again: the
// object that came with the version is then ignored.
func (r *resource[O, K]) sawLocked(version uint64) bool {
	l := &r.listing
	l.heard = r.feed.now()
	if l.anew {
		return false
	}
	l.newest = max(l.newest, version)
	return true
}

// tellLocked queues the observation of an existing object.
func (r *resource[O, K]) tellLocked(uid types.UID, k K, o events.Observation) {
	k.common().told = true
	r.feed.queue.seen(r.listing.resource, uid, o)
}

// dropLocked removes an object. If the object was reported, it queues the deletion.
func (r *resource[O, K]) dropLocked(uid types.UID, k K, o O, version uint64) {
	r.kind.forgetLocked(uid, k)
	delete(r.known, uid)
	if k.common().told {
		r.feed.queue.gone(r.listing.resource, uid, r.kind.gone(uid, k, o, version), r.kind)
	}
}

// wroteLocked records the answer to a write of ours.
func (r *resource[O, K]) wroteLocked(uid types.UID, a answer) {
	r.wrote = max(r.wrote, a.version)
	if k, ok := r.known[uid]; ok {
		k.common().wrote = a
	}
}

// clearLocked removes all objects.
func (r *resource[O, K]) clearLocked() {
	clear(r.known)
	r.kind.resetLocked()
}

// byAge orders objects by creation, then by UID.
func byAge(a, b metav1.Object) int {
	at, bt := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(at.Compare(bt.Time), cmp.Compare(a.GetUID(), b.GetUID()))
}

// missing returns the UIDs that are known and not listed, sorted.
func missing[K any](known map[types.UID]K, listed map[types.UID]uint64) []types.UID {
	var uids []types.UID
	for uid := range known {
		if _, ok := listed[uid]; !ok {
			uids = append(uids, uid)
		}
	}
	slices.Sort(uids)
	return uids
}
