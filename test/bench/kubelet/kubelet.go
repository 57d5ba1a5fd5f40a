package kubelet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// workers is the largest number of pods that are patched at the same time if Config.Nodes is 0. On a small machine the
// API server cannot answer more at once.
const workers = 16

// waiting is the largest number of pods that wait for a worker, a goroutine that patches pods. No workload creates as
// many at once.
const waiting = 1 << 16

// Fate says how a pod lives: how long it runs, and whether it fails.
type Fate struct {
	// RunFor is the time from the write of phase Running until the container ends. It is ignored if Config.Nodes is 0:
	// each pod then ends as soon as it appears, and never runs.
	RunFor time.Duration
	// Fails makes the container end with exit code 1.
	Fails bool
}

// Config says how pods live, and has callbacks. Nodes and Wrote may be zero; all other fields are required.
type Config struct {
	// Client watches the pods.
	Client kubernetes.Interface
	// Nodes is the number of simulated nodes, each with a kubelet. With 0 there are none: a single write ends each pod
	// as soon as it appears. Negative: other programs run the pods, and Ended is called when the watch shows that a pod
	// has ended.
	Nodes int
	// API makes the writes of the simulated scheduler and kubelets.
	API API
	// Seen is called for each change of a pod, in order, before the simulated kubelet acts on it.
	Seen func(watch.EventType, *corev1.Pod)
	// Fate returns how a new pod lives; it is called once for each pod.
	Fate func(*corev1.Pod) Fate
	// Ended is called when the API server has answered the write that ends a pod.
	Ended func(*corev1.Pod)
	// Wrote is called after each status write of a simulated kubelet. late is how long the write waited for an earlier
	// write of the same node, took is how long the API server needed to answer. May be nil.
	Wrote func(pod *corev1.Pod, late, took time.Duration)
}

// Kubelet simulates scheduler and kubelets. Create it with New.
type Kubelet struct {
	config  Config
	version string // resource version from which the watch continues
	queue   chan *corev1.Pod
	// One for each node; it contains a value while the node writes, so that a node makes one write at a time
	nodes []chan struct{}
	seen  int // number of pods so far; it decides to which node the next pod is assigned
}

// New returns a Kubelet that ignores the pods that exist already.
func New(ctx context.Context, config Config) (*Kubelet, error) {
	list, err := config.Client.CoreV1().Pods("").List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	if config.Wrote == nil {
		config.Wrote = func(*corev1.Pod, time.Duration, time.Duration) {}
	}
	k := &Kubelet{config: config, version: list.ResourceVersion, queue: make(chan *corev1.Pod, waiting)}
	for range config.Nodes {
		k.nodes = append(k.nodes, make(chan struct{}, 1))
	}
	return k, nil
}

// Run simulates scheduler and kubelets until ctx ends, and then returns nil.
func (k *Kubelet) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { // this goroutine ends when ctx ends
		defer close(k.queue)
		for ctx.Err() == nil {
			if err := k.watch(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		}
		return nil
	})
	if k.config.Nodes > 0 {
		g.Go(func() error { return k.liveAll(ctx) }) // this goroutine ends when the watch and all pods have ended
		return g.Wait()
	}
	for range workers {
		g.Go(func() error { // this goroutine ends when the watch ends
			for pod := range k.queue {
				if err := k.end(ctx, pod); err != nil && ctx.Err() == nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// watch follows the pods until the API server ends the watch; Run then calls watch again.
func (k *Kubelet) watch(ctx context.Context) error {
	w, err := k.config.Client.CoreV1().Pods("").Watch(ctx, metav1.ListOptions{ResourceVersion: k.version, AllowWatchBookmarks: true})
	if err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			return fmt.Errorf("watch pods: %w", apierrors.FromObject(event.Object))
		}
		k.version = pod.ResourceVersion
		if event.Type == watch.Bookmark {
			continue
		}
		k.config.Seen(event.Type, pod)
		switch {
		case k.config.Nodes < 0:
			if event.Type == watch.Modified && ended(pod) {
				k.config.Ended(pod)
			}
		case event.Type == watch.Added:
			select {
			case k.queue <- pod:
			default:
				return errors.New("more pods at once than the kubelet has room for")
			}
		}
	}
	return nil
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
