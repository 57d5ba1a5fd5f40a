package apiserver

// NamespaceController simulates the namespace controller of Kubernetes: it deletes the objects in a namespace that is
// being deleted, and then the namespace itself. Each Step makes at most one write.
type NamespaceController struct {
	server *Server
	rest   rest
}

// NamespaceController returns a new namespace controller for this server. It deletes the objects in namespaces that are
// being deleted, one with each call of Step.
func (s *Server) NamespaceController() *NamespaceController {
	return &NamespaceController{server: s}
}

// Step makes the next write that is due; it reports whether there was one.
func (n *NamespaceController) Step() bool { return n.rest.unless(n.server, n.step) }

func (n *NamespaceController) step() bool {
	for _, ns := range n.server.sorted(Namespaces) {
		if ns.GetDeletionTimestamp() != nil && n.empty(ns.GetName(), ns) {
			return true
		}
	}
	return false
}

// empty deletes the next object in a terminating namespace, or, if none is left, the namespace itself. It returns
// whether it did something.
func (n *NamespaceController) empty(name string, ns Object) bool {
	r := request{actor: ActorNamespaceController, verb: "delete"}
	left := false
	for _, k := range []Kind{CronJobs, Jobs, Pods, Workloads, PodGroups, Leases} {
		for _, o := range n.server.sorted(k) {
			if o.GetNamespace() != name {
				continue
			}
			if o.GetDeletionTimestamp() == nil {
				return n.server.delete(r, k, keyOf(o), DeleteOptions{UID: o.GetUID()}) == nil
			}
			left = true
		}
	}
	if left {
		return false // nothing to do: an object still has a grace period or a finalizer
	}
	n.server.commit(r, ns, nil)
	return true
}
