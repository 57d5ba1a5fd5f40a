package projector

import "github.com/jobledger/jobledger/events"

// OutOfOrder returns the nodes that are recorded as unhealthy, sorted by UID.
func (w *World) OutOfOrder() []*events.NodeSeen { return w.Around.Nodes() }

// GoingNamespaces returns the namespaces recorded as under deletion, sorted by name.
func (w *World) GoingNamespaces() []*events.NamespaceSeen { return w.Around.Namespaces() }
