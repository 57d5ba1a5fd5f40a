package events

import pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"

// NodeToWire translates an observed node, for a record or a stored state.
func NodeToWire(f *NodeSeen) *pb.NodeSeen {
	return &pb.NodeSeen{
		Name: f.Name, Uid: uidToWire(f.UID), Ready: pb.NodeReadiness(f.Ready), Since: int64(f.Since), Cordoned: f.Cordoned,
		Pressures: f.Pressures, Taints: f.Taints,
	}
}

// NodeFromWire decodes what NodeToWire made.
func NodeFromWire(w *pb.NodeSeen) *NodeSeen {
	return &NodeSeen{
		Name: w.GetName(), UID: uidFromWire(w.GetUid()), Ready: NodeReadiness(w.GetReady()), Since: Time(w.GetSince()),
		Cordoned: w.GetCordoned(), Pressures: w.GetPressures(), Taints: w.GetTaints(),
	}
}

func nodeGoneToWire(f *NodeGone) *pb.NodeGone {
	return &pb.NodeGone{Name: f.Name, Uid: uidToWire(f.UID), Missed: f.Missed, Replaced: f.Replaced}
}

func nodeGoneFromWire(w *pb.NodeGone) *NodeGone {
	return &NodeGone{
		Name: w.GetName(), UID: uidFromWire(w.GetUid()), Missed: w.GetMissed(), Replaced: w.GetReplaced(),
	}
}

// NamespaceToWire translates an observed namespace, for a record or a stored state.
func NamespaceToWire(f *NamespaceSeen) *pb.NamespaceSeen {
	return &pb.NamespaceSeen{Name: f.Name, Uid: uidToWire(f.UID), Deleted: int64(f.Deleted), Gone: f.Gone, Missed: f.Missed}
}

// NamespaceFromWire decodes what NamespaceToWire made.
func NamespaceFromWire(w *pb.NamespaceSeen) *NamespaceSeen {
	return &NamespaceSeen{
		Name: w.GetName(), UID: uidFromWire(w.GetUid()), Deleted: Time(w.GetDeleted()), Gone: w.GetGone(), Missed: w.GetMissed(),
	}
}

// WatchedToWire translates ClusterWatched (whether nodes and namespaces are watched), for a record or a stored state.
func WatchedToWire(f *ClusterWatched) *pb.ClusterWatched {
	return &pb.ClusterWatched{Nodes: pb.Watching(f.Nodes), Namespaces: pb.Watching(f.Namespaces)}
}

// WatchedFromWire decodes what WatchedToWire made.
func WatchedFromWire(w *pb.ClusterWatched) *ClusterWatched {
	return &ClusterWatched{Nodes: Watching(w.GetNodes()), Namespaces: Watching(w.GetNamespaces())}
}
