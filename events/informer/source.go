package informer

import (
	"context"
	"errors"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

// source lists and watches one resource for a reflector. It never lets the server answer a list from a state of any
// age: a first list would be asked for with resourceVersion 0, which a lagging server answers with the past. A
// reflector that has a version asks for a state not older than it; see insist.
type source struct {
	list      func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch     func(context.Context, metav1.ListOptions) (watch.Interface, error)
	streaming bool // the client can send a list as a watch

	insist     atomic.Bool // ask for the newest state, whatever version the reflector has
	consistent atomic.Bool // the list that was asked for last is of the newest state
}

func newSource(client kubernetes.Interface) *source {
	return &source{streaming: !watchlist.DoesClientNotSupportWatchListSemantics(client)}
}

func jobSource(client kubernetes.Interface, namespace string) *source {
	s := newSource(client)
	jobs := client.BatchV1().Jobs(namespace)
	s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		list, err := jobs.List(ctx, o)
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			stripJob(&list.Items[i])
		}
		return list, nil
	}
	s.watch = jobs.Watch
	return s
}

func podSource(client kubernetes.Interface, namespace string) *source {
	s := newSource(client)
	pods := client.CoreV1().Pods(namespace)
	s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		list, err := pods.List(ctx, o)
		if err != nil {
			return nil, err
		}
		for i := range list.Items { // page by page, so that a big list is never whole in memory
			stripPod(&list.Items[i])
		}
		return list, nil
	}
	s.watch = pods.Watch
	return s
}

// ListWithContext implements cache.ListerWithContext.
func (s *source) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if o.Continue == "" { // the pages after the first are of the same state
		s.ask(&o)
	}
	return s.list(ctx, o)
}

// WatchWithContext implements cache.WatcherWithContext.
func (s *source) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if o.SendInitialEvents != nil && *o.SendInitialEvents {
		s.ask(&o)
	}
	return s.watch(ctx, o)
}

func (s *source) ask(o *metav1.ListOptions) {
	if s.insist.Load() || o.ResourceVersion == "0" {
		o.ResourceVersion = ""
	}
	s.consistent.Store(o.ResourceVersion == "")
}

// judge takes what became of a list: one that was of the past makes the next be asked for without a version.
func (s *source) judge(err error) error {
	s.insist.Store(errors.Is(err, ErrOlder))
	return err
}

// List implements cache.Lister, which reflectors no longer call.
func (s *source) List(o metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), o)
}

// Watch implements cache.Watcher, which reflectors no longer call.
func (s *source) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), o)
}

// IsWatchListSemanticsUnSupported tells the reflector whether to list by LIST. The name is client-go's.
func (s *source) IsWatchListSemanticsUnSupported() bool { return !s.streaming }

var (
	_ cache.ListerWatcher            = (*source)(nil)
	_ cache.ListerWatcherWithContext = (*source)(nil)
)
