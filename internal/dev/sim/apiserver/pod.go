package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// createPod stores a new Pod: with defaults, in phase Pending, without a node.
func (s *Server) createPod(r request, in *corev1.Pod) (*corev1.Pod, error) {
	pod := wirePod(in)
	prepare := func() {
		defaultPodSpec(&pod.Spec)
		pod.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort}
	}
	validate := func() field.ErrorList {
		errs := apivalidation.ValidateObjectMeta(&pod.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
		return append(errs, validateContainers(&pod.Spec, field.NewPath("spec"))...)
	}
	if err := s.create(r, pod, prepare, validate); err != nil {
		return nil, err
	}
	return pod.DeepCopy(), nil
}

// patchPod applies a strategic merge patch to the metadata of a Pod. A patch that names another metadata.uid gets 422
// with the cause metadata.uid, and a patch that names another resourceVersion gets 409.
func (s *Server) patchPod(r request, namespace, name string, patch []byte) (*corev1.Pod, error) {
	o, err := s.get(Pods, Key{namespace, name})
	if err != nil {
		return nil, err
	}
	stored := o.(*corev1.Pod)
	pod, err := mergePatch(stored, patch)
	if err != nil {
		return nil, err
	}
	if pod.ResourceVersion != stored.ResourceVersion {
		return nil, apierrors.NewConflict(Pods.resource(), name, errModified)
	}
	keepSystemFields(stored, pod)
	pod.Generation = stored.Generation
	// Keep the stored status: it is a subresource, which a patch of the pod cannot change.
	pod.Status = *stored.Status.DeepCopy()
	errs := apivalidation.ValidateObjectMetaUpdate(&pod.ObjectMeta, &stored.ObjectMeta, field.NewPath("metadata"))
	errs = append(errs, validateFinalizers(pod.Finalizers, field.NewPath("metadata", "finalizers"))...)
	if !equality.Semantic.DeepEqual(pod.Spec, stored.Spec) {
		errs = append(errs, field.Forbidden(field.NewPath("spec"), "pod updates may not change fields of the spec in this model"))
	}
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(Pods.groupKind(), name, errs)
	}
	return s.update(r, stored, pod).(*corev1.Pod).DeepCopy(), nil
}

func validateFinalizers(finalizers []string, path *field.Path) field.ErrorList {
	errs := apivalidation.ValidateFinalizers(finalizers, path)
	for i, name := range finalizers {
		errs = append(errs, apivalidation.ValidateFinalizerName(name, path.Index(i))...)
	}
	return errs
}

// mergePatch returns the patched Pod. It shares all fields that the patch does not name with the stored Pod.
func mergePatch(stored *corev1.Pod, patch []byte) (*corev1.Pod, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(patch, &fields); err == nil && len(fields) == 1 && bytes.HasPrefix(fields["metadata"], []byte("{")) {
		meta, err := merged(stored.ObjectMeta, fields["metadata"])
		if err != nil {
			return nil, err
		}
		pod := new(*stored)
		pod.ObjectMeta = meta
		return pod, nil
	}
	pod, err := merged(*stored, patch)
	return &pod, err
}

// merged returns a value with a strategic merge patch applied.
func merged[T any](stored T, patch []byte) (out T, err error) {
	original, err := json.Marshal(stored)
	if err != nil {
		return out, apierrors.NewInternalError(err)
	}
	patched, err := strategicpatch.StrategicMergePatch(original, patch, stored)
	if err != nil {
		return out, apierrors.NewBadRequest(fmt.Sprintf("apply patch: %v", err))
	}
	if err := json.Unmarshal(patched, &out); err != nil {
		return out, apierrors.NewBadRequest(fmt.Sprintf("decode patched pod: %v", err))
	}
	return out, nil
}

// bindPod assigns a Pod to a node. It refuses a Pod that is bound or being deleted.
func (s *Server) bindPod(r request, namespace, name string, uid types.UID, node string) error {
	stored, err := s.podWithUID(namespace, name, uid)
	if err != nil {
		return err
	}
	if stored.Spec.NodeName != "" || stored.DeletionTimestamp != nil {
		return apierrors.NewConflict(Pods.resource(), name, fmt.Errorf("pod %s is already bound or is being deleted", name))
	}
	pod := stored.DeepCopy()
	pod.Spec.NodeName = node
	now := s.now()
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now,
	})
	s.update(r, stored, pod)
	return nil
}

// updatePodStatus lets change edit a copy of the Pod's status. A terminal phase never changes again.
func (s *Server) updatePodStatus(r request, namespace, name string, uid types.UID, change func(*corev1.PodStatus)) error {
	stored, err := s.podWithUID(namespace, name, uid)
	if err != nil {
		return err
	}
	status := stored.Status.DeepCopy()
	change(status)
	pod := new(*stored) // a shallow copy, which shares the unchanged fields with the stored Pod
	pod.Status = corev1.PodStatus{}
	wire(status, &pod.Status)
	if PodTerminal(stored) && pod.Status.Phase != stored.Status.Phase {
		return apierrors.NewInvalid(Pods.groupKind(), name, field.ErrorList{
			field.Invalid(field.NewPath("status", "phase"), pod.Status.Phase, "a terminal phase may not change"),
		})
	}
	s.update(r, stored, pod)
	return nil
}

// podWithUID returns the stored Pod. It returns a conflict if the Pod has another UID; an empty uid matches any Pod.
func (s *Server) podWithUID(namespace, name string, uid types.UID) (*corev1.Pod, error) {
	o, err := s.get(Pods, Key{namespace, name})
	if err != nil {
		return nil, err
	}
	if uid != "" && o.GetUID() != uid {
		return nil, uidConflict(Pods, name, uid, o.GetUID())
	}
	return o.(*corev1.Pod), nil
}

// PodTerminal reports whether the Pod's phase is Succeeded or Failed.
func PodTerminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// patchedUID returns the metadata.uid in a patch; empty if there is none.
func patchedUID(patch []byte) types.UID {
	var p struct {
		Metadata struct {
			UID types.UID `json:"uid"`
		} `json:"metadata"`
	}
	if json.Unmarshal(patch, &p) != nil {
		return "" // a malformed patch names no UID; the error is reported when the patch is applied
	}
	return p.Metadata.UID
}
