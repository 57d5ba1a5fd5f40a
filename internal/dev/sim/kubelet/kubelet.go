package kubelet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/clock"
)

// Actor is the name of the kubelets and the scheduler in the simulated server's log of writes.
const Actor = "kubelet"

// Config configures a Kubelet. A zero range means no delay.
type Config struct {
	Server *apiserver.Server
	Rand   *rand.Rand

	Nodes        int             // number of nodes, named node-0, node-1, …; 0 means 3
	Schedule     Range           // from creation to the assignment of a node
	Start        Range           // from the assignment to Running and Ready
	RunTime      Range           // time of a run, unless an annotation sets it
	Stop         Range           // from the deletion to the terminal phase; at most the grace period
	Stops        []time.Duration // if set, one of these, chosen at random, replaces Stop
	Confirm      Range           // from the terminal phase to the confirmed deletion
	FailRate     float64         // share of runs that fail, unless annotations decide
	CleanStop    float64         // share of stopped Pods that exit with 0, so that they end as Succeeded
	RestartPause Range           // added to the run time of a run after a restart in place
}

// Kubelet acts as the scheduler and the kubelets of all nodes: it moves Pods through their phases.
type Kubelet struct {
	cfg      Config
	client   *apiserver.Client
	clock    *clock.Clock
	cursor   *apiserver.Cursor
	pods     map[types.UID]*life
	attempts map[attempt]int
	lost     map[string]bool
	bound    int // pods given a node so far
}

// life is one Pod with its next step, which waits in the clock's queue.
type life struct {
	pod    *corev1.Pod // the Pod as it was seen last
	action action
	item   *clock.Item
}

// action is the next step of a Pod.
type action string

const (
	none     action = ""
	schedule action = "schedule"
	begin    action = "start"
	end      action = "end"
	stop     action = "stop"
	confirm  action = "confirm deletion of"
)

// New returns a Kubelet that has seen nothing yet. The first Sync finds existing Pods.
func New(cfg Config) *Kubelet {
	if cfg.Nodes == 0 {
		cfg.Nodes = 3
	}
	cursor, err := cfg.Server.Watch(apiserver.Pods, 0)
	if err != nil {
		panic(err) // no error is possible: nothing was compacted (dropped) before New is called
	}
	return &Kubelet{
		cfg: cfg, client: cfg.Server.Client(Actor), clock: cfg.Server.Clock(), cursor: cursor,
		pods: map[types.UID]*life{}, attempts: map[attempt]int{}, lost: map[string]bool{},
	}
}

// Sync reads what happened to Pods since the last call, and puts their next steps into the clock's queue. It writes
// nothing.
func (k *Kubelet) Sync() {
	for {
		e, more, err := k.cursor.Next()
		if err != nil { // the server has dropped events that were not read, so list the Pods, and begin again
			k.relist()
			return
		}
		if !more {
			return
		}
		pod := e.Object.(*corev1.Pod)
		if e.Type == watch.Deleted {
			k.forget(pod.UID)
			continue
		}
		k.observe(pod)
	}
}

// Rewound is called when the server was restored from a backup. The steps in the queue are dropped, and Pods continue
// from their stored state.
func (k *Kubelet) Rewound() {
	for uid := range k.pods { // in any order, because forget uses no random numbers and writes nothing
		k.forget(uid)
	}
	k.relist()
}

func (k *Kubelet) relist() {
	list := k.cfg.Server.List(apiserver.Pods)
	live := map[types.UID]bool{}
	for _, o := range list.Items {
		live[o.GetUID()] = true
		k.observe(o.(*corev1.Pod))
	}
	for uid := range k.pods { // in any order, because forget uses no random numbers and writes nothing
		if !live[uid] {
			k.forget(uid)
		}
	}
	k.cursor, _ = k.cfg.Server.Watch(apiserver.Pods, list.Version)
}

func (k *Kubelet) forget(uid types.UID) {
	if l := k.pods[uid]; l != nil {
		k.clock.Stop(l.item)
		delete(k.pods, uid)
	}
}

// LoseNode stops a node for good: its Pods no longer advance. The caller must tell [apiserver.PodGC], too.
func (k *Kubelet) LoseNode(node string) { k.lost[node] = true }

// Nodes returns the names of the nodes that are not lost.
func (k *Kubelet) Nodes() []string {
	var out []string
	for i := range k.cfg.Nodes {
		if name := fmt.Sprintf("node-%d", i); !k.lost[name] {
			out = append(out, name)
		}
	}
	return out
}

// next returns the next step in the life of a Pod with this state.
func next(pod *corev1.Pod) action {
	terminal := apiserver.PodTerminal(pod)
	switch {
	case pod.Spec.NodeName == "" && pod.DeletionTimestamp != nil:
		return none // the kubelet has nothing to do: the pod garbage collector deletes a pod without a node
	case pod.Spec.NodeName == "" && !terminal:
		return schedule
	case pod.DeletionTimestamp != nil && !terminal:
		return stop
	case pod.DeletionTimestamp != nil && *pod.DeletionGracePeriodSeconds > 0:
		return confirm
	case terminal:
		return none
	case pod.Status.Phase == corev1.PodRunning:
		return end
	}
	return begin
}

// observe puts the Pod's next step into the clock's queue, unless it is there already.
func (k *Kubelet) observe(pod *corev1.Pod) {
	l := k.pods[pod.UID]
	if l == nil {
		l = &life{}
		k.pods[pod.UID] = l
	}
	l.pod = pod
	want := next(pod)
	if l.action == want {
		return
	}
	k.clock.Stop(l.item)
	l.action, l.item = want, nil
	wait, never := k.wait(want, pod)
	if never {
		return
	}
	l.item = k.clock.Schedule(k.clock.Now().Add(wait), fmt.Sprintf("%s pod %s/%s", want, pod.Namespace, pod.Name), func() {
		l.item = nil
		k.Sync()
		if k.pods[pod.UID] != l || l.action != want || l.item != nil {
			return // the Pod has changed, so another step was queued in place of this one
		}
		l.action = none
		k.act(want, l.pod)
		k.Sync() // see the write of this step, and queue the next step
	})
}

func (k *Kubelet) wait(a action, pod *corev1.Pod) (d time.Duration, never bool) {
	outcome := pod.Annotations[AnnotationOutcome]
	switch a {
	case schedule:
		return k.cfg.Schedule.draw(k.cfg.Rand), false
	case begin:
		return k.asked(a, pod, k.cfg.Start), outcome == OutcomePending
	case end:
		d = k.asked(a, pod, k.cfg.RunTime)
		if len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].RestartCount > 0 {
			d += k.cfg.RestartPause.draw(k.cfg.Rand)
		}
		return d, outcome == OutcomeRun
	case stop:
		grace := time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
		stop := k.cfg.Stop
		if n := len(k.cfg.Stops); n > 0 {
			stop.Min = k.cfg.Stops[k.cfg.Rand.IntN(n)]
			stop.Max = stop.Min
		}
		return min(grace, k.asked(a, pod, stop)), false
	case confirm:
		return k.cfg.Confirm.draw(k.cfg.Rand), false
	}
	return 0, true
}

// act makes one step of a Pod. It ignores a conflict, because the watch will show the change, and Sync then queues
// another step.
func (k *Kubelet) act(a action, pod *corev1.Pod) {
	if k.lost[pod.Spec.NodeName] {
		return
	}
	now := metav1.NewTime(k.clock.Now())
	var err error
	switch a {
	case schedule:
		err = k.bind(pod)
	case begin:
		err = k.setStatus(pod, func(s *corev1.PodStatus) { SetRunning(pod, s, now) })
	case end:
		code := k.exitCode(pod)
		err = k.setStatus(pod, func(s *corev1.PodStatus) {
			if code != 0 && pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
				SetRestarted(s, code, now)
			} else {
				SetEnded(pod, s, code, now)
			}
		})
	case stop:
		code := int32(exitStopped)
		if k.cfg.Rand.Float64() < k.cfg.CleanStop && pod.Status.Phase == corev1.PodRunning {
			code = 0
		}
		err = k.setStatus(pod, func(s *corev1.PodStatus) { SetEnded(pod, s, code, now) })
	case confirm:
		err = k.client.Delete(context.Background(), apiserver.Pods, pod.Namespace, pod.Name,
			apiserver.DeleteOptions{UID: pod.UID, GraceSeconds: new(int64)})
	}
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		// Any other error is a bug of the simulation.
		panic(fmt.Sprintf("%s pod %s/%s: %v", a, pod.Namespace, pod.Name, err))
	}
}

// bind assigns the Pod to the next node in turn. Without nodes the Pod stays pending.
func (k *Kubelet) bind(pod *corev1.Pod) error {
	nodes := k.Nodes()
	if len(nodes) == 0 {
		return nil
	}
	k.bound++
	return k.client.BindPod(context.Background(), pod.Namespace, pod.Name, pod.UID, nodes[k.bound%len(nodes)])
}

func (k *Kubelet) setStatus(pod *corev1.Pod, change func(*corev1.PodStatus)) error {
	return k.client.UpdatePodStatus(context.Background(), pod.Namespace, pod.Name, pod.UID, change)
}
