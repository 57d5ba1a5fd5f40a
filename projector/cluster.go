package projector

import "github.com/jobledger/jobledger/events"

// OutOfOrder returns the nodes recorded as out of order, sorted by UID.
func (w *World) OutOfOrder() []*events.NodeSeen { return w.Around.Nodes() }

// GoingNamespaces returns the namespaces recorded as under deletion, sorted by name.
func (w *World) GoingNamespaces() []*events.NamespaceSeen { return w.Around.Namespaces() }
