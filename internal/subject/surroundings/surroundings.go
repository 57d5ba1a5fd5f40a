package surroundings

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Surroundings is the recorded state of nodes and namespaces. It tells which observations are new; decisions do not
// read it. It holds only unhealthy nodes and namespaces under deletion: 5000 healthy nodes take no memory.
type Surroundings struct {
	nodes      map[types.UID]*events.NodeSeen   // unhealthy nodes, by UID
	namespaces map[string]*events.NamespaceSeen // namespaces under deletion, by name
	watched    events.ClusterWatched
}

// New returns the state of an empty log.
func New() Surroundings {
	return Surroundings{nodes: map[types.UID]*events.NodeSeen{}, namespaces: map[string]*events.NamespaceSeen{}}
}

// Apply updates the state by a record of the controller's own stream.
func (s *Surroundings) Apply(rec *events.Record) {
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
	case *events.EpochChanged: // the cluster or the log went back in time
		*s = New()
	}
}

// News reports whether an observation of a node or namespace differs from the recorded state, so that it needs a
// record. kind is the kind of that record.
func (s *Surroundings) News(facts events.Facts) (kind events.Kind, news bool) {
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

// KnowsNode reports whether the node is recorded as unhealthy.
func (s *Surroundings) KnowsNode(uid types.UID) bool { return s.nodes[uid] != nil }

// KnowsNamespace reports whether the namespace is recorded as under deletion.
func (s *Surroundings) KnowsNamespace(f *events.NamespaceSeen) bool {
	known := s.namespaces[f.Name]
	return known != nil && known.UID == f.UID
}

// Nodes returns the nodes that are recorded as unhealthy, sorted by UID.
func (s *Surroundings) Nodes() []*events.NodeSeen { return inOrder(s.nodes) }

// Namespaces returns the namespaces recorded as under deletion, sorted by name.
func (s *Surroundings) Namespaces() []*events.NamespaceSeen { return inOrder(s.namespaces) }

// inOrder returns the values of a map, sorted by key.
func inOrder[K cmp.Ordered, V any](m map[K]V) []V {
	var out []V
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}

// ToWire adds the fields of s to the encoded state of the controller.
func (s *Surroundings) ToWire(to *pb.WorldState) {
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

// FromWire takes the fields of s from the encoded state of the controller.
func (s *Surroundings) FromWire(w *pb.WorldState) {
	*s = New()
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
