package executor

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

const (
	indexKey         = batchv1.JobCompletionIndexAnnotation // also a label (J-065)
	indexVariable    = "JOB_COMPLETION_INDEX"
	maxPodNamePrefix = 58 // of a generated name, which adds five characters to it (J-064)
)

var errNoLabels = errors.New("the pod template has no labels, so no selector could find its pods")

// newPod is the pod that a create asks for (J-061 to J-068, J-246). The Job is not changed.
func newPod(job *batchv1.Job, id events.Identity, managedBy, podGroup string, c *events.CreatePod) (*corev1.Pod, error) {
	template := &job.Spec.Template
	if len(template.Labels) == 0 {
		return nil, errNoLabels // J-063
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       job.Namespace,
			Name:            podNameOf(id, events.JobRef{Name: job.Name, UID: job.UID}, c.Ordinal, c.Index),
			GenerateName:    podNamePrefix(job.Name, c.Index),
			Labels:          maps.Clone(template.Labels),
			Annotations:     podAnnotations(job, id, c),
			Finalizers:      slices.Clone(template.Finalizers),
			OwnerReferences: []metav1.OwnerReference{ownerRef(events.JobRef{Name: job.Name, UID: job.UID})},
		},
		Spec: *template.Spec.DeepCopy(),
	}
	if finalizer := events.FinalizerFor(managedBy); !slices.Contains(pod.Finalizers, finalizer) {
		pod.Finalizers = append(pod.Finalizers, finalizer)
	}
	if c.Index != events.NoIndex {
		index := strconv.Itoa(int(c.Index))
		pod.Labels[indexKey] = index
		pod.Annotations[indexKey] = index
		pod.Spec.Hostname = job.Name + "-" + index
		tellIndex(pod.Spec.InitContainers)
		tellIndex(pod.Spec.Containers)
	}
	if c.InGroup {
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &podGroup}
	}
	return pod, nil
}

func podAnnotations(job *batchv1.Job, id events.Identity, c *events.CreatePod) map[string]string {
	annotations := map[string]string{}
	maps.Copy(annotations, job.Spec.Template.Annotations)
	annotations[events.CommandAnnotation] = id.CommandOf(job.UID, c.Ordinal)
	annotations[events.TemplateAnnotation] = c.Template
	if job.Spec.BackoffLimitPerIndex != nil { // J-067
		annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.FormatUint(uint64(c.IndexFailures), 10)
		if c.IndexIgnoredFailures > 0 {
			annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = strconv.FormatUint(uint64(c.IndexIgnoredFailures), 10)
		}
	}
	return annotations
}

// tellIndex gives each container the index in its environment, unless it defines that variable itself (J-066).
func tellIndex(containers []corev1.Container) {
	for i := range containers {
		c := &containers[i]
		if slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == indexVariable }) {
			continue
		}
		c.Env = append(c.Env, corev1.EnvVar{
			Name: indexVariable,
			ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['" + indexKey + "']"},
			},
		})
	}
}

// podNameOf is the name of the pod that the Job's create with that ordinal and index makes.
func podNameOf(id events.Identity, job events.JobRef, ordinal uint64, index int32) string {
	return id.PodName(job.UID, podNamePrefix(job.Name, index), ordinal)
}

// podNamePrefix is the generateName of a Job's pod (J-064).
func podNamePrefix(job string, index int32) string {
	if index != events.NoIndex {
		suffix := "-" + strconv.Itoa(int(index)) + "-"
		return job[:min(len(job), maxPodNamePrefix-len(suffix))] + suffix
	}
	if prefix := job + "-"; len(validation.NameIsDNSSubdomain(prefix, true)) == 0 {
		return prefix
	}
	return job
}

// ownerRef is the controller reference of a Job's pod (J-062).
func ownerRef(job events.JobRef) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion:         batchv1.SchemeGroupVersion.String(),
		Kind:               "Job",
		Name:               job.Name,
		UID:                job.UID,
		Controller:         &yes,
		BlockOwnerDeletion: &yes,
	}
}

// isOurs reports whether a pod is the one that the Job's create with that ordinal makes.
func isOurs(pod *corev1.Pod, id events.Identity, job events.JobRef, ordinal uint64) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.UID == job.UID &&
		pod.Annotations[events.CommandAnnotation] == id.CommandOf(job.UID, ordinal)
}
