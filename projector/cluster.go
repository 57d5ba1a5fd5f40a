package projector

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// surroundings are what the log says of nodes and namespaces. Decisions do not read them: they are kept so that nothing
// is recorded twice. A node that is in order takes no room here.
type surroundings struct {
	nodes      map[types.UID]*events.NodeSeen   // those out of order
	namespaces map[string]*events.NamespaceSeen // those being deleted
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
	case *events.EpochChanged: // of a cluster that was rewound, or by a log that lost records
		*s = newSurroundings()
	}
}

// news reports whether an observation says what the log does not say.
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

// surrounding is the draft of an observation of a node or a namespace, if it says something new.
func (in *Intake) surrounding(o *events.Observation) []Draft {
	kind, news := in.World.around.news(o.Facts)
	if !news {
		return nil
	}
	return []Draft{{Stream: events.Controller, Kind: kind, Facts: o.Facts, Evidence: o.Evidence}}
}

// OutOfOrder are the nodes that the log says are out of order, by UID.
func (w *World) OutOfOrder() []*events.NodeSeen {
	return inOrder(w.around.nodes)
}

// inOrder are the values of a map by their keys.
func inOrder[K cmp.Ordered, V any](m map[K]V) []V {
	var out []V
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}

// GoingNamespaces are the namespaces that the log says are being deleted, by name.
func (w *World) GoingNamespaces() []*events.NamespaceSeen {
	return inOrder(w.around.namespaces)
}

func (s *surroundings) toWire(to *pb.WorldState) {
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

func (s *surroundings) fromWire(w *pb.WorldState) {
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
