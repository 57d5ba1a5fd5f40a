package informer

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

// mostNames bounds the pressures, and the taints, that are reported of a node.
const mostNames = 8

// nodeSeen returns the facts about a node.
func nodeSeen(o *corev1.Node) *events.NodeSeen {
	f := &events.NodeSeen{Name: o.Name, UID: o.UID, Ready: events.NodeUnheard, Cordoned: o.Spec.Unschedulable}
	for _, c := range o.Status.Conditions {
		switch {
		case c.Type == corev1.NodeReady:
			f.Ready = map[corev1.ConditionStatus]events.NodeReadiness{
				corev1.ConditionTrue: events.NodeReady, corev1.ConditionFalse: events.NodeNotReady,
			}[c.Status]
			if f.Ready == 0 {
				f.Ready = events.NodeUnheard
			}
			if !c.LastTransitionTime.IsZero() {
				f.Since = events.At(c.LastTransitionTime.Time)
			}
		case pressures[c.Type] && c.Status == corev1.ConditionTrue:
			f.Pressures = append(f.Pressures, string(c.Type))
		}
	}
	for _, t := range o.Spec.Taints {
		if t.Effect == corev1.TaintEffectNoExecute && t.Key != corev1.TaintNodeNotReady && t.Key != corev1.TaintNodeUnreachable {
			f.Taints = append(f.Taints, t.Key)
		}
	}
	f.Pressures, f.Taints = few(f.Pressures), few(f.Taints)
	return f
}

// pressures are the node conditions, besides Ready, that mean a problem of the node when they are true.
var pressures = map[corev1.NodeConditionType]bool{
	corev1.NodeMemoryPressure: true, corev1.NodeDiskPressure: true, corev1.NodePIDPressure: true, corev1.NodeNetworkUnavailable: true,
}

// few returns the first mostNames names, sorted.
func few(names []string) []string {
	slices.Sort(names)
	return slices.Clip(names[:min(len(names), mostNames)])
}

// stripSurrounding reduces a node or a namespace to the fields that are reported.
func stripSurrounding(o any) (any, error) {
	switch o := o.(type) {
	case *corev1.Node:
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion},
			Spec:       corev1.NodeSpec{Unschedulable: o.Spec.Unschedulable, Taints: o.Spec.Taints},
			Status:     corev1.NodeStatus{Conditions: o.Status.Conditions},
		}, nil
	case *corev1.Namespace:
		meta := metav1.ObjectMeta{Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion, DeletionTimestamp: o.DeletionTimestamp}
		if keep, is := o.Annotations[events.KeepAnnotation]; is {
			meta.Annotations = map[string]string{events.KeepAnnotation: keep}
		}
		return &corev1.Namespace{ObjectMeta: meta}, nil
	}
	return o, nil
}
