package executor

import (
	"context"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// podPatch is a strategic merge patch of a pod's metadata. Its UID is a precondition: for another pod the patch is
// invalid, with cause metadata.uid. Its version is one too: for another version the patch is a conflict.
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

// ownerReference is an owner to add, or, with the directive, to remove.
type ownerReference struct {
	Directive string `json:"$patch,omitempty"`
	*metav1.OwnerReference
	UID types.UID `json:"uid"`
}

// patchOf returns a patch of the pod, at version unless that is 0.
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

// adoptPatch adds the Job as owner of an orphan pod (J-175). It removes the other tracking finalizer, because no other
// controller would. A pod that must not count again gets none. The annotation marks the pod as the Job's, for a
// controller with another log that sees the pod released and back again.
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

// releasePatch makes a pod of the Job an orphan (J-174).
func releasePatch(c *events.ReleasePod, job events.JobRef, finalizers []string) *podPatch {
	p := patchOf(c.Pod, c.Version)
	p.Metadata.OwnerReferences = []ownerReference{{Directive: "delete", UID: job.UID}}
	p.Metadata.DeleteFinalizers = finalizers
	return p
}

// trackingFinalizers returns the finalizers that hold a pod of a Job with that managedBy. In delegated mode only ours
// can. Otherwise an empty managedBy may also mean that the pod's Job was never seen, so it can be either.
func trackingFinalizers(mode events.Mode, managedBy string) []string {
	switch {
	case mode == events.ModeDelegated, managedBy == events.ManagedBy:
		return []string{events.TrackingFinalizer}
	case managedBy == "":
		return []string{events.BuiltinTrackingFinalizer, events.TrackingFinalizer}
	}
	return []string{events.BuiltinTrackingFinalizer}
}
