package executor

import (
	"context"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// podPatch is a strategic merge patch of a pod's metadata. The UID in it is a precondition: for a pod with another one
// the patch is invalid, with the cause metadata.uid. So is the version: for a pod with another one the patch is a
// conflict.
type podPatch struct {
	Metadata struct {
		UID              types.UID         `json:"uid"`
		ResourceVersion  string            `json:"resourceVersion,omitempty"`
		Annotations      map[string]string `json:"annotations,omitempty"`
		OwnerReferences  []ownerReference  `json:"ownerReferences,omitempty"`
		Finalizers       []string          `json:"finalizers,omitempty"`
		DeleteFinalizers []string          `json:"$deleteFromPrimitiveList/finalizers,omitempty"`
	} `json:"metadata"`
}

// ownerReference is an owner to add, or with the directive one to remove.
type ownerReference struct {
	Directive string `json:"$patch,omitempty"`
	*metav1.OwnerReference
	UID types.UID `json:"uid"`
}

// patchOf is a patch of the pod, at that version if it is not 0.
func patchOf(pod types.UID, version uint64) *podPatch {
	p := &podPatch{}
	p.Metadata.UID = pod
	if version != 0 {
		p.Metadata.ResourceVersion = strconv.FormatUint(version, 10)
	}
	return p
}

func (w *work) dropFinalizer(ctx context.Context, c *events.DropFinalizer) {
	managedBy := w.ManagedBy
	if w.Pod.Unowned {
		managedBy = ""
	}
	w.patchPod(ctx, dropPatch(c, trackingFinalizers(w.Mode, managedBy)))
}

func (w *work) adoptPod(ctx context.Context, c *events.AdoptPod) {
	w.patchPod(ctx, adoptPatch(c, w.Life, w.Job, w.ManagedBy))
}

func (w *work) releasePod(ctx context.Context, c *events.ReleasePod) {
	w.patchPod(ctx, releasePatch(c, w.Job, trackingFinalizers(w.Mode, w.ManagedBy)))
}

// dropPatch removes finalizers (J-093).
func dropPatch(c *events.DropFinalizer, finalizers []string) *podPatch {
	p := patchOf(c.Pod, c.Version)
	p.Metadata.DeleteFinalizers = finalizers
	return p
}

// adoptPatch makes an ownerless pod the Job's (J-175). The other tracking finalizer goes: nobody else would remove it.
// A pod that is not to be counted again keeps none. The annotation tells, when the pod is let go and comes back, that
// it was the Job's before, to whoever has another log.
func adoptPatch(c *events.AdoptPod, id events.Identity, job events.JobRef, managedBy string) *podPatch {
	p := patchOf(c.Pod, c.Version)
	if c.Mark {
		p.Metadata.Annotations = map[string]string{events.CommandAnnotation: id.CommandOf(job.UID, 0)}
	}
	owner := ownerRef(job)
	p.Metadata.OwnerReferences = []ownerReference{{OwnerReference: &owner, UID: job.UID}}
	ours := ""
	if !c.Spent {
		ours = events.FinalizerFor(managedBy)
		p.Metadata.Finalizers = []string{ours}
	}
	for _, other := range []string{events.TrackingFinalizer, events.BuiltinTrackingFinalizer} {
		if other != ours {
			p.Metadata.DeleteFinalizers = append(p.Metadata.DeleteFinalizers, other)
		}
	}
	return p
}

// releasePatch makes a pod of the Job an ownerless one (J-174).
func releasePatch(c *events.ReleasePod, job events.JobRef, finalizers []string) *podPatch {
	p := patchOf(c.Pod, c.Version)
	p.Metadata.OwnerReferences = []ownerReference{{Directive: "delete", UID: job.UID}}
	p.Metadata.DeleteFinalizers = finalizers
	return p
}

// trackingFinalizers are those that keep a pod of a Job with that managedBy. In delegated mode it can only be ours.
// Else an empty managedBy may also mean that the pod's Job was never seen: then it can be either.
func trackingFinalizers(mode events.Mode, managedBy string) []string {
	switch {
	case mode == events.ModeDelegated, managedBy == events.ManagedBy:
		return []string{events.TrackingFinalizer}
	case managedBy == "":
		return []string{events.BuiltinTrackingFinalizer, events.TrackingFinalizer}
	}
	return []string{events.BuiltinTrackingFinalizer}
}
