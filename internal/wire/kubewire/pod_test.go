package kubewire

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const seeds = 150

// podPaths are the messages of a pod that are read.
var podPaths = [][]protowire.Number{
	{1}, {1, 8}, {1, 9}, {1, 11}, {1, 12}, {1, 13}, {2}, {2, 20}, {2, 38}, {3}, {3, 2}, {3, 2, 4}, {3, 8}, {3, 8, 2}, {3, 8, 2, 1}, {3, 8, 2, 2},
	{3, 8, 2, 3}, {3, 8, 2, 3, 5}, {3, 8, 3}, {3, 8, 3, 3}, {3, 10}, {3, 10, 2},
}

// TestAPodIsReadAsItIsWhole: what is read of random pods, also of a server that knows more fields, is what the whole
// pod has there.
func TestAPodIsReadAsItIsWhole(t *testing.T) {
	for seed := range int64(seeds) {
		pod := randomPod(seed)
		want := strippedPod(t, pod)
		got, err := Pods.Of(pod)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d: read (+) is not what the whole pod has (-):\n%s", seed, d)
		}
		later := &Pod{}
		b := newer(encoded(t, pod), podPaths...)
		if err := later.read(b, Pods.annotations); err != nil {
			t.Fatalf("seed %d, with newer fields: %v", seed, err)
		}
		if pod.Spec.NodeName == "" {
			checkNewerSpec(t, later.Spec.Whole)
			later.Spec.Whole = want.Spec.Whole
		}
		if d := cmp.Diff(want, later); d != "" {
			t.Fatalf("seed %d, with newer fields: read (+) is not what the whole pod has (-):\n%s", seed, d)
		}
	}
}

// checkNewerSpec checks that a spec still has the field that nobody knows.
func checkNewerSpec(t *testing.T, spec []byte) {
	t.Helper()
	var err error
	for f := (fields{rest: spec}); f.next(&err); {
		if f.number == 1000 && f.text() == "of a later version" {
			return
		}
	}
	t.Fatalf("the spec has lost the field of a later version (%v)", err)
}

// strippedPod decodes a pod whole and takes what Jobledger reads.
func strippedPod(t *testing.T, pod *corev1.Pod) *Pod {
	t.Helper()
	decoded := &corev1.Pod{}
	if err := decoded.Unmarshal(encoded(t, pod)); err != nil {
		t.Fatal(err)
	}
	p := &Pod{ObjectMeta: strippedMeta(decoded.ObjectMeta, Pods.annotations)}
	p.ManagedFields = nil
	p.Spec.NodeName = decoded.Spec.NodeName
	for _, c := range decoded.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			p.Spec.Sidecars = append(p.Spec.Sidecars, c.Name)
		}
	}
	for _, g := range decoded.Spec.SchedulingGates {
		p.Spec.Gates = append(p.Spec.Gates, g.Name)
	}
	if p.Spec.NodeName == "" {
		p.Spec.Whole = encoded(t, &decoded.Spec)
	}
	s := &decoded.Status
	p.Status.Phase, p.Status.Reason, p.Status.Message = s.Phase, s.Reason, s.Message
	for _, c := range s.Conditions {
		c.LastProbeTime, c.ObservedGeneration = metav1.Time{}, 0
		p.Status.Conditions = append(p.Status.Conditions, c)
	}
	p.Status.ContainerStatuses, p.Status.InitContainerStatuses = strippedContainers(s.ContainerStatuses), strippedContainers(s.InitContainerStatuses)
	return p
}

func strippedContainers(all []corev1.ContainerStatus) (stripped []ContainerStatus) {
	for _, c := range all {
		for _, s := range []*corev1.ContainerState{&c.State, &c.LastTerminationState} {
			if s.Terminated != nil {
				s.Terminated.Signal, s.Terminated.ContainerID = 0, ""
			}
		}
		stripped = append(stripped, ContainerStatus{
			Name: c.Name, State: c.State, LastTerminationState: c.LastTerminationState, RestartCount: c.RestartCount,
			Started: c.Started != nil && *c.Started,
		})
	}
	return stripped
}

func strippedMeta(m metav1.ObjectMeta, kept annotations) metav1.ObjectMeta {
	m.SelfLink = "" //nolint:staticcheck // random objects have one, and it is not read
	for name := range m.Annotations {
		if !slices.Contains(kept, name) {
			delete(m.Annotations, name)
		}
	}
	if len(m.Annotations) == 0 {
		m.Annotations = nil
	}
	if len(m.Labels) == 0 {
		m.Labels = nil
	}
	return m
}

// FuzzPod: bytes that are no pod give an error or a pod, and nothing worse.
func FuzzPod(f *testing.F) {
	for seed := range int64(20) {
		f.Add(newer(encoded(f, randomPod(seed)), podPaths...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, want := &Pod{}, &corev1.Pod{}
		err := got.read(b, Pods.annotations)
		if err != nil && want.Unmarshal(b) == nil {
			t.Errorf("a pod that can be decoded whole cannot be read: %v", err)
		}
	})
}

// TestAPodIsReadWithFewAllocations: 119 when it was decoded whole.
func TestAPodIsReadWithFewAllocations(t *testing.T) {
	const most = 23
	data := encoded(t, endedPod())
	if n := testing.AllocsPerRun(100, func() {
		if err := (&Pod{}).read(data, Pods.annotations); err != nil {
			t.Fatal(err)
		}
	}); n > most+1 { // that of the pod itself
		t.Errorf("%v allocations, more than %d", n, most+1)
	}
}

// BenchmarkPod reads a pod as it is when it has ended, beside decoding it whole.
func BenchmarkPod(b *testing.B) {
	data := encoded(b, endedPod())
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p := &Pod{}
			if err := p.read(data, Pods.annotations); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p := &corev1.Pod{}
			if err := p.Unmarshal(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
