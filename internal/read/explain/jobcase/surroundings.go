package jobcase

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/say/words"
)

// surroundings has the states of nodes and namespaces, as the controller's records show them over time.
type surroundings struct {
	nodes      map[string][]NodeAt // by name, the oldest first
	namespaces map[string][]NamespaceAt
	looks      []LookAt
}

type NodeAt struct {
	explain.Mark
	Seen *events.NodeSeen // nil for a deleted node
}

type NamespaceAt struct {
	explain.Mark
	Seen *events.NamespaceSeen
}

// LookAt says which of nodes and namespaces the controller watches, from a record on.
type LookAt struct {
	explain.Mark
	events.ClusterWatched
}

// learn adds what record r of the controller shows about nodes and namespaces.
func (s *surroundings) learn(r *events.Record) {
	if s.nodes == nil {
		s.nodes, s.namespaces = map[string][]NodeAt{}, map[string][]NamespaceAt{}
	}
	switch f := r.Facts.(type) {
	case *events.NodeSeen:
		s.nodes[f.Name] = append(s.nodes[f.Name], NodeAt{explain.MarkOf(r), f})
	case *events.NodeGone:
		s.nodes[f.Name] = append(s.nodes[f.Name], NodeAt{explain.MarkOf(r), nil})
	case *events.NamespaceSeen:
		s.namespaces[f.Name] = append(s.namespaces[f.Name], NamespaceAt{explain.MarkOf(r), f})
	case *events.ClusterWatched:
		s.looks = append(s.looks, LookAt{explain.MarkOf(r), *f})
	case *events.ControllerStarted: // at its start, the controller watches none of them
		s.looks = append(s.looks, LookAt{Mark: explain.MarkOf(r)})
	}
}

// notInStep is how far the watch of one resource may be behind that of another.
const notInStep = 5 * time.Second

// NodeOf returns the newest record about the node of try t (a pod), as of when. ok is false if the node was fine then,
// or was deleted before the pod existed.
func (c *Case) NodeOf(t *try.Try, when explain.Mark) (n NodeAt, ok bool) {
	for _, x := range c.around.nodes[t.Node] {
		if x.At > when.At.Add(notInStep) {
			break
		}
		n, ok = x, true
	}
	if !ok || n.Seen != nil && n.Seen.InOrder() || n.Seen == nil && t.Created != 0 && n.At < t.Created {
		return NodeAt{}, false
	}
	return n, true
}

// NodeFor returns the record about the node of try t that explains why the pod was disrupted (by is the kind of
// disruption): a deletion, a taint or a cordon of the node. The node's newest state need not show it, because a taint
// can be removed at once, and a node created again. So NodeFor looks at all states at about the time when. If none
// explains it, it returns the newest, like NodeOf.
func (c *Case) NodeFor(t *try.Try, by try.By, when explain.Mark) (n NodeAt, ok bool) {
	if by == try.ByNodeGone {
		if n = c.NodeWent(t); n.Record != 0 {
			return n, true
		}
	}
	all := c.around.nodes[t.Node]
	for i := len(all) - 1; i >= 0; i-- {
		x := all[i]
		over := i+1 < len(all) && all[i+1].At.Add(notInStep) < when.At
		if over {
			break
		}
		if x.At <= when.At.Add(notInStep) && x.Seen != nil && explains(by, x.Seen) {
			return x, true
		}
	}
	return c.NodeOf(t, when)
}

func explains(by try.By, f *events.NodeSeen) bool {
	switch by {
	case try.ByTaint:
		return len(f.Taints) > 0
	case try.ByEviction:
		return f.Cordoned
	}
	return false
}

// NodeWords describes the state n of the node with this name.
func (c *Case) NodeWords(n *NodeAt, name string) string {
	if n.Seen == nil {
		return "the object of node " + name + " was deleted, seen " + c.Clock(n.At)
	}
	return words.NodeText(n.Seen) + ", seen " + c.Clock(n.At)
}

// NodeWent returns the record that says that the node's object was deleted while pod t existed and had not ended; zero
// if there is none.
func (c *Case) NodeWent(t *try.Try) NodeAt {
	for _, x := range c.around.nodes[t.Node] {
		if x.Seen == nil && x.At >= t.Seen.At && (!t.Over() || x.At <= t.End().At) {
			return x
		}
	}
	return NodeAt{}
}

// NamespaceEnd returns the record of the namespace's deletion, if this explains the deletion of pod t. seen is the
// record that shows the pod's deletion. If the time of the pod's deletion is exact, NamespaceEnd compares the two times
// of the API server.
func (c *Case) NamespaceEnd(t *try.Try, seen explain.Mark) (NamespaceAt, bool) {
	for _, x := range c.around.namespaces[c.Job.Namespace] {
		switch {
		case !c.within(x.Seen) || x.Seen.Deleted > seen.At.Add(notInStep):
		// If the pod's deletion was requested before that of the namespace, it has another cause. Both times are whole
		// seconds, so 2 s are allowed for rounding.
		case t.AskedExact && t.Asked.Add(2*time.Second) < x.Seen.Deleted:
		default:
			return x, true
		}
	}
	return NamespaceAt{}, false
}

// within reports whether the deletion of namespace f was requested after the Job's creation. Otherwise f is an earlier
// namespace of the same name.
func (c *Case) within(f *events.NamespaceSeen) bool {
	return f.Deleted != 0 && f.Deleted.Add(time.Second) >= events.Time(c.Job.Created)
}

// NamespaceRemoval returns the record of the namespace's deletion, if this explains the Job's deletion.
func (c *Case) NamespaceRemoval() (NamespaceAt, bool) {
	m := c.Deletion()
	for _, x := range c.around.namespaces[c.Job.Namespace] {
		if c.within(x.Seen) && x.Seen.Deleted <= m.At.Add(notInStep) && (c.JobDeleted == 0 ||
			x.Seen.Deleted <= c.JobDeleted.Add(time.Second)) {
			return x, true
		}
	}
	return NamespaceAt{}, false
}

// Look returns the newest record, up to m, that says which of nodes and namespaces are watched; zero if there is none.
func (c *Case) Look(m explain.Mark) LookAt {
	var newest LookAt
	for _, l := range c.around.looks {
		if l.Record > m.Record {
			break
		}
		newest = l
	}
	return newest
}

// ToWatch says what Jobledger needs to watch namespaces: a right in the cluster, or a flag.
func (l LookAt) ToWatch() string {
	switch l.Namespaces {
	case events.WatchingDenied:
		return "the right to list and watch namespaces (deploy/watch-cluster)"
	case events.WatchingOff:
		return "a watch of namespaces (--watch-cluster)"
	case events.WatchingOn:
	}
	return "a watch of namespaces"
}
