package executor

import (
	"context"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// podPatch is a strategic merge patch of a pod's metadata. The UID in it is a precondition: for a pod with another UID
// the server answers Invalid, with cause metadata.uid. The resourceVersion is a precondition, too: for another version
// the answer is Conflict.
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

// ownerReference adds an owner or, with the directive "delete", removes one.
type ownerReference struct {
	Directive string `json:"$patch,omitempty"`
	*metav1.OwnerReference
	UID types.UID `json:"uid"`
}

// patchOf returns an empty patch for the pod. Its precondition is the pod's UID and, unless it is 0, the
// resourceVersion.
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

// dropPatch returns the patch that removes a pod's tracking finalizers (J-093).
func dropPatch(c *events.DropFinalizer, finalizers []string) *podPatch {
	p := patchOf(c.Pod, c.Version)
	p.Metadata.DeleteFinalizers = finalizers
	return p
}

// adoptPatch returns the patch that makes the Job the owner of an orphan pod (J-175). It also removes the tracking
// finalizer of another controller, built-in or ours, which would otherwise stay for ever. A pod that is counted already
// (Spent) gets no finalizer. If Mark is set, an annotation names the Job, so that a controller with another log knows
// the pod if it is released and adopted again. id is the log's ID and epoch; managedBy is the Job's spec.managedBy.
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

// releasePatch returns the patch that makes a pod of the Job an orphan (J-174).
func releasePatch(c *events.ReleasePod, job events.JobRef, finalizers []string) *podPatch {
	p := patchOf(c.Pod, c.Version)
	p.Metadata.OwnerReferences = []ownerReference{{Directive: "delete", UID: job.UID}}
	p.Metadata.DeleteFinalizers = finalizers
	return p
}

// trackingFinalizers returns the tracking finalizers that a Job's pod may have, given the Job's spec.managedBy. In
// ModeDelegated (Jobs that name this controller) it can only be ours. In ModeAll an empty managedBy may also mean that
// the Job was never seen, so the pod may have ours or the built-in controller's.
func trackingFinalizers(mode events.Mode, managedBy string) []string {
	switch {
	case mode == events.ModeDelegated, managedBy == events.ManagedBy:
		return []string{events.TrackingFinalizer}
	case managedBy == "":
		return []string{events.BuiltinTrackingFinalizer, events.TrackingFinalizer}
	}
	return []string{events.BuiltinTrackingFinalizer}
}
