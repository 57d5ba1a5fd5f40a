package observation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

func TestJobObservation(t *testing.T) {
	job := testJob("a", func(j *batchv1.Job) {
		j.Generation = 3
		j.DeletionTimestamp = new(sec(9))
		j.Status = batchv1.JobStatus{
			Active: 1, Succeeded: 2, Failed: 3, Terminating: new(int32(4)),
			CompletedIndexes: "0-2", FailedIndexes: new(""),
			StartTime: new(sec(1)),
			UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{
				Succeeded: []types.UID{"s"}, Failed: []types.UID{"f", "g"},
			},
			Conditions: []batchv1.JobCondition{{
				Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded",
				Message: "Job has reached the specified backoff limit", LastTransitionTime: sec(5), LastProbeTime: sec(6),
			}},
		}
	})
	o, err := observed(NewFeed(Config{Mode: events.ModeDelegated, Key: testKey}), job, 42)
	if err != nil {
		t.Fatal(err)
	}
	want := &events.JobSeen{
		Version: 42, Generation: 3, Created: events.At(epoch), Deleted: events.At(sec(9).Time), Managed: true,
		ManagedBy: events.ManagedBy, Spec: o.Spec.Hash,
		Status: &events.JobStatus{
			Active: 1, Ready: events.Unset, Terminating: 4, Succeeded: 2, Failed: 3,
			CompletedIndexes: "0-2", FailedIndexes: new(""), HasUncounted: true,
			UncountedSucceeded: []types.UID{"s"}, UncountedFailed: []types.UID{"f", "g"},
			StartTime: events.At(sec(1).Time),
			Conditions: []events.JobCondition{{
				Type: "FailureTarget", Status: "True", Reason: "BackoffLimitExceeded",
				Message: "Job has reached the specified backoff limit",
				Since:   events.At(sec(5).Time), Probed: events.At(sec(6).Time),
			}},
		},
	}
	if diff := cmp.Diff(want, o.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if want := (events.JobRef{Namespace: "default", Name: "a", UID: "uid-a"}); o.Job != want {
		t.Errorf("of %+v, want %+v", o.Job, want)
	}
}

// J-113: restarts are summed over init and regular containers.
// J-069: for removal the most restarts of one container count, of sidecars apart.
// J-129: exits are those of containers that ended with another code than 0, regular ones before init containers.
// J-116: a failure count that is not a number of at least 0 is 0.
func TestPodObservation(t *testing.T) {
	at := func(second int) events.Time { return events.At(sec(second).Time) }
	always := new(corev1.ContainerRestartPolicyAlways)
	exited := func(name string, code, restarts int32, message string) corev1.ContainerStatus {
		s := ended(name, 20)
		s.RestartCount = restarts
		s.State.Terminated.ExitCode = code
		s.State.Terminated.Reason = "Error"
		s.State.Terminated.Message = message
		return s
	}
	pod := testPod("p",
		phase(corev1.PodFailed),
		containers(exited("main", 3, 1, "boom"), exited("fine", 0, 4, "")),
		initContainer(nil, exited("init", -1, 2, "")),
		initContainer(always, exited("side", 137, 5, "")),
		condition(corev1.DisruptionTarget, corev1.ConditionTrue, 7),
		annotated(batchv1.JobCompletionIndexAnnotation, "5"),
		annotated(batchv1.JobIndexFailureCountAnnotation, "2"),
		annotated(batchv1.JobIndexIgnoredFailureCountAnnotation, "-1"),
		func(p *corev1.Pod) {
			p.Spec.NodeName = "node-1"
			p.Status.Reason, p.Status.Message = "Evicted", "the node was low on memory"
		})
	f := readPod(wire(pod), 8, testIdentity)
	want := events.PodSeen{
		UID: "uid-p", Version: 8, Phase: events.PodFailed, Created: events.At(epoch), Index: 5, Scheduled: true,
		Finished: events.At(sec(20).Time), Restarts: 12, MaxRestarts: 4, MaxSidecarRestarts: 5,
		Exits: []events.ContainerExit{
			{Name: "main", Code: 3}, {Name: "init", Init: true, Code: -1}, {Name: "side", Init: true, Code: 137},
		},
		Conditions:    []events.PodCondition{{Type: "DisruptionTarget", Status: "True"}},
		IndexFailures: 2,
	}
	if diff := cmp.Diff(want, f.seen); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	evidence := events.Evidence{
		Namespace: "default", Name: "p", Node: "node-1", Reason: "Evicted", Message: "the node was low on memory",
		Containers: []events.ContainerEnd{
			{Name: "main", ExitCode: 3, Reason: "Error", Message: "boom", Finished: at(20), Restarts: 1},
			{Name: "fine", Reason: "Error", Finished: at(20), Restarts: 4},
			{Name: "init", ExitCode: -1, Reason: "Error", Kind: events.InitContainer, Finished: at(20), Restarts: 2},
			{Name: "side", ExitCode: 137, Reason: "Error", Kind: events.SidecarContainer, Finished: at(20), Restarts: 5},
		},
	}
	if diff := cmp.Diff(evidence, f.evidence); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
}

// TestGracePeriodOfADeletion: deletionTimestamp minus it is when the deletion was asked for.
func TestGracePeriodOfADeletion(t *testing.T) {
	seen := readPod(wire(testPod("p", phase(corev1.PodRunning), deleted(90, 30))), 1, testIdentity).seen
	if asked, exact := seen.Asked(); asked != events.At(sec(60).Time) || !exact {
		t.Errorf("asked for at %s (exact: %t), want %s", asked.Go(), exact, sec(60).Time)
	}
	if seen := readPod(wire(testPod("p", phase(corev1.PodRunning))), 1, testIdentity).seen; seen.DeletionGracePeriodSeconds != nil {
		t.Errorf("a pod that is not being deleted has %d s", *seen.DeletionGracePeriodSeconds)
	}
}

// J-035: an annotation that is missing, no number, negative or too large is no index.
func TestIndexAnnotation(t *testing.T) {
	for annotation, want := range map[string]int32{
		"0": 0, "17": 17, "": events.NoIndex, "x": events.NoIndex, "-1": events.NoIndex, "2147483648": events.NoIndex,
	} {
		if got := indexOf(wire(testPod("p", annotated(batchv1.JobCompletionIndexAnnotation, annotation)))); got != want {
			t.Errorf("index of %q is %d, want %d", annotation, got, want)
		}
	}
}
