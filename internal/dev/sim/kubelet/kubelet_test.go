package kubelet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/clock"
)

var (
	start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ctx   = context.Background()
)

const fin = "jobledger.dev/job-tracking"

// nodes is a server with a kubelet. Each step takes a fixed time: 1 s to a node, 2 s to Running, 10 s a run, 3 s to
// stop and 1 s to confirm.
type nodes struct {
	*apiserver.Server
	*Kubelet
	client *apiserver.Client
}

func fixed(s int) Range { d := time.Duration(s) * time.Second; return Range{d, d} }

func newNodes(seed uint64, change func(*Config)) nodes {
	s := apiserver.New(apiserver.Config{Clock: clock.New(start), Rand: rand.New(rand.NewPCG(seed, 1))})
	cfg := Config{
		Server: s, Rand: rand.New(rand.NewPCG(seed, 2)),
		Schedule: fixed(1), Start: fixed(2), RunTime: fixed(10), Stop: fixed(3), Confirm: fixed(1),
	}
	if change != nil {
		change(&cfg)
	}
	return nodes{s, New(cfg), s.Client("test")}
}

func (n nodes) pod(t *testing.T, name string, change func(*corev1.Pod)) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{}, Finalizers: []string{fin}},
		Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "work"}}},
	}
	if change != nil {
		change(pod)
	}
	if _, err := n.client.CreatePod(ctx, pod); err != nil {
		t.Fatal(err)
	}
	n.Sync()
}

func annotated(pairs ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for i := 0; i < len(pairs); i += 2 {
			p.Annotations[pairs[i]] = pairs[i+1]
		}
	}
}

func (n nodes) delete(t *testing.T, name string) {
	t.Helper()
	if err := n.client.DeletePod(ctx, "default", name, "", ""); err != nil {
		t.Fatal(err)
	}
	n.Sync()
}

// phases returns the history of all pods: the seconds since the start, and the stored phase.
func (n nodes) phases() string {
	var out []string
	for _, w := range n.Writes(0) {
		if w.Kind != apiserver.Pods || w.Actor != Actor {
			continue
		}
		what := "gone"
		if p, ok := w.After.(*corev1.Pod); ok {
			what = string(p.Status.Phase)
			if p.DeletionTimestamp != nil {
				what += fmt.Sprintf(" deleting %d", *p.DeletionGracePeriodSeconds)
			}
		}
		out = append(out, fmt.Sprintf("%gs %s", w.Time.Sub(start).Seconds(), what))
	}
	return strings.Join(out, "; ")
}

func TestLives(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*Config)
		pod    func(*corev1.Pod)
		during func(*testing.T, nodes)
		want   string
	}{
		{"a pod runs and succeeds", nil, nil, nil, "1s Pending; 3s Running; 13s Succeeded"},
		{"a pod fails when it asks to", nil, annotated(AnnotationOutcome, OutcomeFail), nil, "1s Pending; 3s Running; 13s Failed"},
		{"a pod runs as long as it asks for", nil, annotated(AnnotationRunFor, "1m"), nil, "1s Pending; 3s Running; 63s Succeeded"},
		{"a pod may run for ever", nil, annotated(AnnotationOutcome, OutcomeRun), nil, "1s Pending; 3s Running"},
		{"all fail at a fail rate of 1", func(c *Config) { c.FailRate = 1 }, nil, nil, "1s Pending; 3s Running; 13s Failed"},
		{"a pod whose index is listed fails", nil, annotated(AnnotationFailIndexes, "0,2-4", batchv1.JobCompletionIndexAnnotation, "3"), nil, "1s Pending; 3s Running; 13s Failed"},
		{"a pod may never start", nil, annotated(AnnotationOutcome, OutcomePending), nil, "1s Pending"},
		{"a pod starts as late as it asks to", nil, annotated(AnnotationStartAfter, "20s"), nil, "1s Pending; 21s Running; 31s Succeeded"},
		{"a pod stops as slowly as it asks to", nil, annotated(AnnotationStopAfter, "9s"), func(t *testing.T, n nodes) {
			n.Server.Clock().Advance(5 * time.Second)
			n.delete(t, "a")
		}, "1s Pending; 3s Running; 14s Failed deleting 30; 15s Failed deleting 0"},
		{"a pod whose index is not listed follows the outcome", func(c *Config) { c.FailRate = 1 }, annotated(AnnotationOutcome, OutcomeSucceed, AnnotationFailIndexes, "0,2-4", batchv1.JobCompletionIndexAnnotation, "1"), nil, "1s Pending; 3s Running; 13s Succeeded"},
		{"OnFailure restarts in place until a run succeeds", nil, func(p *corev1.Pod) {
			p.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
			p.Annotations[AnnotationFailAttempts] = "2"
		}, nil, "1s Pending; 3s Running; 13s Running; 23s Running; 33s Succeeded"},
		{"a running pod that is deleted is stopped, then its deletion is confirmed", nil, nil, func(t *testing.T, n nodes) {
			n.Server.Clock().Advance(5 * time.Second)
			n.delete(t, "a")
		}, "1s Pending; 3s Running; 8s Failed deleting 30; 9s Failed deleting 0"},
		{"one without finalizers is gone after that", nil, func(p *corev1.Pod) { p.Finalizers = nil }, func(t *testing.T, n nodes) {
			n.Server.Clock().Advance(5 * time.Second)
			n.delete(t, "a")
		}, "1s Pending; 3s Running; 8s Failed deleting 30; 9s gone"},
		{"a stopped pod may exit with 0", func(c *Config) { c.CleanStop = 1 }, nil, func(t *testing.T, n nodes) {
			n.Server.Clock().Advance(5 * time.Second)
			n.delete(t, "a")
		}, "1s Pending; 3s Running; 8s Succeeded deleting 30; 9s Succeeded deleting 0"},
		{"a pod deleted before it started never starts", nil, nil, func(t *testing.T, n nodes) {
			n.Server.Clock().Advance(2 * time.Second)
			n.delete(t, "a")
		}, "1s Pending; 5s Failed deleting 30; 6s Failed deleting 0"},
		{"a pod deleted before it got a node gets none", nil, nil, func(t *testing.T, n nodes) { n.delete(t, "a") }, ""},
		{"the grace period ends a slow stop", func(c *Config) { c.Stop = fixed(90) }, nil, func(t *testing.T, n nodes) {
			n.Server.Clock().Advance(5 * time.Second)
			n.delete(t, "a")
		}, "1s Pending; 3s Running; 35s Failed deleting 30; 36s Failed deleting 0"},
		{"a touched pod goes on as before", nil, nil, func(t *testing.T, n nodes) {
			n.Server.Clock().Advance(5 * time.Second)
			n.Touch("someone", apiserver.Pods, "default", "a")
			n.Sync()
		}, "1s Pending; 3s Running; 13s Succeeded"},
		{"a pod of a lost node stands still", func(c *Config) { c.Nodes = 1 }, nil, func(_ *testing.T, n nodes) {
			n.Server.Clock().Advance(5 * time.Second)
			n.LoseNode("node-0")
		}, "1s Pending; 3s Running"},
		{"without nodes a pod stays pending", func(c *Config) { c.Nodes = 1 }, nil, func(_ *testing.T, n nodes) { n.LoseNode("node-0") }, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := newNodes(1, row.change)
			n.pod(t, "a", row.pod)
			if row.during != nil {
				row.during(t, n)
			}
			n.Server.Clock().Advance(10 * time.Minute)
			if got := n.phases(); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestStatusesSayWhatAKubeletSays(t *testing.T) {
	n := newNodes(1, nil)
	n.pod(t, "a", annotated(AnnotationOutcome, OutcomeFail, AnnotationExitCode, "42"))
	n.Server.Clock().Advance(4 * time.Second)
	s := n.Server.Pod("default", "a").Status
	if !s.ContainerStatuses[0].Ready || s.ContainerStatuses[0].State.Running == nil || conditionOf(s, corev1.PodReady).Status != corev1.ConditionTrue || s.StartTime == nil {
		t.Errorf("running: %+v", s)
	}
	n.Server.Clock().Advance(time.Minute)
	s = n.Server.Pod("default", "a").Status
	end := s.ContainerStatuses[0].State.Terminated
	if end == nil || end.ExitCode != 42 || !end.FinishedAt.Time.Equal(start.Add(13*time.Second)) || !end.StartedAt.Time.Equal(start.Add(3*time.Second)) {
		t.Errorf("ended: %+v", s.ContainerStatuses)
	}
	if c := conditionOf(s, corev1.PodReady); c.Status != corev1.ConditionFalse || !c.LastTransitionTime.Time.Equal(start.Add(13*time.Second)) {
		t.Errorf("ready: %+v", c)
	}
}

func conditionOf(s corev1.PodStatus, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

func TestAttemptsAreCountedPerJobAndIndex(t *testing.T) {
	n := newNodes(1, nil)
	one := annotated(AnnotationFailAttempts, "1", batchv1.JobCompletionIndexAnnotation, "0")
	n.pod(t, "a", one)
	n.pod(t, "b", annotated(AnnotationFailAttempts, "1", batchv1.JobCompletionIndexAnnotation, "1"))
	n.Server.Clock().Advance(time.Minute)
	n.pod(t, "c", one)
	n.Server.Clock().Advance(time.Minute)
	for name, want := range map[string]corev1.PodPhase{"a": corev1.PodFailed, "b": corev1.PodFailed, "c": corev1.PodSucceeded} {
		if got := n.Server.Pod("default", name).Status.Phase; got != want {
			t.Errorf("pod %s is %s, want %s", name, got, want)
		}
	}
}

func TestKubeletThatMissedItsWatchCatchesUp(t *testing.T) {
	n := newNodes(1, nil)
	n.pod(t, "a", func(p *corev1.Pod) { p.Finalizers = nil })
	if err := n.client.DeletePod(ctx, "default", "a", "", ""); err != nil {
		t.Fatal(err)
	}
	n.pod(t, "b", nil)
	n.pod(t, "c", nil)
	n.Touch("someone", apiserver.Pods, "default", "c")
	n.Compact(apiserver.Pods, n.Version())
	n.Sync()
	n.Server.Clock().Advance(time.Minute)
	for _, name := range []string{"b", "c"} {
		if got := n.Server.Pod("default", name).Status.Phase; got != corev1.PodSucceeded {
			t.Errorf("pod %s is %s", name, got)
		}
	}
}

// TestSeedDecidesWhatIsLeftOpen: one seed repeats exactly, and another one gives another history.
func TestSeedDecidesWhatIsLeftOpen(t *testing.T) {
	run := func(seed uint64) string {
		n := newNodes(seed, func(c *Config) { c.RunTime = Range{time.Second, time.Minute}; c.FailRate = 0.5 })
		for i := range 10 {
			n.pod(t, fmt.Sprintf("p%d", i), nil)
		}
		n.Server.Clock().Advance(time.Hour)
		return n.phases()
	}
	one, again := run(1), run(1)
	if one != again {
		t.Error("one seed gave two histories")
	}
	if one == run(2) {
		t.Error("two seeds gave one history")
	}
	if h := run(3); !strings.Contains(h, "Failed") || !strings.Contains(h, "Succeeded") {
		t.Errorf("a fail rate of 0.5 gave %s", h)
	}
}
