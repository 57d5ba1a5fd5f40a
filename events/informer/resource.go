package informer

import (
	"cmp"
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/internal/wire/kubewire/request"
)

// resource lists and watches the objects of one resource, each a pointer O, and keeps a K of each. It knows which
// version of an object was seen, which objects were told, and which are missing from a list. Its kind says what is seen
// of an object.
//
// A further resource is a kind in a file of its own, and a line in NewFeed.
type resource[O object, K kept] struct {
	listing
	feed  *Feed
	kind  kind[O, K]
	known map[types.UID]K // the objects that exist and that concern us, or may yet
}

// object is what an API server lists and watches.
type object interface {
	metav1.Object
	runtime.Object
}

// kind says what is seen of the objects of a resource. Methods whose names end in Locked expect the feed's lock to be
// held.
type kind[O object, K kept] interface {
	// access is how an API server is asked for the objects of a namespace, or of all.
	access(client kubernetes.Interface, namespace string) access
	// strip removes from an object what is not read of it.
	strip(o O)
	// takeLocked puts an object at a version that is news into known, and tells of it if it concerns us.
	takeLocked(o O, version uint64) error
	// forgetLocked forgets what is kept of an object elsewhere than in known.
	forgetLocked(uid types.UID, k K)
	// gone is the observation that an object was deleted. The object is nil when the deletion was missed.
	gone(uid types.UID, k K, o O, version uint64) events.Observation
	// outlived reports whether an undelivered observation of an object need not be told once the object is deleted.
	outlived(seen events.Facts) bool
	// resetLocked forgets what is kept elsewhere than in known.
	resetLocked()
}

// access is how an API server is asked for the objects of a resource.
type access struct {
	example runtime.Object // an empty object of the resource's type
	list    func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch   func(context.Context, metav1.ListOptions) (watch.Interface, error)
	read    func(runtime.Object) (runtime.Object, error) // takes what is wanted from what the watch brings; nil when it brings that
}

// accessTo is the access by the methods of a typed client.
func accessTo[L runtime.Object](
	example runtime.Object,
	list func(context.Context, metav1.ListOptions) (L, error),
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error),
) access {
	return access{example: example, watch: watch, list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return list(ctx, o)
	}}
}

// reading is the access to a resource of which no whole objects are made. A client that makes no requests gives whole
// ones; they are read when they have come.
func reading[O kubewire.Object](r *kubewire.Resource[O], client rest.Interface, namespace, resource string, whole access) access {
	if a, ok := request.To(r, client, namespace, resource); ok {
		return accessTo(r.Empty(), a.List, a.Watch)
	}
	list := whole.list
	whole.read = r.Object
	whole.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		listed, err := list(ctx, o)
		if err != nil {
			return nil, err
		}
		return r.Object(listed)
	}
	return whole
}

// kept is what is kept of an object that exists: at least an entry.
type kept interface{ common() *entry }

// entry is what is kept of every object.
type entry struct {
	version uint64 // newest resourceVersion seen
	wrote   answer // to our own newest write
	told    bool   // the sink was told of it, so it is told to the end
}

func (e *entry) common() *entry { return e }

// watched is a resource whatever its objects are.
type watched interface {
	list() *listing
	follow(config *Config, fail func(error), stopped <-chan struct{}) *follower
	wroteLocked(uid types.UID, a answer)
	clearLocked()
}

// newResource is a resource of which nothing was seen yet. Version is the newest one of it that the log has.
func newResource[O object, K kept](feed *Feed, kind kind[O, K], name events.Resource, version uint64) resource[O, K] {
	return resource[O, K]{
		listing: listing{
			resource: name, newest: version, floor: version, first: make(chan struct{}),
			announced: true, // the loop has written the ListingStarted of a start before it starts us
		},
		feed: feed, kind: kind, known: map[types.UID]K{},
	}
}

func (r *resource[O, K]) list() *listing { return &r.listing }

// follow is what keeps the resource listed and watched.
func (r *resource[O, K]) follow(config *Config, fail func(error), stopped <-chan struct{}) *follower {
	a := r.kind.access(config.Client, config.Namespace)
	s := newSource(config.Client, a, r.kind.strip)
	s.asking = func() { r.feed.asking(&r.listing) }
	return &follower{
		listing: &r.listing, source: s, expected: a.example, store: store[O, K]{r, s, a.read, fail, stopped},
		log: config.Logger.With("resource", r.listing.resource.String()),
	}
}

// takeList takes a whole list that is of the newest state, as of a version.
func (r *resource[O, K]) takeList(objects []O, version string) error {
	r.feed.asking(&r.listing)
	for _, o := range objects {
		r.kind.strip(o)
	}
	return r.replace(objects, version, true)
}

// replace takes a list of stripped objects; unless it is of the newest state, an ErrOlder refuses it, and nothing has
// changed.
func (r *resource[O, K]) replace(objects []O, listVersion string, newest bool) error {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	version, err := parseVersion(listVersion)
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

// changed takes an object from the watch. What is not newer than what was seen is passed over.
func (r *resource[O, K]) changed(o O) error {
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

// deleted takes an object that the watch says was deleted.
func (r *resource[O, K]) deleted(o O) error {
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

// bookmark takes note of a version that brought no object.
func (r *resource[O, K]) bookmark(version string) error {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	n, err := parseVersion(version)
	if err != nil {
		return err
	}
	r.sawLocked(n)
	return nil
}

// sawLocked takes note of a version that the watch brought. It reports whether what came with it counts: not while the
// resource has to be listed anew.
func (r *resource[O, K]) sawLocked(version uint64) bool {
	l := &r.listing
	l.heard = r.feed.now()
	if l.anew {
		return false
	}
	l.newest = max(l.newest, version)
	return true
}

// tellLocked queues the observation of an object that exists.
func (r *resource[O, K]) tellLocked(uid types.UID, k K, o events.Observation) {
	k.common().told = true
	r.feed.queue.seen(r.listing.resource, uid, o)
}

// dropLocked forgets an object and, when it was told, queues that it is gone.
func (r *resource[O, K]) dropLocked(uid types.UID, k K, o O, version uint64) {
	r.kind.forgetLocked(uid, k)
	delete(r.known, uid)
	if k.common().told {
		r.feed.queue.gone(r.listing.resource, uid, r.kind.gone(uid, k, o, version), r.kind)
	}
}

// wroteLocked takes note of what answered a write of our own.
func (r *resource[O, K]) wroteLocked(uid types.UID, a answer) {
	r.wrote = max(r.wrote, a.version)
	if k, ok := r.known[uid]; ok {
		k.common().wrote = a
	}
}

// clearLocked forgets every object.
func (r *resource[O, K]) clearLocked() {
	clear(r.known)
	r.kind.resetLocked()
}

// byAge puts objects into the order of their creation, the same for every list.
func byAge(a, b metav1.Object) int {
	at, bt := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(at.Compare(bt.Time), cmp.Compare(a.GetUID(), b.GetUID()))
}

// missing is the sorted UIDs that are known but not listed.
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
