package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// server notes the writes of each pod, and takes some time for each.
type server struct {
	took time.Duration

	mu         sync.Mutex
	writes     map[string][]string
	busy, most int // status writes in flight: now, and the greatest number
}

func (s *server) Bind(_ context.Context, b *corev1.Binding) error {
	s.mu.Lock()
	s.writes[b.Name] = append(s.writes[b.Name], "bind")
	s.mu.Unlock()
	time.Sleep(s.took)
	return nil
}

func (s *server) PatchStatus(_ context.Context, pod *corev1.Pod, body []byte) error {
	var got corev1.Pod
	if err := json.Unmarshal(body, &got); err != nil {
		return err
	}
	what := string(got.Status.Phase)
	for _, c := range got.Status.Conditions {
		if c.Type == corev1.PodReady {
			what += " ready=" + string(c.Status)
		}
	}
	s.mu.Lock()
	s.writes[pod.Name] = append(s.writes[pod.Name], what)
	s.busy++
	s.most = max(s.most, s.busy)
	s.mu.Unlock()
	time.Sleep(s.took)
	s.mu.Lock()
	s.busy--
	s.mu.Unlock()
	return nil
}

// TestAPodLives: each step is a separate write, a node writes one at a time, and a write that waits for another is
// late.
func TestAPodLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{writes: map[string][]string{}, took: 10 * time.Millisecond}
		pods := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 100})
		client := fake.NewClientset()
		client.PrependWatchReactor("pods", clienttesting.DefaultWatchReactor(pods, nil))
		began := time.Now()
		var mu sync.Mutex
		var lates []time.Duration
		ends := map[string]time.Duration{}
		k, err := New(t.Context(), Config{
			Client: client, API: s, Nodes: 2, Seen: func(watch.EventType, *corev1.Pod) {},
			Fate: func(p *corev1.Pod) Fate { return Fate{RunFor: time.Second, Fails: p.Name == "pod-1"} },
			Ended: func(p *corev1.Pod) {
				mu.Lock()
				defer mu.Unlock()
				ends[p.Name] = time.Since(began)
			},
			Wrote: func(_ *corev1.Pod, late, _ time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				lates = append(lates, late)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() { result <- k.Run(ctx) }()
		for i := range 4 {
			pods.Add(&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprintf("pod-%d", i)},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}},
			})
		}
		time.Sleep(time.Minute)
		cancel()
		pods.Stop()
		if err := <-result; err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			name, last := fmt.Sprintf("pod-%d", i), "Succeeded ready=False"
			if i == 1 {
				last = "Failed ready=False"
			}
			want := []string{"bind", "Pending ready=False", "Running ready=True", last}
			if got := s.writes[name]; !slices.Equal(got, want) {
				t.Errorf("%s: writes %q, want %q", name, got, want)
			}
			if ends[name] < time.Second+40*time.Millisecond || ends[name] > time.Second+80*time.Millisecond {
				t.Errorf("%s ended after %v", name, ends[name])
			}
		}
		if s.most != 2 {
			t.Errorf("%d status writes at once, want one of each node: 2", s.most)
		}
		if got := slices.Max(lates); got != s.took {
			t.Errorf("a write waited %v for its node, want one write of the other pod: %v (all: %v)", got, s.took, lates)
		}
	})
}
