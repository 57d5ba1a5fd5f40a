package observation

import (
	"errors"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// While a list is under way, an answer may have a newer version than the list. That proves nothing.
func TestListThatAWriteOvertookIsNoRewind(t *testing.T) {
	feed := NewFeed(Config{Mode: events.ModeDelegated, Identity: testIdentity})
	job := testJob("a")
	job.ResourceVersion = "5"
	if err := feed.ListJobs([]*batchv1.Job{job.DeepCopy()}, "6"); err != nil {
		t.Fatal(err)
	}
	feed.jobs.Asking()
	feed.Wrote(testIdentity, events.Jobs, job.UID, 9, false)
	if err := feed.jobs.Replace([]*kubewire.Job{wireJob(job)}, "8", true); err != nil || feed.identity.Epoch != 1 {
		t.Errorf("epoch %d, %v", feed.identity.Epoch, err)
	}
	feed.jobs.Asking()
	if err := feed.jobs.Replace([]*kubewire.Job{wireJob(job)}, "8", true); err != nil || feed.identity.Epoch != 2 {
		t.Errorf("asked for after the answer: epoch %d, %v", feed.identity.Epoch, err)
	}
}

// A pod that is being deleted loses its last finalizer. The answer has the version with which the pod went. A list that
// shows this version again is of a cluster in which the pod was never removed.
func TestRemovedPodThatIsThereAgainProvesARewind(t *testing.T) {
	feed := NewFeed(Config{Mode: events.ModeDelegated, Identity: testIdentity})
	job := testJob("a")
	pod := func() []*corev1.Pod {
		pod := testPod("a-1", of(job), finalizer(events.TrackingFinalizer))
		pod.ResourceVersion = "6"
		return []*corev1.Pod{pod}
	}
	job.ResourceVersion = "5"
	if err := errors.Join(feed.ListJobs([]*batchv1.Job{job.DeepCopy()}, "6"), feed.ListPods(pod(), "6")); err != nil {
		t.Fatal(err)
	}
	feed.Wrote(testIdentity, events.Pods, "uid-a-1", 6, false) // a read
	if err := feed.ListPods(pod(), "8"); err != nil || feed.identity.Epoch != 1 {
		t.Fatalf("it is as it was: epoch %d, %v", feed.identity.Epoch, err)
	}
	feed.Wrote(testIdentity, events.Pods, "uid-a-1", 6, true)
	if err := feed.ListPods(pod(), "9"); err != nil || feed.identity.Epoch != 2 {
		t.Errorf("it is there again: epoch %d, %v", feed.identity.Epoch, err)
	}
}
