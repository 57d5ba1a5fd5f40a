package informer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/jobledger/jobledger/events"
)

// told returns the facts that wait for the sink.
func (s *Surroundings) told() (out []events.Observation) {
	out, s.queue = s.queue, nil
	return out
}

func node(name, uid string, change ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid)},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionTrue}, {Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse},
		}},
	}
	for _, c := range change {
		c(n)
	}
	return n
}

func ready(is corev1.ConditionStatus) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Status.Conditions[0].Status = is }
}

func heartbeat(at time.Time) func(*corev1.Node) {
	return func(n *corev1.Node) {
		for i := range n.Status.Conditions {
			n.Status.Conditions[i].LastHeartbeatTime = metav1.NewTime(at)
		}
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{at.String()}})
	}
}

func TestNodesAreToldWhenTheyChange(t *testing.T) {
	seen := func(ns ...*corev1.Node) func(*Surroundings) {
		return func(s *Surroundings) {
			for _, n := range ns {
				s.seen(n)
			}
		}
	}
	lost := &events.NodeSeen{Name: "a", UID: "1", Ready: events.NodeUnheard}
	for _, test := range []struct {
		name string
		do   func(*Surroundings)
		want []events.Facts
	}{
		{"a node that is in order is not told of", seen(node("a", "1")), nil},
		{"a heartbeat tells nothing", seen(node("a", "1"), node("a", "1", heartbeat(time.Unix(9, 0))), node("a", "1", heartbeat(time.Unix(300, 0)))), nil},
		{
			"one that is lost, and comes back", seen(node("a", "1"), node("a", "1", ready(corev1.ConditionUnknown)), node("a", "1")),
			[]events.Facts{lost, &events.NodeSeen{Name: "a", UID: "1", Ready: events.NodeReady}},
		},
		{
			"cordoned, pressed and tainted", seen(node("a", "1", func(n *corev1.Node) {
				n.Spec.Unschedulable = true
				n.Status.Conditions[1].Status = corev1.ConditionTrue
				n.Spec.Taints = []corev1.Taint{
					{Key: "z", Effect: corev1.TaintEffectNoExecute}, {Key: "b", Effect: corev1.TaintEffectNoSchedule},
					{Key: "a", Effect: corev1.TaintEffectNoExecute}, {Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute},
				}
			})),
			[]events.Facts{&events.NodeSeen{
				Name: "a", UID: "1", Ready: events.NodeReady, Cordoned: true, Pressures: []string{"MemoryPressure"}, Taints: []string{"a", "z"},
			}},
		},
		{
			"one that is deleted", func(s *Surroundings) { s.seen(node("a", "1")); s.gone(node("a", "1")) },
			[]events.Facts{&events.NodeGone{Name: "a", UID: "1"}},
		},
		{
			"one whose deletion a list shows", func(s *Surroundings) {
				s.seen(node("a", "1"))
				s.gone(cache.DeletedFinalStateUnknown{Obj: node("a", "1")})
			},
			[]events.Facts{&events.NodeGone{Name: "a", UID: "1", Missed: true}},
		},
		{
			"one that another of its name replaces", seen(node("a", "1"), node("a", "2")),
			[]events.Facts{&events.NodeGone{Name: "a", UID: "1", Replaced: true}},
		},
		{
			"what is told again after a time without room", func(s *Surroundings) {
				s.seen(node("a", "1", ready(corev1.ConditionUnknown)))
				s.seen(node("b", "2"))
				s.told()
				s.Relist()
			},
			[]events.Facts{lost},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := NewSurroundings(SurroundingsConfig{})
			test.do(s)
			var got []events.Facts
			for _, o := range s.told() {
				got = append(got, o.Facts)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestANodeThatFlapsIsCounted(t *testing.T) {
	now := time.Unix(1000, 0)
	s := NewSurroundings(SurroundingsConfig{})
	s.now = func() time.Time { return now }
	s.seen(node("a", "1"))
	for range 50 {
		s.seen(node("a", "1", ready(corev1.ConditionUnknown)))
		s.seen(node("a", "1"))
	}
	s.seen(node("a", "1", ready(corev1.ConditionFalse)))
	if got := len(s.told()); got != nodeMost {
		t.Errorf("told %d times, want %d", got, nodeMost)
	}
	now = now.Add(nodeSpan)
	s.look()
	got := s.told()
	if len(got) != 1 || got[0].Facts.(*events.NodeSeen).Ready != events.NodeNotReady || got[0].Evidence.PassedOver == 0 {
		t.Errorf("after a while: %+v, want how it is, and how many changes were passed over", got)
	}
}

// sunk takes what is told.
type sunk struct{ got chan events.Observation }

func (s sunk) Observe(o events.Observation) { s.got <- o }

func TestWhatWentMeanwhileIsTold(t *testing.T) {
	s := NewSurroundings(SurroundingsConfig{
		Nodes:      []*events.NodeSeen{{Name: "a", UID: "1", Ready: events.NodeUnheard}, {Name: "b", UID: "2", Cordoned: true, Ready: events.NodeReady}},
		Namespaces: []*events.NamespaceSeen{{Name: "n", UID: "3", Deleted: 5}},
	})
	s.begin(0)
	s.begin(1)
	s.seen(node("b", "2", func(n *corev1.Node) { n.Spec.Unschedulable = true }))
	s.listed(0)
	s.listed(1)
	want := []events.Facts{
		&events.NodeGone{Name: "a", UID: "1", Missed: true}, &events.NamespaceSeen{Name: "n", UID: "3", Deleted: 5, Gone: true, Missed: true},
		&events.ClusterWatched{Nodes: events.WatchingOn, Namespaces: events.WatchingOn},
	}
	var got []events.Facts
	for _, o := range s.told() {
		got = append(got, o.Facts)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestWithoutTheRightTheRestGoesOn: without the right to list nodes, that is reported once, and namespaces are watched.
func TestWithoutTheRightTheRestGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "3", DeletionTimestamp: &metav1.Time{Time: time.Unix(7, 0)}, Finalizers: []string{"x/y"}}})
		var allowed atomic.Bool
		client.PrependReactor("list", "nodes", func(k8stesting.Action) (bool, runtime.Object, error) {
			if allowed.Load() {
				return false, nil, nil
			}
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("no"))
		})
		sink := sunk{make(chan events.Observation, 10)}
		s := NewSurroundings(SurroundingsConfig{Client: client, Sink: sink})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { s.Run(ctx); close(ended) }()
		for _, want := range []events.Facts{
			&events.NamespaceSeen{Name: "n", UID: "3", Deleted: events.At(time.Unix(7, 0))},
			&events.ClusterWatched{Nodes: events.WatchingDenied, Namespaces: events.WatchingOn},
		} {
			if diff := cmp.Diff(want, (<-sink.got).Facts); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
		}
		allowed.Store(true)
		if diff := cmp.Diff(events.Facts(&events.ClusterWatched{Nodes: events.WatchingOn, Namespaces: events.WatchingOn}), (<-sink.got).Facts); diff != "" {
			t.Fatalf("once it is allowed: -want +got:\n%s", diff)
		}
		cancel()
		<-ended
	})
}

func TestOffWatchesNothing(t *testing.T) {
	sink := sunk{make(chan events.Observation, 1)}
	s := NewSurroundings(SurroundingsConfig{Off: true, Sink: sink})
	s.Run(t.Context())
	if got := (<-sink.got).Facts.(*events.ClusterWatched); *got != (events.ClusterWatched{Nodes: events.WatchingOff, Namespaces: events.WatchingOff}) {
		t.Errorf("%+v", got)
	}
}
