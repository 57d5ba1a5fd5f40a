package apiserver

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Actors of the controllers around the server, as its log names them.
const (
	ActorGarbageCollector    = "garbage-collector"
	ActorPodGC               = "pod-garbage-collector"
	ActorNamespaceController = "namespace-controller"
)

// GarbageCollector models the ownership garbage collector for Pods owned by Jobs. Each step makes at most one write.
type GarbageCollector struct{ server *Server }

// GarbageCollector returns the server's garbage collector.
func (s *Server) GarbageCollector() *GarbageCollector { return &GarbageCollector{s} }

// Step does the next thing that is due; it reports whether there was any.
func (g *GarbageCollector) Step() bool {
	for _, o := range g.server.sorted(Jobs) {
		job := o.(*batchv1.Job)
		if job.DeletionTimestamp == nil {
			continue
		}
		if slices.Contains(job.Finalizers, metav1.FinalizerOrphanDependents) && g.orphan(job) ||
			slices.Contains(job.Finalizers, metav1.FinalizerDeleteDependents) && g.foreground(job) {
			return true
		}
	}
	return g.collect()
}

// orphan takes the Job's owner reference off its next dependent, and the finalizer off the Job after the last.
func (g *GarbageCollector) orphan(job *batchv1.Job) bool {
	for _, pod := range g.dependents(job.UID) {
		after := pod.DeepCopy()
		after.OwnerReferences = slices.DeleteFunc(after.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == job.UID })
		g.server.update(g.request("patch"), pod, after)
		return true
	}
	return g.dropFinalizer(job, metav1.FinalizerOrphanDependents)
}

// foreground deletes the Job's next dependent, and takes the finalizer off the Job when no dependent blocks it.
func (g *GarbageCollector) foreground(job *batchv1.Job) bool {
	blocked := false
	for _, pod := range g.dependents(job.UID) {
		if pod.DeletionTimestamp == nil {
			return g.delete(Pods, pod)
		}
		blocked = blocked || slices.ContainsFunc(pod.OwnerReferences, func(ref metav1.OwnerReference) bool {
			return ref.UID == job.UID && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
		})
	}
	return !blocked && g.dropFinalizer(job, metav1.FinalizerDeleteDependents)
}

// collect deletes the next object that has owners, all of them gone.
func (g *GarbageCollector) collect() bool {
	owners := map[types.UID]bool{}
	for _, job := range g.server.tables[Jobs].live {
		owners[job.GetUID()] = true
	}
	for _, k := range []Kind{Pods, PodGroups, Workloads} {
		for _, o := range g.server.sorted(k) {
			refs := o.GetOwnerReferences()
			if o.GetDeletionTimestamp() != nil || len(refs) == 0 {
				continue
			}
			if !slices.ContainsFunc(refs, func(ref metav1.OwnerReference) bool { return ref.Kind != "Job" || owners[ref.UID] }) {
				return g.delete(k, o)
			}
		}
	}
	return false
}

func (g *GarbageCollector) dependents(owner types.UID) []*corev1.Pod {
	var out []*corev1.Pod
	for _, o := range g.server.sorted(Pods) {
		if slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == owner }) {
			out = append(out, o.(*corev1.Pod))
		}
	}
	return out
}

func (g *GarbageCollector) dropFinalizer(job *batchv1.Job, finalizer string) bool {
	after := job.DeepCopy()
	after.Finalizers = slices.DeleteFunc(after.Finalizers, func(f string) bool { return f == finalizer })
	g.server.update(g.request("patch"), job, after)
	return true
}

func (g *GarbageCollector) delete(k Kind, o Object) bool {
	return g.server.delete(g.request("delete"), k, keyOf(o), DeleteOptions{UID: o.GetUID()}) == nil
}

func (g *GarbageCollector) request(verb string) request {
	return request{actor: ActorGarbageCollector, verb: verb}
}
