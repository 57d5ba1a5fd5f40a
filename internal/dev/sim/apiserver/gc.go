package apiserver

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Names of the garbage collectors and the namespace controller in the log of writes.
const (
	ActorGarbageCollector    = "garbage-collector"
	ActorPodGC               = "pod-garbage-collector"
	ActorNamespaceController = "namespace-controller"
)

// GarbageCollector simulates the garbage collector for owned objects: Jobs of a CronJob, and Pods and their groups of a
// Job. Each step makes at most one write.
type GarbageCollector struct {
	server *Server
	rest   rest
}

// GarbageCollector returns the server's garbage collector.
func (s *Server) GarbageCollector() *GarbageCollector { return &GarbageCollector{server: s} }

// Step makes the next write that is due; it reports whether there was one.
func (g *GarbageCollector) Step() bool { return g.rest.unless(g.server, g.step) }

func (g *GarbageCollector) step() bool {
	for _, k := range []Kind{CronJobs, Jobs} {
		for _, o := range g.server.sorted(k) {
			if o.GetDeletionTimestamp() == nil {
				continue
			}
			if slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents) && g.orphan(o) ||
				slices.Contains(o.GetFinalizers(), metav1.FinalizerDeleteDependents) && g.foreground(o) {
				return true
			}
		}
	}
	return g.collect()
}

// orphan does one step for an owner that was deleted with the policy Orphan: it removes the owner reference from the
// next dependent, or, if no dependent is left, the finalizer from the owner.
func (g *GarbageCollector) orphan(owner Object) bool {
	for _, o := range g.dependents(owner) {
		after := clone(o)
		after.SetOwnerReferences(slices.DeleteFunc(after.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == owner.GetUID() }))
		g.server.update(g.request("patch"), o, after)
		return true
	}
	return g.dropFinalizer(owner, metav1.FinalizerOrphanDependents)
}

// foreground does one step for an owner that was deleted with the policy Foreground: it deletes the next dependent.
// When no dependent with blockOwnerDeletion is left, it removes the owner's finalizer.
func (g *GarbageCollector) foreground(owner Object) bool {
	blocked := false
	for _, o := range g.dependents(owner) {
		if o.GetDeletionTimestamp() == nil {
			return g.delete(KindOf(o), o)
		}
		blocked = blocked || slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
			return ref.UID == owner.GetUID() && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
		})
	}
	return !blocked && g.dropFinalizer(owner, metav1.FinalizerDeleteDependents)
}

// collect deletes the next object whose owners are all gone. Owners of kinds that this simulation does not have count
// as existing.
func (g *GarbageCollector) collect() bool {
	owners := map[types.UID]bool{}
	for _, k := range []Kind{CronJobs, Jobs} {
		for _, o := range g.server.tables[k].live {
			owners[o.GetUID()] = true
		}
	}
	there := func(ref metav1.OwnerReference) bool {
		return ref.Kind != "Job" && ref.Kind != "CronJob" || owners[ref.UID]
	}
	for _, k := range []Kind{Jobs, Pods, PodGroups, Workloads} {
		for _, o := range g.server.sorted(k) {
			refs := o.GetOwnerReferences()
			if o.GetDeletionTimestamp() == nil && len(refs) > 0 && !slices.ContainsFunc(refs, there) {
				return g.delete(k, o)
			}
		}
	}
	return false
}

// dependents returns the objects that an owner owns: Jobs of a CronJob, Pods of a Job.
func (g *GarbageCollector) dependents(owner Object) []Object {
	kind := Pods
	if KindOf(owner) == CronJobs {
		kind = Jobs
	}
	return slices.DeleteFunc(slices.Clone(g.server.sorted(kind)), func(o Object) bool {
		return !slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == owner.GetUID() })
	})
}

func (g *GarbageCollector) dropFinalizer(owner Object, finalizer string) bool {
	after := clone(owner)
	after.SetFinalizers(slices.DeleteFunc(after.GetFinalizers(), func(f string) bool { return f == finalizer }))
	g.server.update(g.request("patch"), owner, after)
	return true
}

func (g *GarbageCollector) delete(k Kind, o Object) bool {
	return g.server.delete(g.request("delete"), k, keyOf(o), DeleteOptions{UID: o.GetUID()}) == nil
}

func (g *GarbageCollector) request(verb string) request {
	return request{actor: ActorGarbageCollector, verb: verb}
}
