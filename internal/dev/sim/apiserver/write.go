package apiserver

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Write is one change of one object. Before is nil for a creation, After for a removal. Both are stored objects, and
// must not be changed.
type Write struct {
	Version     uint64
	Time        time.Time
	Actor       string
	Verb        string // create, update, patch, delete
	Subresource string // "status", "binding" or empty
	Kind        Kind
	Key         Key
	UID         types.UID
	Before      Object
	After       Object
	// Late is true if the write took effect after its caller had given up waiting.
	Late bool
}

// Object returns the object after the write, or for a removal the object before it. It must not be changed.
func (w Write) Object() Object {
	if w.After == nil {
		return w.Before
	}
	return w.After
}

// request is who makes a write (actor), and by which verb and subresource.
type request struct {
	actor       string
	verb        string
	subresource string
	late        bool
}

// Writes returns the log of writes from the i-th on; the whole log for 0.
func (s *Server) Writes(from int) []Write {
	if from >= len(s.writes) {
		return nil
	}
	return s.writes[from:]
}

// commit makes one write: it assigns a resource version, logs the write and adds the event for watches. before is nil
// for a creation, after for a removal. It returns the stored object, or the removed one.
func (s *Server) commit(r request, before, after Object) Object {
	s.version++
	version := strconv.FormatUint(s.version, 10)
	event := Event{Version: s.version}
	switch {
	case before == nil:
		event.Type, event.Object = watch.Added, after
	case after == nil:
		// as in etcd's watch, a removal has the object as it was last stored, and the version of the removal
		event.Type, event.Object = watch.Deleted, clone(before)
	default:
		event.Type, event.Object = watch.Modified, after
	}
	event.Object.SetResourceVersion(version)

	kind, key := KindOf(event.Object), keyOf(event.Object)
	t := s.tables[kind]
	s.changes++
	if after == nil {
		t.remove(key)
	} else {
		t.put(after)
	}
	t.events = append(t.events, event)
	s.writes = append(s.writes, Write{
		Version: s.version, Time: s.clock.Now(), Actor: r.actor, Verb: r.verb, Subresource: r.subresource, Late: r.late,
		Kind: kind, Key: key, UID: event.Object.GetUID(), Before: before, After: after,
	})
	return event.Object
}

// update stores after in place of before. If they are equal, it writes nothing. If after has no finalizer left and the
// object is being deleted without a grace period, update removes the object, and returns it as the caller sent it.
func (s *Server) update(r request, before, after Object) Object {
	after.SetResourceVersion(before.GetResourceVersion())
	if equality.Semantic.DeepEqual(before, after) {
		return before
	}
	if releasable(after) {
		s.commit(r, before, nil)
		return after
	}
	return s.commit(r, before, after)
}

// releasable reports whether o can now be removed: it is being deleted, and has no finalizer and no grace period.
func releasable(o Object) bool {
	grace := o.GetDeletionGracePeriodSeconds()
	return o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 && (grace == nil || *grace == 0)
}
