package observation

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/observation/observationtest"
)

// Short names of builders that the tests of package informer use, too.
var (
	epoch, testKey, testIdentity   = observationtest.Epoch, observationtest.Key, observationtest.Identity
	testJob, testPod, testCronJob  = observationtest.Job, observationtest.Pod, observationtest.CronJob
	wireJob, wire, wireCronJob     = observationtest.WireJob, observationtest.WirePod, observationtest.WireCronJob
	managedBy, complete, ofCronJob = observationtest.ManagedBy, observationtest.Complete, observationtest.OfCronJob
	of, finalizer, phase           = observationtest.Of, observationtest.Finalizer, observationtest.Phase
	at, line, expect               = observationtest.At, observationtest.Line, observationtest.Expect
)

// selecting makes the Job select what its user says.
func selecting(labels map[string]string) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		job.Spec.ManualSelector = new(true)
		job.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		job.Spec.Template.Labels = labels
	}
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
