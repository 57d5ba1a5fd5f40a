package apiserver

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// DeleteOptions are the options of a delete call. The zero value deletes gracefully, in the background, without
// preconditions.
type DeleteOptions struct {
	UID             types.UID                  // precondition; empty for none
	ResourceVersion string                     // precondition; empty for none
	GraceSeconds    *int64                     // nil: the grace period in the pod's spec; no effect for Jobs
	Propagation     metav1.DeletionPropagation // empty: Background
}

// delete removes an object at once, or marks it as being deleted if it has finalizers or a grace period. Only a pod
// that is on a node and has not ended has a grace period.
func (s *Server) delete(r request, k Kind, key Key, opts DeleteOptions) error {
	stored, err := s.get(k, key)
	if err != nil {
		return err
	}
	if err := checkPreconditions(k, stored, opts); err != nil {
		return err
	}
	after := clone(stored)
	if stored.GetDeletionTimestamp() != nil {
		if !shortenGrace(after, opts.GraceSeconds) {
			// Nothing to do: the object is being deleted already, and the call asks for no shorter grace period.
			return nil
		}
	} else {
		s.beginDeletion(after, graceOf(stored, opts.GraceSeconds))
		setPropagation(after, opts.Propagation)
	}
	if releasable(after) {
		s.commit(r, stored, nil)
		return nil
	}
	s.update(r, stored, after)
	return nil
}

func checkPreconditions(k Kind, stored Object, opts DeleteOptions) error {
	if opts.UID != "" && opts.UID != stored.GetUID() {
		return uidConflict(k, stored.GetName(), opts.UID, stored.GetUID())
	}
	if opts.ResourceVersion != "" && opts.ResourceVersion != stored.GetResourceVersion() {
		return apierrors.NewConflict(k.resource(), stored.GetName(), errText(fmt.Sprintf(
			"Precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v",
			opts.ResourceVersion, stored.GetResourceVersion())))
	}
	return nil
}

// graceOf returns the grace period, in seconds, for the deletion of an object. It is 0, except for a pod that is on a
// node and has not ended: then it is asked or, if asked is nil, the period in the pod's spec.
func graceOf(stored Object, asked *int64) int64 {
	pod, ok := stored.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" || PodTerminal(pod) {
		return 0
	}
	grace := defaultGrace
	switch {
	case asked != nil:
		grace = *asked
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		grace = *pod.Spec.TerminationGracePeriodSeconds
	}
	if grace < 0 {
		return 1
	}
	return grace
}

// beginDeletion marks o as being deleted. The deletion timestamp is the end of the grace period.
func (s *Server) beginDeletion(o Object, grace int64) {
	at := metav1.NewTime(s.clock.Now()).Rfc3339Copy()
	at.Time = at.Add(secondsOf(grace))
	o.SetDeletionTimestamp(&at)
	o.SetDeletionGracePeriodSeconds(&grace)
	o.SetGeneration(o.GetGeneration() + 1)
}

// shortenGrace shortens the grace period of an object that is being deleted. It reports whether asked is shorter than
// the present period.
func shortenGrace(o Object, asked *int64) bool {
	current := o.GetDeletionGracePeriodSeconds()
	if asked == nil || current == nil || *asked >= *current {
		return false
	}
	at := *o.GetDeletionTimestamp()
	at.Time = at.Add(secondsOf(*asked - *current))
	o.SetDeletionTimestamp(&at)
	o.SetDeletionGracePeriodSeconds(asked)
	return true
}

// setPropagation sets the finalizer that tells the garbage collector what to do with the objects that o owns.
func setPropagation(o Object, policy metav1.DeletionPropagation) {
	finalizers := slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	switch policy {
	case metav1.DeletePropagationOrphan:
		finalizers = append(finalizers, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		finalizers = append(finalizers, metav1.FinalizerDeleteDependents)
	}
	o.SetFinalizers(finalizers)
}
