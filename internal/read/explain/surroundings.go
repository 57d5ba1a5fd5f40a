package explain

import (
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// surroundings is the history of nodes and namespaces.
type surroundings struct {
	nodes      map[string][]nodeAt // by name, the oldest first
	namespaces map[string][]namespaceAt
	looks      []lookAt
}

type nodeAt struct {
	Mark
	seen *events.NodeSeen // nil for a deleted node
}

type namespaceAt struct {
	Mark
	seen *events.NamespaceSeen
}

// lookAt says from a record on which of nodes and namespaces are watched.
type lookAt struct {
	Mark
	events.ClusterWatched
}

// learn applies a record of the controller's stream.
func (s *surroundings) learn(r *events.Record) {
	if s.nodes == nil {
		s.nodes, s.namespaces = map[string][]nodeAt{}, map[string][]namespaceAt{}
	}
	switch f := r.Facts.(type) {
	case *events.NodeSeen:
		s.nodes[f.Name] = append(s.nodes[f.Name], nodeAt{markOf(r), f})
	case *events.NodeGone:
		s.nodes[f.Name] = append(s.nodes[f.Name], nodeAt{markOf(r), nil})
	case *events.NamespaceSeen:
		s.namespaces[f.Name] = append(s.namespaces[f.Name], namespaceAt{markOf(r), f})
	case *events.ClusterWatched:
		s.looks = append(s.looks, lookAt{markOf(r), *f})
	case *events.ControllerStarted: // nothing is watched yet
		s.looks = append(s.looks, lookAt{Mark: markOf(r)})
	}
}

// notInStep is the maximum delay of one watch behind another.
const notInStep = 5 * time.Second

// nodeOf returns the newest record about the try's node at the time of an event. ok is false if the node was in order,
// or was deleted before the pod existed.
func (c *Case) nodeOf(t *Try, when Mark) (n nodeAt, ok bool) {
	for _, x := range c.around.nodes[t.Node] {
		if x.At > when.At.Add(notInStep) {
			break
		}
		n, ok = x, true
	}
	if !ok || n.seen != nil && n.seen.InOrder() || n.seen == nil && t.Created != 0 && n.At < t.Created {
		return nodeAt{}, false
	}
	return n, true
}

// nodeWords describes the state of a node.
func (c *Case) nodeWords(n *nodeAt, name string) string {
	if n.seen == nil {
		return "the object of node " + name + " was deleted, seen " + c.clock(n.At)
	}
	return words.NodeText(n.seen) + ", seen " + c.clock(n.At)
}

// withNode adds the state of the try's node to an ending.
func (c *Case) withNode(t *Try, e Ending, when Mark) Ending {
	n, ok := c.nodeOf(t, when)
	if !ok {
		return e
	}
	e.Why = strings.TrimSuffix(strings.TrimSpace(e.Why), ".")
	if e.Why != "" {
		e.Why += "; "
	}
	e.Why += c.nodeWords(&n, t.Node)
	e.Marks = append(e.Marks, n.Mark)
	return e
}

// nodeWent returns the record that the node's object was deleted while the pod existed and had not ended; zero for
// none.
func (c *Case) nodeWent(t *Try) nodeAt {
	for _, x := range c.around.nodes[t.Node] {
		if x.seen == nil && x.At >= t.Seen.At && (!t.over() || x.At <= t.end().At) {
			return x
		}
	}
	return nodeAt{}
}

// namespaceEnd returns the record of the namespace's deletion if that explains the pod's deletion, seen at a record. If
// the pod's time is exact, both times are the API server's.
func (c *Case) namespaceEnd(t *Try, seen Mark) (namespaceAt, bool) {
	for _, x := range c.around.namespaces[c.Job.Namespace] {
		switch {
		case !c.within(x.seen) || x.seen.Deleted > seen.At.Add(notInStep):
		case t.AskedExact && t.Asked.Add(2*time.Second) < x.seen.Deleted: // both are whole seconds
		default:
			return x, true
		}
	}
	return namespaceAt{}, false
}

// within reports whether a namespace's deletion was requested during the Job's life. An earlier namespace of the same
// name may have been deleted before.
func (c *Case) within(f *events.NamespaceSeen) bool {
	return f.Deleted != 0 && f.Deleted.Add(time.Second) >= events.Time(c.Job.Created)
}

// namespaceRemoval returns the record of the namespace's deletion if that explains the Job's deletion.
func (c *Case) namespaceRemoval() (namespaceAt, bool) {
	m := c.deletion()
	for _, x := range c.around.namespaces[c.Job.Namespace] {
		if c.within(x.seen) && x.seen.Deleted <= m.At.Add(notInStep) && (c.jobDeleted == 0 || x.seen.Deleted <= c.jobDeleted.Add(time.Second)) {
			return x, true
		}
	}
	return namespaceAt{}, false
}

// look returns the newest record before m about the watches of nodes and namespaces; zero for none.
func (c *Case) look(m Mark) lookAt {
	var newest lookAt
	for _, l := range c.around.looks {
		if l.Record > m.Record {
			break
		}
		newest = l
	}
	return newest
}

// toWatch says which right or flag is missing to watch namespaces.
func (l lookAt) toWatch() string {
	switch l.Namespaces {
	case events.WatchingDenied:
		return "the right to list and watch namespaces (deploy/watch-cluster)"
	case events.WatchingOff:
		return "a watch of namespaces (--watch-cluster)"
	case events.WatchingOn:
	}
	return "a watch of namespaces"
}
