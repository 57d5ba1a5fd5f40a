package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// change is a version of an object. Its resourceVersion orders it among those of all objects: there is one etcd behind.
type change struct {
	version uint64
	pod     *corev1.Pod  // or
	job     *batchv1.Job //
	gone    bool
}

// history is every version of the pods and Jobs of a namespace since it was empty. It is safe for concurrent use.
type history struct {
	mu      sync.Mutex
	all     []change
	pods    map[types.UID]*corev1.Pod // those that exist
	jobs    map[string]*batchv1.Job   // by name, the newest
	failed  error
	changed chan struct{} // closed and replaced at each change
	ended   sync.WaitGroup
}

// watchNamespace begins to note what happens in a namespace that holds no pods and no Jobs yet. It ends with ctx.
func watchNamespace(ctx context.Context, namespace string) (*history, error) {
	pods, err := admin.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	jobs, err := admin.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	if n := len(pods.Items) + len(jobs.Items); n > 0 {
		return nil, fmt.Errorf("namespace %s is not new: it holds %d objects", namespace, n)
	}
	h := &history{pods: map[types.UID]*corev1.Pod{}, jobs: map[string]*batchv1.Job{}, changed: make(chan struct{})}
	return h, errors.Join(
		h.follow(ctx, pods.ResourceVersion, admin.CoreV1().Pods(namespace).Watch),
		h.follow(ctx, jobs.ResourceVersion, admin.BatchV1().Jobs(namespace).Watch),
	)
}

// follow notes what a watch says. The goroutine ends with ctx.
func (h *history) follow(ctx context.Context, version string, open func(context.Context, metav1.ListOptions) (watch.Interface, error)) error {
	w, err := watchtools.NewRetryWatcherWithContext(ctx, version, &cache.ListWatch{WatchFuncWithContext: open})
	if err != nil {
		return fmt.Errorf("watch the namespace: %w", err)
	}
	h.ended.Go(func() {
		for e := range w.ResultChan() {
			h.note(e)
		}
		if ctx.Err() == nil {
			h.fail(errors.New("a watch of the test ended"))
		}
	})
	return nil
}

func (h *history) note(e watch.Event) {
	c := change{gone: e.Type == watch.Deleted}
	switch o := e.Object.(type) {
	case *corev1.Pod:
		c.pod = o
	case *batchv1.Job:
		c.job = o
	default:
		h.fail(fmt.Errorf("a watch of the test ended with %s %+v", e.Type, e.Object))
		return
	}
	var err error
	if c.version, err = strconv.ParseUint(e.Object.(metav1.Object).GetResourceVersion(), 10, 64); err != nil {
		h.fail(fmt.Errorf("order what the watch says: %w", err))
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, c)
	switch {
	case c.job != nil:
		h.jobs[c.job.Name] = c.job
	case c.gone:
		delete(h.pods, c.pod.UID)
	default:
		h.pods[c.pod.UID] = c.pod
	}
	h.announceLocked()
}

func (h *history) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = errors.Join(h.failed, err)
	h.announceLocked()
}

func (h *history) announceLocked() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// now is what exists as far as the watch has got.
type now struct {
	jobs map[string]*batchv1.Job
	pods []*corev1.Pod
}

func (h *history) now() now {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.nowLocked()
}

func (h *history) nowLocked() now {
	return now{maps.Clone(h.jobs), slices.Collect(maps.Values(h.pods))}
}

// await returns as soon as missing says that nothing is missing any more. Its error has what is.
func (h *history) await(ctx context.Context, missing func(now) string) error {
	for {
		h.mu.Lock()
		what, err := missing(h.nowLocked()), h.failed
		changed := h.changed
		h.mu.Unlock()
		switch {
		case err != nil:
			return err
		case what == "":
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, context.Cause(ctx))
		}
	}
}

// changes are all versions seen, in the order in which they were stored.
func (h *history) changes() []change {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.SortedStableFunc(slices.Values(h.all), func(a, b change) int { return cmp.Compare(a.version, b.version) })
}
