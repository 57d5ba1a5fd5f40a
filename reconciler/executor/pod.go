package executor

import (
	"errors"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

const (
	indexKey = batchv1.JobCompletionIndexAnnotation // also a label (J-065)
	// maximum length of an object's name
	maxName = 253
	// maximum length of generateName; the server adds five characters (J-064)
	maxPodNamePrefix = 58
)

var errNoLabels = errors.New("the pod template has no labels, so no selector could find its pods")

// newPod returns the pod that command c creates (J-061 to J-068, J-246). job has the template and is not changed; id is
// the log's ID and epoch, managedBy the Job's spec.managedBy, podGroup the PodGroup or "".
func newPod(job *kubewire.Job, name string, id events.Identity, managedBy, podGroup string, c *events.CreatePod) (*kubewire.NewPod, error) {
	template, err := job.Template()
	if err != nil {
		return nil, err
	}
	if len(template.Labels) == 0 {
		return nil, errNoLabels // J-063
	}
	pod := &kubewire.NewPod{
		Namespace:    job.Namespace,
		Name:         name,
		GenerateName: podNamePrefix(job.Name, c.Index),
		Labels:       template.Labels,
		Annotations:  append(template.Annotations, podAnnotations(job, id, c)...),
		Finalizers:   template.Finalizers,
		Owner:        ownerRef(events.JobRef{Name: job.Name, UID: job.UID}),
		Spec:         template.Spec,
	}
	if finalizer := events.FinalizerFor(managedBy); !slices.Contains(pod.Finalizers, finalizer) {
		pod.Finalizers = append(pod.Finalizers, finalizer)
	}
	if c.Index != events.NoIndex {
		index := kubewire.Pair{Name: indexKey, Value: strconv.Itoa(int(c.Index))}
		pod.Labels = append(pod.Labels, index)
		pod.Annotations = append(pod.Annotations, index)
		pod.Changes.Index, pod.Changes.Hostname = true, job.Name+"-"+index.Value
	}
	if c.InGroup {
		pod.Changes.PodGroup = &podGroup
	}
	return pod, nil
}

func podAnnotations(job *kubewire.Job, id events.Identity, c *events.CreatePod) []kubewire.Pair {
	annotations := []kubewire.Pair{
		{Name: events.CommandAnnotation, Value: id.CommandOf(job.UID, c.Ordinal)}, {Name: events.TemplateAnnotation, Value: c.Template},
	}
	if job.BackoffLimitPerIndex != nil { // the pod carries the failure counts of its index (J-067)
		annotations = append(annotations, countOf(batchv1.JobIndexFailureCountAnnotation, c.IndexFailures))
		if c.IndexIgnoredFailures > 0 {
			annotations = append(annotations, countOf(batchv1.JobIndexIgnoredFailureCountAnnotation, c.IndexIgnoredFailures))
		}
	}
	return annotations
}

func countOf(name string, n uint32) kubewire.Pair {
	return kubewire.Pair{Name: name, Value: strconv.FormatUint(uint64(n), 10)}
}

// podNameOf returns the name of the pod that a Job creates with this ordinal (number of the create) and index. The name
// depends on the log's ID in id.
func podNameOf(id events.Identity, job events.JobRef, ordinal uint64, index int32) string {
	return id.PodName(job.UID, podNamePrefix(job.Name, index), ordinal)
}

// podNamePrefix returns the generateName of a Job's pod (J-064).
func podNamePrefix(job string, index int32) string {
	if index != events.NoIndex {
		suffix := "-" + strconv.Itoa(int(index)) + "-"
		return job[:min(len(job), maxPodNamePrefix-len(suffix))] + suffix
	}
	if prefix := job + "-"; plain(job) || len(validation.NameIsDNSSubdomain(prefix, true)) == 0 {
		return prefix
	}
	return job
}

// plain reports whether a name is certainly still valid with a dash behind it: it is short, and consists of letters,
// digits and dashes.
func plain(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '-' || i == 0) {
			return false
		}
	}
	return name != "" && len(name) < maxName
}

// ownerRef returns the owner reference with which a Job controls its pod (J-062).
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

// isOurs reports whether a pod was made by the Job's create command with this ordinal (number of the create). id is the
// log's ID and epoch.
func isOurs(pod *kubewire.Pod, id events.Identity, job events.JobRef, ordinal uint64) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.UID == job.UID &&
		pod.Annotations[events.CommandAnnotation] == id.CommandOf(job.UID, ordinal)
}
