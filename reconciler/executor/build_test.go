package executor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/clock"
	"github.com/jobledger/jobledger/internal/dev/sim/wholeapi"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

var (
	epoch    = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	identity = events.Identity{LogID: "00112233445566778899aabbccddeeff", Epoch: 1}
)

// hashOf stands in for the informer's hash: equal templates have equal hashes.
func hashOf(job *kubewire.Job) (string, error) {
	spec, err := job.WholeSpec()
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(spec.Template)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]), err
}

// wire returns the Job as it is read from an API server's bytes.
func wire(job *batchv1.Job) *kubewire.Job {
	read, err := kubewire.Jobs.Of(job)
	if err != nil {
		panic(err)
	}
	return read
}

// testJob returns a Job as the API server stores it, delegated to this controller. Its UID is "uid-" and its name.
func testJob(name string, change ...func(*batchv1.Job)) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID("uid-" + name), Generation: 1, ResourceVersion: "10",
		},
		Spec: batchv1.JobSpec{
			ManagedBy: new(events.ManagedBy),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "demo"}},
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

// world is an API server with one Job, and an executor that works for it. The test makes every step.
type world struct {
	*testing.T
	server   *apiserver.Server
	client   *apiserver.Client // the executor's
	other    *apiserver.Client // another client's
	objects  *Objects
	executor *Executor
	job      *batchv1.Job
	places   uint32
}

func newWorld(t *testing.T, change ...func(*Config)) *world {
	t.Helper()
	s := apiserver.New(apiserver.Config{Clock: clock.New(epoch), Rand: rand.New(rand.NewPCG(1, 0))})
	w := &world{T: t, server: s, client: s.Client("jobledger"), other: s.Client("somebody"), objects: NewObjects(hashOf)}
	job := testJob("demo")
	job.UID, job.ResourceVersion = "", ""
	var err error
	if w.job, err = w.other.CreateJob(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	w.objects.KeepJob(wire(w.job))
	config := Config{
		API: wholeapi.Of(w.client), Objects: w.objects, Mode: events.ModeDelegated,
		Observe: func(job *kubewire.Job) events.Observation {
			return events.Observation{Facts: &events.JobSeen{Version: versionOf(job)}}
		},
		ObservePod: func(pod *kubewire.Pod) events.Observation {
			return events.Observation{Facts: &events.PodSeen{UID: pod.UID, Version: versionOf(pod)}}
		},
	}
	for _, c := range change {
		c(&config)
	}
	if w.executor, err = New(config); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) ref() events.JobRef {
	return events.JobRef{Namespace: w.job.Namespace, Name: w.job.Name, UID: w.job.UID}
}

func (w *world) template() string {
	hash, err := hashOf(wire(w.job))
	if err != nil {
		w.Fatal(err)
	}
	return hash
}

// task returns a task of the world's Job.
func (w *world) task(c events.Command) events.Task {
	w.places++
	return events.Task{
		Name: events.CommandID{Decided: 7, Place: w.places}, Life: identity, Stream: events.JobStream(w.job.UID), Job: w.ref(),
		ManagedBy: events.ManagedBy, Command: c,
	}
}

// about returns a task about a pod.
func (w *world) about(pod *corev1.Pod, c events.Command) events.Task {
	t := w.task(c)
	t.Pod = events.PodRef{Name: pod.Name, UID: pod.UID}
	return t
}

// do carries out one task, which must be the only one.
func (w *world) do(t events.Task) events.TaskResult {
	w.Helper()
	w.executor.Submit(t)
	call, ok := w.executor.Next(events.At(epoch))
	if !ok {
		w.Fatalf("nothing to do after %T was submitted", t.Command)
	}
	r := call.Do(context.Background())
	w.executor.Done(call, r, events.At(epoch))
	if !w.executor.Idle() {
		w.Fatal("not idle after the only task was done")
	}
	if r.Stream != t.Stream || r.Ended.Command != t.Name {
		w.Fatalf("the result is of %v in %v, want %v in %v", r.Ended.Command, r.Stream, t.Name, t.Stream)
	}
	return r
}

// create makes the pod of an ordinal.
func (w *world) create(ordinal uint64) *corev1.Pod {
	w.Helper()
	r := w.do(w.task(&events.CreatePod{Ordinal: ordinal, Index: events.NoIndex, Template: w.template()}))
	pod := w.server.Pod("default", r.Evidence.Name)
	if r.Ended.Ending != events.Done || pod == nil {
		w.Fatalf("create ended %v %v: %s", r.Ended.Ending, r.Ended.Class, r.Evidence.Message)
	}
	return pod
}

// wrote returns how many writes the executor has asked the server for.
func (w *world) wrote() int {
	n := 0
	for _, c := range w.server.Calls(0) {
		if c.Actor == w.client.Actor() && c.Verb != "get" && c.Verb != "list" {
			n++
		}
	}
	return n
}

// wants checks how a task ended.
func (w *world) wants(r events.TaskResult, ending events.Ending, class events.RefusalClass, sent bool) {
	w.Helper()
	if r.Ended.Ending != ending || r.Ended.Class != class || r.Ended.Sent != sent {
		w.Errorf("ended %v %v, sent %t (%s%s), want %v %v, sent %t", r.Ended.Ending, r.Ended.Class, r.Ended.Sent,
			r.Evidence.Message, r.Evidence.Sentence, ending, class, sent)
	}
}
