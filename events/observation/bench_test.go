package observation

import (
	"runtime"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
)

// BenchmarkPodChanged is the cost of one change of a pod of ours, from the watch to the sink.
func BenchmarkPodChanged(b *testing.B) {
	f := NewFeed(Config{Mode: events.ModeDelegated, Identity: testIdentity})
	job := testJob("a")
	job.ResourceVersion = "1"
	if err := f.JobChanged(job); err != nil {
		b.Fatal(err)
	}
	pod := testPod("p", of(job), finalizer(events.TrackingFinalizer), phase(corev1.PodRunning), containers(running("main")),
		annotated(events.CommandAnnotation, testIdentity.CommandOf(job.UID, 7)))
	b.ReportAllocs()
	for n := range b.N {
		pod.ResourceVersion = strconv.Itoa(n + 2)
		if err := f.PodChanged(pod); err != nil {
			b.Fatal(err)
		}
		f.Take()
	}
}

// BenchmarkJobChanged is the cost of one change of a Job; most of it is the template's hash and redaction.
func BenchmarkJobChanged(b *testing.B) {
	f := NewFeed(Config{Mode: events.ModeDelegated, Identity: testIdentity})
	job := testJob("a")
	b.ReportAllocs()
	for n := range b.N {
		job.ResourceVersion = strconv.Itoa(n + 1)
		if err := f.JobChanged(job); err != nil {
			b.Fatal(err)
		}
		f.Take()
	}
}

// BenchmarkPodComesAndGoes is the cost of a pod of ours that is seen once and then deleted.
func BenchmarkPodComesAndGoes(b *testing.B) {
	f := NewFeed(Config{Mode: events.ModeDelegated, Identity: testIdentity})
	job := testJob("a")
	job.ResourceVersion = "1"
	if err := f.JobChanged(job); err != nil {
		b.Fatal(err)
	}
	pod := testPod("p", of(job), finalizer(events.TrackingFinalizer), phase(corev1.PodRunning), containers(running("main")))
	b.ReportAllocs()
	for n := range b.N {
		pod.ResourceVersion = strconv.Itoa(2*n + 2)
		if err := f.PodChanged(pod); err != nil {
			b.Fatal(err)
		}
		f.Take()
		pod.ResourceVersion = strconv.Itoa(2*n + 3)
		if err := f.PodDeleted(pod); err != nil {
			b.Fatal(err)
		}
		f.Take()
	}
}

// BenchmarkListPods measures a second list of a thousand unchanged pods.
func BenchmarkListPods(b *testing.B) {
	f := NewFeed(Config{Mode: events.ModeDelegated, Identity: testIdentity})
	job := testJob("a")
	job.ResourceVersion = "1"
	if err := f.JobChanged(job); err != nil {
		b.Fatal(err)
	}
	var pods []*corev1.Pod
	for n := range 1000 {
		pod := testPod("p-"+strconv.Itoa(n), of(job), finalizer(events.TrackingFinalizer), phase(corev1.PodRunning))
		pod.ResourceVersion = strconv.Itoa(n + 2)
		pods = append(pods, pod)
	}
	b.ReportAllocs()
	for n := range b.N {
		if err := f.ListPods(pods, strconv.Itoa(2000+n)); err != nil {
			b.Fatal(err)
		}
		for _, ok := f.Take(); ok; {
			_, ok = f.Take()
		}
	}
}

// TestLittleIsKeptOfAPod bounds the memory that a pod of ours takes while it exists. It was 171 bytes when this was
// written; a pod object has some thousands.
func TestLittleIsKeptOfAPod(t *testing.T) {
	const pods, limit = 20_000, 400
	f := NewFeed(Config{Mode: events.ModeDelegated, Identity: testIdentity})
	job := testJob("a")
	job.ResourceVersion = "1"
	if err := f.JobChanged(job); err != nil {
		t.Fatal(err)
	}
	before := heap()
	for n := range pods {
		pod := testPod("some-job-with-a-name-"+strconv.Itoa(n), of(job), finalizer(events.TrackingFinalizer))
		pod.ResourceVersion = strconv.Itoa(n + 2)
		if err := f.PodChanged(pod); err != nil {
			t.Fatal(err)
		}
		for _, ok := f.Take(); ok; {
			_, ok = f.Take()
		}
	}
	if each := int64(heap()-before) / pods; each > limit {
		t.Errorf("%d bytes are kept of each pod, more than %d", each, limit)
	} else {
		t.Logf("%d bytes are kept of each pod", each)
	}
	runtime.KeepAlive(f)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
