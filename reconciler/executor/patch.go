package executor

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// podPatch is a strategic merge patch of a pod's metadata. The UID in it is a precondition: for a pod with another one the
// patch is invalid, with the cause metadata.uid.
type podPatch struct {
	Metadata struct {
		UID              types.UID        `json:"uid"`
		OwnerReferences  []ownerReference `json:"ownerReferences,omitempty"`
		Finalizers       []string         `json:"finalizers,omitempty"`
		DeleteFinalizers []string         `json:"$deleteFromPrimitiveList/finalizers,omitempty"`
	} `json:"metadata"`
}

// ownerReference is an owner to add, or with the directive one to remove.
type ownerReference struct {
	Directive string `json:"$patch,omitempty"`
	*metav1.OwnerReference
	UID types.UID `json:"uid"`
}

func patchOf(pod types.UID) *podPatch {
	p := &podPatch{}
	p.Metadata.UID = pod
	return p
}

// dropPatch removes finalizers (J-093).
func dropPatch(pod types.UID, finalizers []string) *podPatch {
	p := patchOf(pod)
	p.Metadata.DeleteFinalizers = finalizers
	return p
}

// adoptPatch makes an ownerless pod the Job's (J-175). The other tracking finalizer goes: nobody else would remove it.
func adoptPatch(pod types.UID, job events.JobRef, managedBy string) *podPatch {
	p := patchOf(pod)
	owner := ownerRef(job)
	p.Metadata.OwnerReferences = []ownerReference{{OwnerReference: &owner, UID: job.UID}}
	ours := events.FinalizerFor(managedBy)
	p.Metadata.Finalizers = []string{ours}
	for _, other := range []string{events.TrackingFinalizer, events.BuiltinTrackingFinalizer} {
		if other != ours {
			p.Metadata.DeleteFinalizers = append(p.Metadata.DeleteFinalizers, other)
		}
	}
	return p
}

// releasePatch makes a pod of the Job an ownerless one (J-174).
func releasePatch(pod types.UID, job events.JobRef, finalizers []string) *podPatch {
	p := patchOf(pod)
	p.Metadata.OwnerReferences = []ownerReference{{Directive: "delete", UID: job.UID}}
	p.Metadata.DeleteFinalizers = finalizers
	return p
}

// trackingFinalizers are those that keep a pod of a Job with that managedBy. In delegated mode it can only be ours. Else
// an empty managedBy may also mean that the pod's Job was never seen: then it can be either.
func trackingFinalizers(mode events.Mode, managedBy string) []string {
	switch {
	case mode == events.ModeDelegated, managedBy == events.ManagedBy:
		return []string{events.TrackingFinalizer}
	case managedBy == "":
		return []string{events.BuiltinTrackingFinalizer, events.TrackingFinalizer}
	}
	return []string{events.BuiltinTrackingFinalizer}
}
