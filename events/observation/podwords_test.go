package observation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

func waits(name, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
}

// runs is the status of a container that runs. passed: it has passed its startup probe, or has none.
func runs(name string, passed bool) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: sec(3)}}, Started: &passed,
	}
}

func says(kind corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: sec(7),
		})
	}
}

// TestWhyAPodDoesNotRun: the reason of scheduler and kubelet is a fact in one word, and their own message is beside it.
func TestWhyAPodDoesNotRun(t *testing.T) {
	seven := events.At(sec(7).Time)
	for _, row := range []struct {
		sentence string
		pod      []func(*corev1.Pod)
		waiting  string
		evidence events.Evidence
	}{
		{
			"no node takes it", []func(*corev1.Pod){says(corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", "0/2 nodes are available")},
			"Unschedulable", events.Evidence{Conditions: []events.ConditionText{
				{Type: "PodScheduled", Status: "False", Reason: "Unschedulable", Message: "0/2 nodes are available", Since: seven},
			}},
		},
		{
			"its image is not to be had, of the second container", []func(*corev1.Pod){
				says(corev1.PodScheduled, corev1.ConditionTrue, "", ""),
				says(corev1.ContainersReady, corev1.ConditionFalse, "ContainersNotReady", "containers with unready status: [main log]"),
				containers(waits("main", "ContainerCreating", ""), waits("log", "ImagePullBackOff", "not found")),
			},
			"ImagePullBackOff", events.Evidence{Waits: []events.ContainerWait{{Name: "log", Reason: "ImagePullBackOff", Message: "not found"}}},
		},
		{
			"it is being created, which is no news", []func(*corev1.Pod){
				says(corev1.PodInitialized, corev1.ConditionFalse, "ContainersNotInitialized", "containers with incomplete status: [init]"),
				initContainer(nil, waits("init", "PodInitializing", "")), containers(waits("main", "ContainerCreating", "")),
			},
			"ContainerCreating", events.Evidence{},
		},
		{
			"an init container runs, and the others wait for its end", []func(*corev1.Pod){
				initContainer(nil, corev1.ContainerStatus{Name: "init", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: sec(3)}}}),
				containers(waits("main", "PodInitializing", "")),
			},
			"PodInitializing", events.Evidence{StillRun: []string{"init"}},
		},
		{
			"a sidecar has started, another has not, and main waits for it", []func(*corev1.Pod){
				initContainer(new(corev1.ContainerRestartPolicyAlways), runs("logs", true)),
				initContainer(new(corev1.ContainerRestartPolicyAlways), runs("proxy", false)),
				containers(waits("main", "PodInitializing", "")),
			},
			"PodInitializing", events.Evidence{StillRun: []string{"proxy"}},
		},
		{
			"all sidecars have started, and the image of main is fetched", []func(*corev1.Pod){
				initContainer(new(corev1.ContainerRestartPolicyAlways), runs("logs", true)), containers(waits("main", "PodInitializing", "")),
			},
			"PodInitializing", events.Evidence{},
		},
		{
			"an init container crashes again and again", []func(*corev1.Pod){
				containers(waits("main", "PodInitializing", "")),
				initContainer(nil, func() corev1.ContainerStatus {
					s := waits("init", "CrashLoopBackOff", "back-off 10s")
					s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error", StartedAt: sec(3), FinishedAt: sec(5)}
					s.RestartCount = 4
					return s
				}()),
			},
			"CrashLoopBackOff", events.Evidence{
				Waits: []events.ContainerWait{{Name: "init", Reason: "CrashLoopBackOff", Message: "back-off 10s", Kind: events.InitContainer}},
				Containers: []events.ContainerEnd{{
					Name: "init", ExitCode: 2, Reason: "Error", Kind: events.InitContainer, Started: events.At(sec(3).Time),
					Finished: events.At(sec(5).Time), Restarts: 4, Again: true,
				}},
			},
		},
		{
			"it runs, since its last container was started", []func(*corev1.Pod){phase(corev1.PodRunning), containers(
				corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: sec(7)}}},
				corev1.ContainerStatus{Name: "log", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: sec(6)}}},
			)},
			"", events.Evidence{Running: seven},
		},
		{
			"it was evicted, and somebody keeps it", []func(*corev1.Pod){
				phase(corev1.PodRunning), says(corev1.DisruptionTarget, corev1.ConditionTrue, "EvictionByEvictionAPI", "Eviction API: evicting"),
				deleted(90, 30), func(p *corev1.Pod) { p.Finalizers = []string{events.TrackingFinalizer, "example.com/backup"} },
			},
			"", events.Evidence{
				Conditions: []events.ConditionText{
					{Type: "DisruptionTarget", Status: "True", Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting", Since: seven},
				},
				Finalizers: []string{"example.com/backup"},
			},
		},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			f := readPod(wire(testPod("p", row.pod...)), 8, testIdentity)
			if f.seen.Waiting != row.waiting {
				t.Errorf("it waits for %q, want %q", f.seen.Waiting, row.waiting)
			}
			row.evidence.Namespace, row.evidence.Name = "default", "p"
			if diff := cmp.Diff(row.evidence, f.evidence); diff != "" {
				t.Errorf("evidence (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatAPodSaysIsBounded: a pod may have any number of conditions, containers and finalizers, with texts of any
// length.
func TestWhatAPodSaysIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	pod := testPod("p", func(p *corev1.Pod) {
		p.DeletionTimestamp = &metav1.Time{Time: sec(9).Time}
		for range 100 {
			says(corev1.PodConditionType(long), corev1.ConditionFalse, long, long)(p)
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, waits("main", long, long))
			p.Finalizers = append(p.Finalizers, long)
		}
	})
	f := readPod(wire(pod), 8, testIdentity)
	f.seen.Conditions = telling(f.seen.Conditions, nil)
	record := events.Record{Facts: &f.seen, Evidence: f.evidence}
	if n := events.Weight(&record); n > 100<<10 {
		t.Errorf("a record of it takes %d bytes", n)
	}
}
