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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// workers is how many patches are under way at most. On a small machine the API server answers no more at once.
const workers = 16

// waiting is how many pods may wait for a worker; more than any workload makes at once.
const waiting = 1 << 16

// Config says whose pods to end, and how. All fields are required.
type Config struct {
	Client kubernetes.Interface
	// Seen is told of every change of every pod, in order, before anything is done about it.
	Seen func(watch.EventType, *corev1.Pod)
	// Fails is asked once for each new pod whether it is to fail, with exit code 1.
	Fails func(*corev1.Pod) bool
	// Ended is told when the API server has answered that the pod ended.
	Ended func(*corev1.Pod)
}

// Kubelet ends pods. New makes one.
type Kubelet struct {
	config  Config
	rest    rest.Interface
	version string // from which the watch goes on
	queue   chan *corev1.Pod
}

// New makes a kubelet. Pods that exist before it are none of its own.
func New(ctx context.Context, config Config) (*Kubelet, error) {
	list, err := config.Client.CoreV1().Pods("").List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	return &Kubelet{
		config: config, rest: config.Client.CoreV1().RESTClient(), version: list.ResourceVersion,
		queue: make(chan *corev1.Pod, waiting),
	}, nil
}

// Run watches and patches until ctx ends, which is no error.
func (k *Kubelet) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { // ends with ctx
		defer close(k.queue)
		for ctx.Err() == nil {
			if err := k.watch(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		}
		return nil
	})
	for range workers {
		g.Go(func() error { // ends when the watch has
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

// watch follows the pods until the API server ends the watch, as it does now and then.
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
		if event.Type != watch.Added {
			continue
		}
		select {
		case k.queue <- pod:
		default:
			return errors.New("more pods at once than the kubelet has room for")
		}
	}
	return nil
}

const (
	succeeded = `{"status":{"phase":"Succeeded","startTime":%q}}`
	failed    = `{"status":{"phase":"Failed","startTime":%[1]q,"containerStatuses":[{"name":%[2]q,"image":"","imageID":"","ready":false,` +
		`"restartCount":0,"state":{"terminated":{"exitCode":1,"reason":"Error","startedAt":%[1]q,"finishedAt":%[1]q}}}]}}`
)

// end patches the pod's status. The answer has the whole pod, which is not read.
func (k *Kubelet) end(ctx context.Context, pod *corev1.Pod) error {
	now := time.Now().UTC().Format(time.RFC3339)
	body := fmt.Sprintf(succeeded, now)
	if k.config.Fails(pod) {
		body = fmt.Sprintf(failed, now, pod.Spec.Containers[0].Name)
	}
	err := k.rest.Patch(types.MergePatchType).
		Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("status").
		Body([]byte(body)).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("end pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	k.config.Ended(pod)
	return nil
}
