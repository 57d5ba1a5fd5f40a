package apiserver

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// PodGC simulates the pod garbage collector: it sets Pods whose node is gone to Failed and removes them, and it removes
// Pods that were deleted before they got a node. Each step makes at most one write.
type PodGC struct {
	server *Server
	lost   map[string]bool
	rest   rest
}

// PodGC returns a pod garbage collector; no node is gone yet.
func (s *Server) PodGC() *PodGC { return &PodGC{server: s, lost: map[string]bool{}} }

// LoseNode tells the collector that a node is gone for good.
func (g *PodGC) LoseNode(name string) {
	g.lost[name] = true
	g.rest = rest{}
}

// Step makes the next write that is due; it reports whether there was one.
func (g *PodGC) Step() bool { return g.rest.unless(g.server, g.step) }

func (g *PodGC) step() bool {
	for _, o := range g.server.sorted(Pods) {
		pod := o.(*corev1.Pod)
		onLost := g.lost[pod.Spec.NodeName]
		unscheduled := pod.Spec.NodeName == "" && pod.DeletionTimestamp != nil
		switch {
		case (onLost || unscheduled) && !PodTerminal(pod):
			return g.fail(pod, onLost)
		case onLost && (pod.DeletionTimestamp == nil || *pod.DeletionGracePeriodSeconds > 0):
			return g.server.delete(request{actor: ActorPodGC, verb: "delete"}, Pods, keyOf(pod),
				DeleteOptions{UID: pod.UID, GraceSeconds: new(int64)}) == nil
		}
	}
	return false
}

// fail sets the phase of a Pod to Failed. If its node is gone, it adds the condition DisruptionTarget.
func (g *PodGC) fail(pod *corev1.Pod, nodeLost bool) bool {
	now := g.server.now()
	r := request{actor: ActorPodGC, verb: "patch", subresource: "status"}
	return g.server.updatePodStatus(r, pod.Namespace, pod.Name, pod.UID, func(status *corev1.PodStatus) {
		status.Phase = corev1.PodFailed
		if !nodeLost {
			return
		}
		status.Conditions = slices.DeleteFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget })
		status.Conditions = append(status.Conditions, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: now,
			Reason: "DeletionByPodGC", Message: "PodGC: node no longer exists",
		})
	}) == nil
}
