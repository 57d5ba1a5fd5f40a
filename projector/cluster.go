package projector

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// surroundings is the recorded state of nodes and namespaces. It serves to dedupe observations; decisions do not read
// it. It stores only nodes that are out of order and namespaces under deletion: 5000 healthy nodes take no memory.
type surroundings struct {
	nodes      map[types.UID]*events.NodeSeen   // nodes out of order
	namespaces map[string]*events.NamespaceSeen // namespaces under deletion
	watched    events.ClusterWatched
}

func newSurroundings() surroundings {
	return surroundings{nodes: map[types.UID]*events.NodeSeen{}, namespaces: map[string]*events.NamespaceSeen{}}
}

// apply folds a record of the controller's stream.
func (s *surroundings) apply(rec *events.Record) {
	switch f := rec.Facts.(type) {
	case *events.ControllerStarted:
		s.watched = events.ClusterWatched{}
	case *events.ClusterWatched:
		s.watched = *f
	case *events.NodeSeen:
		if f.InOrder() {
			delete(s.nodes, f.UID)
		} else {
			s.nodes[f.UID] = f
		}
	case *events.NodeGone:
		delete(s.nodes, f.UID)
	case *events.NamespaceSeen:
		if f.Gone {
			delete(s.namespaces, f.Name)
		} else {
			s.namespaces[f.Name] = f
		}
	case *events.EpochChanged: // the cluster was rewound, or the log lost records
		*s = newSurroundings()
	}
}

// news reports whether an observation differs from the recorded state, and the kind of its record.
func (s *surroundings) news(facts events.Facts) (kind events.Kind, news bool) {
	switch f := facts.(type) {
	case *events.ClusterWatched:
		return events.KindClusterWatched, *f != s.watched
	case *events.NodeSeen:
		known := s.nodes[f.UID]
		return events.KindNodeChanged, known == nil && !f.InOrder() || known != nil && !known.Equal(f)
	case *events.NodeGone:
		return events.KindNodeGone, true
	case *events.NamespaceSeen:
		known := s.namespaces[f.Name]
		return events.KindNamespaceChanged, f.Gone || known == nil || known.UID != f.UID
	}
	return 0, false
}

// News reports whether an observation of a node or namespace, or of whether they are watched, differs from the recorded
// state, and the kind of its record.
func (w *World) News(facts events.Facts) (kind events.Kind, news bool) { return w.around.news(facts) }

// KnowsNode reports whether the node is recorded as out of order.
func (w *World) KnowsNode(uid types.UID) bool { return w.around.nodes[uid] != nil }

// KnowsNamespace reports whether the namespace is recorded as under deletion.
func (w *World) KnowsNamespace(f *events.NamespaceSeen) bool {
	known := w.around.namespaces[f.Name]
	return known != nil && known.UID == f.UID
}

// OutOfOrder returns the nodes recorded as out of order, sorted by UID.
func (w *World) OutOfOrder() []*events.NodeSeen {
	return inOrder(w.around.nodes)
}

// inOrder returns the values of a map, sorted by key.
func inOrder[K cmp.Ordered, V any](m map[K]V) []V {
	var out []V
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}

// GoingNamespaces returns the namespaces recorded as under deletion, sorted by name.
func (w *World) GoingNamespaces() []*events.NamespaceSeen {
	return inOrder(w.around.namespaces)
}

// ToWire encodes it into the controller\'s state.
func (s *surroundings) ToWire(to *pb.WorldState) {
	for _, f := range inOrder(s.nodes) {
		to.Nodes = append(to.Nodes, events.NodeToWire(f))
	}
	for _, f := range inOrder(s.namespaces) {
		to.Namespaces = append(to.Namespaces, events.NamespaceToWire(f))
	}
	if s.watched != (events.ClusterWatched{}) {
		to.Watched = events.WatchedToWire(&s.watched)
	}
}

// FromWire decodes it from the controller\'s state.
func (s *surroundings) FromWire(w *pb.WorldState) {
	*s = newSurroundings()
	for _, n := range w.GetNodes() {
		f := events.NodeFromWire(n)
		s.nodes[f.UID] = f
	}
	for _, n := range w.GetNamespaces() {
		f := events.NamespaceFromWire(n)
		s.namespaces[f.Name] = f
	}
	s.watched = *events.WatchedFromWire(w.GetWatched())
}
