package apiserver

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
)

// Event is one write, as a watch delivers it.
type Event struct {
	Version uint64 // resource version of the write
	Type    watch.EventType
	Object  Object
}

// List is the answer to a list call: the objects, sorted by namespace and name, and the resource version of the list.
type List struct {
	Kind    Kind
	Version uint64
	Items   []Object
}

// List returns all objects of a kind as they are now (a list without a resource version: a quorum read).
func (s *Server) List(k Kind) List {
	list := List{Kind: k, Version: s.version, Items: slices.Clone(s.sorted(k))}
	for i, o := range list.Items {
		list.Items[i] = clone(o)
	}
	return list
}

// ListStale returns the objects of a kind as they were at the resource version at, like an API server's watch cache
// that lags behind. A version in the future gives the present objects.
func (s *Server) ListStale(k Kind, at uint64) List {
	if at >= s.version {
		return s.List(k)
	}
	live := map[Key]Object{}
	for _, e := range s.tables[k].events {
		if e.Version > at {
			break
		}
		if e.Type == watch.Deleted {
			delete(live, keyOf(e.Object))
		} else {
			live[keyOf(e.Object)] = e.Object
		}
	}
	list := List{Kind: k, Version: at, Items: make([]Object, 0, len(live))}
	for _, o := range live {
		list.Items = append(list.Items, clone(o))
	}
	sortObjects(list.Items)
	return list
}

// Compact forgets the events of a kind up to and including version at. A watch that starts before that version then
// gets 410. ListStale still knows older versions, because it stands for the watch caches of other servers.
func (s *Server) Compact(k Kind, at uint64) {
	s.tables[k].compacted = max(s.tables[k].compacted, min(at, s.version))
}

// Watch returns a cursor over the events of a kind after version from. It fails with 410 (reason Expired) if they have
// been compacted.
func (s *Server) Watch(k Kind, from uint64) (*Cursor, error) {
	if from < s.tables[k].compacted {
		return nil, expired(from, s.tables[k].compacted)
	}
	c := &Cursor{server: s, kind: k, at: from, life: s.lives}
	for c.next < len(s.tables[k].events) && s.tables[k].events[c.next].Version <= from {
		c.next++
	}
	return c, nil
}

func expired(from, compacted uint64) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", from, compacted))
}

// Cursor is one watch: how far its reader has read. The reader calls Next, and gets one event each time.
type Cursor struct {
	server *Server
	kind   Kind
	next   int    // index of the next event in table.events
	at     uint64 // version of the last event that was read, or version at which the watch began
	life   uint64 // value of Server.lives when the watch began
	cut    bool
}

// Next returns the next event; ok is false if there is none yet. It fails with 410 after [Cursor.Cut], or after a
// compaction of unread events. Then the reader must list again.
func (c *Cursor) Next() (e Event, ok bool, err error) {
	t := c.server.tables[c.kind]
	if c.cut || c.life != c.server.lives || c.next < len(t.events) && c.at < t.compacted {
		c.cut = true
		return Event{}, false, expired(c.at, t.compacted)
	}
	if c.next >= len(t.events) {
		return Event{}, false, nil
	}
	e = t.events[c.next]
	c.next++
	c.at = e.Version
	e.Object = clone(e.Object)
	return e, true, nil
}

// Pending returns how many events wait to be read.
func (c *Cursor) Pending() int { return len(c.server.tables[c.kind].events) - c.next }

// Version returns the resource version up to which the cursor has read.
func (c *Cursor) Version() uint64 { return c.at }

// Kind returns the kind that the cursor watches.
func (c *Cursor) Kind() Kind { return c.kind }

// Cut ends the watch: its next read fails with 410.
func (c *Cursor) Cut() { c.cut = true }
