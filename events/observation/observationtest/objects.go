package observationtest

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

// Epoch is when the objects of the tests were created.
var Epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Key is the key of the tests' log.
var Key = events.Key{1}

// Identity is the identity of the tests' log.
var Identity = events.Identity{LogID: "00112233445566778899aabbccddeeff", Epoch: 1}

// Job is a Job as the API server stores it, given to this controller. Its UID is "uid-" and its name.
func Job(name string, change ...func(*batchv1.Job)) *batchv1.Job {
	uid := "uid-" + name
	labels := map[string]string{
		"app":                      "demo",
		batchv1.JobNameLabel:       name,
		batchv1.ControllerUidLabel: uid,
		"job-name":                 name, // the old names, which servers still add
		"controller-uid":           uid,
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID(uid), Generation: 1, CreationTimestamp: metav1.NewTime(Epoch),
		},
		Spec: batchv1.JobSpec{
			ManagedBy:    new(events.ManagedBy),
			Parallelism:  new(int32(1)),
			Completions:  new(int32(1)),
			BackoffLimit: new(int32(6)),
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: uid}},
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

// ManagedBy gives the Job to a controller; empty for none.
func ManagedBy(value string) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		if job.Spec.ManagedBy = &value; value == "" {
			job.Spec.ManagedBy = nil
		}
	}
}

// Complete ends the Job with success.
func Complete(job *batchv1.Job) {
	job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
		Type: batchv1.JobComplete, Status: corev1.ConditionTrue,
	})
}

// Pod is a bare pod. Its UID is "uid-" and its name.
func Pod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(Epoch),
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, c := range change {
		c(pod)
	}
	return pod
}

// Of makes the pod one of the Job's, labelled like its template.
func Of(job *batchv1.Job) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Labels = job.Spec.Template.Labels
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	}
}

// OfCronJob makes an object of this kind and UID, such as a CronJob, the Job's controller.
func OfCronJob(uid types.UID, kind string) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		job.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: kind, Name: "nightly", UID: uid, Controller: new(true)}}
	}
}

// CronJob is a CronJob whose Jobs are like Job's. Its UID is "uid-" and its name.
func CronJob(name, schedule string) *batchv1.CronJob {
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID("uid-" + name), Generation: 1, CreationTimestamp: metav1.NewTime(Epoch),
		},
		Spec: batchv1.CronJobSpec{
			Schedule: schedule, ConcurrencyPolicy: batchv1.ForbidConcurrent, SuccessfulJobsHistoryLimit: new(int32(3)), FailedJobsHistoryLimit: new(int32(1)),
			JobTemplate: batchv1.JobTemplateSpec{Spec: Job("template").Spec},
		},
	}
}

// WirePod is the pod as it is read of what an API server sends.
func WirePod(pod *corev1.Pod) *kubewire.Pod {
	read, err := kubewire.Pods.Of(pod)
	if err != nil {
		panic(err)
	}
	return read
}

// WireJob is the Job as it is read of what an API server sends.
func WireJob(job *batchv1.Job) *kubewire.Job {
	read, err := kubewire.Jobs.Of(job)
	if err != nil {
		panic(err)
	}
	return read
}

// WireCronJob is a CronJob as it is read from a server.
func WireCronJob(c *batchv1.CronJob) *kubewire.CronJob {
	read, err := kubewire.CronJobs.Of(c)
	if err != nil {
		panic(err)
	}
	return read
}

// Finalizer gives the pod a finalizer.
func Finalizer(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Finalizers = append(pod.Finalizers, name) }
}

// Phase puts the pod into a phase.
func Phase(p corev1.PodPhase) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Phase = p }
}

// At returns a resourceVersion as text.
func At(version uint64) string { return strconv.FormatUint(version, 10) }
