package informer

import (
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// epoch is when the objects of the tests were created.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

var testKey = events.Key{1}

var testIdentity = events.Identity{LogID: "00112233445566778899aabbccddeeff", Epoch: 1}

// testJob is a Job as the API server stores it, given to this controller. Its UID is "uid-" and its name.
func testJob(name string, change ...func(*batchv1.Job)) *batchv1.Job {
	uid := "uid-" + name
	labels := map[string]string{
		"app":                    "demo",
		jobNameLabel:             name,
		controllerUIDLabel:       uid,
		legacyJobNameLabel:       name,
		legacyControllerUIDLabel: uid,
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID(uid), Generation: 1, CreationTimestamp: metav1.NewTime(epoch),
		},
		Spec: batchv1.JobSpec{
			ManagedBy:    new(events.ManagedBy),
			Parallelism:  new(int32(1)),
			Completions:  new(int32(1)),
			BackoffLimit: new(int32(6)),
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{controllerUIDLabel: uid}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "demo:1"}},
				},
			},
		},
	}
	for _, c := range change {
		c(job)
	}
	return job
}

func managedBy(value string) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		if job.Spec.ManagedBy = &value; value == "" {
			job.Spec.ManagedBy = nil
		}
	}
}

// selecting makes the Job select what its user says.
func selecting(labels map[string]string) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		job.Spec.ManualSelector = new(true)
		job.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		job.Spec.Template.Labels = labels
	}
}

func complete(job *batchv1.Job) {
	job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
		Type: batchv1.JobComplete, Status: corev1.ConditionTrue,
	})
}

// testPod is a bare pod. Its UID is "uid-" and its name.
func testPod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(epoch),
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, c := range change {
		c(pod)
	}
	return pod
}

// of makes the pod one of the Job's, labelled like its template.
func of(job *batchv1.Job) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Labels = job.Spec.Template.Labels
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	}
}

// wire is the pod as it is read of what an API server sends.
func wire(pod *corev1.Pod) *kubewire.Pod {
	read, err := kubewire.Pods.Of(pod)
	if err != nil {
		panic(err)
	}
	return read
}

// wireJob is the Job as it is read of what an API server sends.
func wireJob(job *batchv1.Job) *kubewire.Job {
	read, err := kubewire.Jobs.Of(job)
	if err != nil {
		panic(err)
	}
	return read
}

// specIn is what is told of the spec of a Job.
func specIn(job *batchv1.Job) (*events.JobSpec, []byte, error) {
	seen, err := NewFeed(Config{Key: testKey}).specOf(wireJob(job))
	if err != nil {
		return nil, nil, err
	}
	return seen.recorded, seen.template, nil
}

// observed is what a feed tells of a managed Job at a version.
func observed(feed *Feed, job *batchv1.Job, version uint64) (events.Observation, error) {
	spec, err := feed.specOf(wireJob(job))
	if err != nil {
		return events.Observation{}, err
	}
	return feed.observeJob(wireJob(job), spec, version, true), nil
}

func labelled(labels map[string]string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels = labels }
}

func finalizer(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Finalizers = append(pod.Finalizers, name) }
}

func controlledBy(apiVersion, kind string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: apiVersion, Kind: kind, Name: "other", UID: "uid-other", Controller: new(true),
		}}
	}
}

func annotated(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[key] = value
	}
}

func phase(p corev1.PodPhase) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Phase = p }
}

func at(version uint64) string { return strconv.FormatUint(version, 10) }
