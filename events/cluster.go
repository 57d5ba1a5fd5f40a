package events

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// This file has the records about nodes and namespaces, which surround the Jobs. They are for people only: no decision
// reads them. They are in the controller's own stream; a reader that answers about a Job reads them there.

// NodeSeen is the observed condition of a node.
type NodeSeen struct {
	Name      string
	UID       types.UID
	Ready     NodeReadiness
	Since     Time     // when Ready last changed, by the API server's clock; 0 when the node does not say
	Cordoned  bool     // spec.unschedulable
	Pressures []string // types of conditions that are true and are not Ready, such as MemoryPressure, sorted
	Taints    []string // keys of NoExecute taints, sorted, without the taints that only repeat the node's readiness
}

// NodeReadiness is the status of a node's condition Ready.
type NodeReadiness uint8

// The values of NodeReadiness.
const (
	NodeReady    NodeReadiness = 1
	NodeNotReady NodeReadiness = 2 // the kubelet reported it
	NodeUnheard  NodeReadiness = 3 // the kubelet has stopped reporting
)

// String returns the readiness as it is written in JSON.
func (r NodeReadiness) String() string {
	switch r {
	case NodeReady:
		return "Ready"
	case NodeNotReady:
		return "NotReady"
	case NodeUnheard:
		return "Unknown"
	}
	return "unset"
}

// InOrder reports whether the node is healthy: ready, not cordoned, without pressure and without NoExecute taints.
func (f *NodeSeen) InOrder() bool {
	return f.Ready == NodeReady && !f.Cordoned && len(f.Pressures) == 0 && len(f.Taints) == 0
}

// Equal reports whether two observations of one node are the same, apart from Since.
func (f *NodeSeen) Equal(o *NodeSeen) bool {
	return f.Name == o.Name && f.UID == o.UID && f.Ready == o.Ready && f.Cordoned == o.Cordoned &&
		slices.Equal(f.Pressures, o.Pressures) && slices.Equal(f.Taints, o.Taints)
}

// NodeGone records that a Node object no longer exists.
type NodeGone struct {
	Name     string
	UID      types.UID
	Missed   bool // the node was absent from a list: it was deleted at some time before
	Replaced bool // another node of that name exists
}

// NamespaceSeen records that a namespace is being deleted or no longer exists.
type NamespaceSeen struct {
	Name    string
	UID     types.UID
	Deleted Time // when its deletion was requested, by the API server's clock; 0 when unknown
	Gone    bool
	Missed  bool // the namespace was absent from a list: it was deleted at some time before
}

// ClusterWatched records whether nodes and namespaces are watched from this record on.
type ClusterWatched struct{ Nodes, Namespaces Watching }

// Watching is the state of the watch of a resource.
type Watching uint8

// The values of Watching. 0 means not yet known, after a start.
const (
	WatchingOff    Watching = 1 // the operator turned the watch off
	WatchingDenied Watching = 2 // the controller has no right to watch
	WatchingOn     Watching = 3
)

// String returns the value as it is written in JSON.
func (w Watching) String() string {
	switch w {
	case WatchingOff:
		return "off"
	case WatchingDenied:
		return "denied"
	case WatchingOn:
		return "watched"
	}
	return "notYet"
}

func (*NodeSeen) facts() factType       { return factNodeSeen }
func (*NodeGone) facts() factType       { return factNodeGone }
func (*NamespaceSeen) facts() factType  { return factNamespaceSeen }
func (*ClusterWatched) facts() factType { return factClusterWatched }
