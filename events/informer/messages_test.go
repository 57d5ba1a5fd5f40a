package informer

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/observation"
)

// wordy returns a pod in a namespace, with messages of its containers and of the kubelet.
func wordy(namespace string) *corev1.Pod {
	ended := corev1.ContainerStateTerminated{ExitCode: 1, Message: "password=hunter2\nat line 7"}
	return testPod("p", func(p *corev1.Pod) {
		p.Namespace, p.ResourceVersion = namespace, "1"
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: "main", State: corev1.ContainerState{Terminated: &ended}},
			{
				Name: "side", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff",
					Message: "back-off\n5m"}},
				LastTerminationState: corev1.ContainerState{Terminated: &ended},
			},
			{Name: "quiet", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2}}},
		}
	})
}

func namespace(name string, annotations map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name),
		Annotations: annotations}}
}

// TestMessagesThatAreNotKept: the annotation of a namespace overrides the default, from the time it is seen until it is
// gone. A message that is not kept leaves no word in a record, and its container is marked.
func TestMessagesThatAreNotKept(t *testing.T) {
	const all, first, none = "password=hunter2\nat line 7", "password=hunter2", ""
	for _, row := range []struct {
		what  string
		usual events.Keep
		seen  func(s *Surroundings)
		want  string
	}{
		{"nothing is said", events.KeepAll, func(*Surroundings) {}, all},
		{"the flag says none", events.KeepNone, func(*Surroundings) {}, none},
		{"the flag says first-line", events.KeepFirstLine, func(*Surroundings) {}, first},
		{"the namespace says none", events.KeepAll, func(s *Surroundings) {
			s.seen(stripped(t, namespace("a", map[string]string{events.KeepAnnotation: "none", "other": "x"})))
		}, none},
		{"another namespace says none", events.KeepAll, func(s *Surroundings) {
			s.seen(namespace("b", map[string]string{events.KeepAnnotation: "none"}))
		}, all},
		{"the namespace says all", events.KeepNone, func(s *Surroundings) {
			s.seen(namespace("a", map[string]string{events.KeepAnnotation: "all"}))
		}, all},
		{"the namespace says what is not known", events.KeepAll, func(s *Surroundings) {
			s.seen(namespace("a", map[string]string{events.KeepAnnotation: "some"}))
		}, none},
		{"the annotation is taken off", events.KeepAll, func(s *Surroundings) {
			s.seen(namespace("a", map[string]string{events.KeepAnnotation: "none"}))
			s.seen(namespace("a", nil))
		}, all},
		{"the namespace is gone", events.KeepAll, func(s *Surroundings) {
			s.seen(namespace("a", map[string]string{events.KeepAnnotation: "none"}))
			s.gone(namespace("a", nil))
		}, all},
	} {
		t.Run(row.what, func(t *testing.T) {
			messages := observation.NewMessages(row.usual, slog.New(slog.DiscardHandler))
			row.seen(NewSurroundings(SurroundingsConfig{Messages: messages}))
			feed := observation.NewFeed(observation.Config{Mode: events.ModeAll, Identity: testIdentity, Key: testKey, Messages: messages})
			e := feed.ObservePod(wire(wordy("a"))).Evidence
			for _, c := range e.Containers {
				want := row.want
				if c.Name == "quiet" {
					want = ""
				}
				if c.Message != want || c.MessageWithheld != (c.Name != "quiet" && row.want != all) {
					t.Errorf("%+v, want %q", c, want)
				}
			}
			wait := map[string]string{all: "back-off\n5m", first: "back-off", none: ""}[row.want]
			if len(e.Waits) != 1 || e.Waits[0].Message != wait || e.Waits[0].MessageWithheld != (row.want != all) {
				t.Errorf("%+v, want %q", e.Waits, wait)
			}
		})
	}
}

func stripped(t *testing.T, o any) any {
	t.Helper()
	o, err := stripSurrounding(o)
	if err != nil {
		t.Fatal(err)
	}
	if n := o.(*corev1.Namespace); len(n.Annotations) > 1 {
		t.Errorf("of a namespace is held %v", n.Annotations)
	}
	return o
}

// TestAStartWaitsForAnnotations until namespaces are listed, or cannot be listed.
func TestAStartWaitsForAnnotations(t *testing.T) {
	for what, known := range map[string]func(s *Surroundings){
		"they were listed":         func(s *Surroundings) { s.listed(1) },
		"there is no right to":     func(s *Surroundings) { s.state(1, events.WatchingDenied) },
		"nothing is to be watched": func(s *Surroundings) { s.config.Off = true; s.Run(context.Background()) },
	} {
		synctest.Test(t, func(t *testing.T) {
			messages := observation.NewMessages(events.KeepAll, slog.New(slog.DiscardHandler))
			s := NewSurroundings(SurroundingsConfig{Messages: messages, Sink: unheard{}})
			began, done := time.Now(), make(chan struct{})
			go func() { // ends with Wait
				messages.Wait(t.Context())
				close(done)
			}()
			synctest.Wait()
			select {
			case <-done:
				t.Fatalf("%s: it does not wait", what)
			default:
			}
			known(s)
			<-done
			if waited := time.Since(began); waited != 0 {
				t.Errorf("%s: it waited for %s", what, waited)
			}
		})
	}
}

// unheard is a sink that discards all.
type unheard struct{}

func (unheard) Observe(events.Observation) {}
