package explain

import (
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// surroundings are what the log tells of nodes and namespaces.
type surroundings struct {
	nodes      map[string][]nodeAt // by name, oldest first
	namespaces map[string][]namespaceAt
	looks      []lookAt
}

type nodeAt struct {
	Mark
	seen *events.NodeSeen // nil when it is gone
}

type namespaceAt struct {
	Mark
	seen *events.NamespaceSeen
}

// lookAt is from when on something is watched, or is not.
type lookAt struct {
	Mark
	events.ClusterWatched
}

// learn takes in a record of the controller's stream.
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

// notInStep is by how much one watch may be behind another.
const notInStep = 5 * time.Second

// nodeOf is how the try's node was when something happened to the pod: the newest record of it, since the pod was
// there. Ok is false when there is none that says that the node is out of order.
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

// nodeWords say how a node was.
func (c *Case) nodeWords(n *nodeAt, name string) string {
	if n.seen == nil {
		return "the object of node " + name + " was deleted, seen " + c.clock(n.At)
	}
	return words.NodeText(n.seen) + ", seen " + c.clock(n.At)
}

// withNode adds to an ending how the node was.
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

// nodeWent is the record that the object of a try's node was deleted while the pod was there and had not ended; none
// where no record says so.
func (c *Case) nodeWent(t *Try) nodeAt {
	for _, x := range c.around.nodes[t.Node] {
		if x.seen == nil && x.At >= t.Seen.At && (!t.over() || x.At <= t.end().At) {
			return x
		}
	}
	return nodeAt{}
}

// namespaceEnd is the record that says that the Job's namespace is being deleted, if that explains the deletion of a
// pod that was seen so: both times are the API server's where the pod's is exact.
func (c *Case) namespaceEnd(t *Try, seen Mark) (namespaceAt, bool) {
	for _, x := range c.around.namespaces[c.Job.Namespace] {
		switch {
		case !c.within(x.seen) || x.seen.Deleted > seen.At.Add(notInStep):
		case t.AskedExact && t.Asked.Add(2*time.Second) < x.seen.Deleted: // whole seconds
		default:
			return x, true
		}
	}
	return namespaceAt{}, false
}

// within reports whether the deletion of a namespace was asked for in the Job's time: another of that name may have
// gone before.
func (c *Case) within(f *events.NamespaceSeen) bool {
	return f.Deleted != 0 && f.Deleted.Add(time.Second) >= events.Time(c.Job.Created)
}

// namespaceRemoval is the record that says that the Job went with its namespace.
func (c *Case) namespaceRemoval() (namespaceAt, bool) {
	m := c.deletion()
	for _, x := range c.around.namespaces[c.Job.Namespace] {
		if c.within(x.seen) && x.seen.Deleted <= m.At.Add(notInStep) && (c.jobDeleted == 0 || x.seen.Deleted <= c.jobDeleted.Add(time.Second)) {
			return x, true
		}
	}
	return namespaceAt{}, false
}

// look is the newest record before a time that says what is watched; none when nothing says it.
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

// toWatch is what has to be given so that namespaces are watched.
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
