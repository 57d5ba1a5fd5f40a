package events

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// What is seen around the Jobs, nodes and namespaces, is for people alone: nothing is decided by it. Its records stand
// in the controller's stream, which whoever reads about a Job reads too.

// NodeSeen is how a node is.
type NodeSeen struct {
	Name      string
	UID       types.UID
	Ready     NodeReadiness
	Since     Time     // when that changed last, by the API server's clock; 0 when the node does not say
	Cordoned  bool     // spec.unschedulable
	Pressures []string // types of conditions that are true and are not Ready, such as MemoryPressure, sorted
	Taints    []string // keys of NoExecute taints that are not of the node's readiness, sorted
}

// NodeReadiness is the status of a node's condition Ready.
type NodeReadiness uint8

// The values.
const (
	NodeReady    NodeReadiness = 1
	NodeNotReady NodeReadiness = 2 // the kubelet says so
	NodeUnheard  NodeReadiness = 3 // the kubelet has not been heard of
)

// String is the value of the readiness in JSON.
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

// InOrder reports whether there is nothing to say of the node.
func (f *NodeSeen) InOrder() bool {
	return f.Ready == NodeReady && !f.Cordoned && len(f.Pressures) == 0 && len(f.Taints) == 0
}

// Equal reports whether two sightings of one node say the same.
func (f *NodeSeen) Equal(o *NodeSeen) bool {
	return f.Name == o.Name && f.UID == o.UID && f.Ready == o.Ready && f.Cordoned == o.Cordoned &&
		slices.Equal(f.Pressures, o.Pressures) && slices.Equal(f.Taints, o.Taints)
}

// NodeGone says that the object of a node is gone.
type NodeGone struct {
	Name     string
	UID      types.UID
	Missed   bool // a list did not show it: it went at some time before
	Replaced bool // there is another node of that name
}

// NamespaceSeen says that a namespace is being deleted, or is gone.
type NamespaceSeen struct {
	Name    string
	UID     types.UID
	Deleted Time // when its deletion was asked for, by the API server's clock; 0 when that is not known
	Gone    bool
	Missed  bool // a list did not show it: it went at some time before
}

// ClusterWatched says whether nodes and namespaces are watched from here on.
type ClusterWatched struct{ Nodes, Namespaces Watching }

// Watching says whether a resource is watched.
type Watching uint8

// The values; 0 is before that is known, after a start.
const (
	WatchingOff    Watching = 1 // the operator does not want it
	WatchingDenied Watching = 2 // there is no right to
	WatchingOn     Watching = 3
)

// String is the value in JSON.
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
