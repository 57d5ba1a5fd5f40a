package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// Change is a version of an object. Its resourceVersion orders it among the versions of all objects: there is one etcd.
type Change struct {
	Version uint64
	Pod     *corev1.Pod  // or
	Job     *batchv1.Job //
	Gone    bool
	Seen    time.Time // when the test received it, by its monotonic clock
}

// History is a recording of one namespace.
type History struct {
	client    kubernetes.Interface
	namespace string
	ended     sync.WaitGroup

	mu      sync.Mutex
	all     map[types.UID][]Change    // by Job, see jobOfLocked
	owners  map[types.UID]types.UID   // of pods: the Job that each belongs to, or belonged to last
	pods    map[types.UID]*corev1.Pod // those that exist
	jobs    map[string]*batchv1.Job   // by name; the newest, also after it is gone
	newest  map[types.UID]uint64      // by UID: the newest version that was seen
	failed  error
	changed chan struct{} // closed and replaced at each change
}

// Watch begins to record what happens in a namespace that holds no pods and no Jobs yet. It ends with ctx.
func Watch(ctx context.Context, client kubernetes.Interface, namespace string) (*History, error) {
	h := &History{
		client: client, namespace: namespace,
		all: map[types.UID][]Change{}, owners: map[types.UID]types.UID{},
		pods: map[types.UID]*corev1.Pod{}, jobs: map[string]*batchv1.Job{}, newest: map[types.UID]uint64{}, changed: make(chan struct{}),
	}
	pods, jobs, err := h.list(ctx)
	if err != nil {
		return nil, err
	}
	if n := len(pods.Items) + len(jobs.Items); n > 0 {
		return nil, fmt.Errorf("record namespace %s: it is not new, it holds %d objects", namespace, n)
	}
	return h, errors.Join(
		h.follow(ctx, pods.ResourceVersion, client.CoreV1().Pods(namespace).Watch),
		h.follow(ctx, jobs.ResourceVersion, client.BatchV1().Jobs(namespace).Watch),
	)
}

func (h *History) list(ctx context.Context) (*corev1.PodList, *batchv1.JobList, error) {
	pods, err := h.client.CoreV1().Pods(h.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("list the pods of %s: %w", h.namespace, err)
	}
	jobs, err := h.client.BatchV1().Jobs(h.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("list the Jobs of %s: %w", h.namespace, err)
	}
	return pods, jobs, nil
}

// follow records the events of a watch. The goroutine ends with ctx.
func (h *History) follow(ctx context.Context, version string, open func(context.Context, metav1.ListOptions) (watch.Interface, error)) error {
	w, err := watchtools.NewRetryWatcherWithContext(ctx, version, &cache.ListWatch{WatchFuncWithContext: open})
	if err != nil {
		return fmt.Errorf("watch namespace %s: %w", h.namespace, err)
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

func (h *History) note(e watch.Event) {
	c := Change{Gone: e.Type == watch.Deleted, Seen: time.Now()}
	switch o := e.Object.(type) {
	case *corev1.Pod:
		c.Pod = o
	case *batchv1.Job:
		c.Job = o
	default:
		h.fail(fmt.Errorf("a watch of the test ended with %s %+v", e.Type, e.Object))
		return
	}
	object := e.Object.(metav1.Object)
	object.SetManagedFields(nil) // saves half of the memory, and no rule reads them
	var err error
	if c.Version, err = strconv.ParseUint(object.GetResourceVersion(), 10, 64); err != nil {
		h.fail(fmt.Errorf("order what the watch says: %w", err))
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	uid := h.jobOfLocked(c)
	h.all[uid] = append(h.all[uid], c)
	h.newest[object.GetUID()] = c.Version
	switch {
	case c.Job != nil:
		h.jobs[c.Job.Name] = c.Job
	case c.Gone:
		delete(h.pods, c.Pod.UID)
	default:
		h.pods[c.Pod.UID] = c.Pod
	}
	h.announceLocked()
}

// jobOfLocked returns the UID of the Job that a change is about; empty for a pod that never belonged to a Job.
func (h *History) jobOfLocked(c Change) types.UID {
	if c.Job != nil {
		return c.Job.UID
	}
	if owner := metav1.GetControllerOfNoCopy(c.Pod); owner != nil {
		h.owners[c.Pod.UID] = owner.UID
	}
	return h.owners[c.Pod.UID]
}

func (h *History) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = errors.Join(h.failed, err)
	h.announceLocked()
}

func (h *History) announceLocked() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// Now is what exists, as far as the watch has got.
type Now struct {
	Jobs map[string]*batchv1.Job // by name; the newest, also after it is gone
	Pods map[types.UID]*corev1.Pod
}

// PodsOf returns the existing pods that the Job controls, in the order of their creation.
func (n Now) PodsOf(job types.UID) []*corev1.Pod {
	var all []*corev1.Pod
	for _, pod := range n.Pods {
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil && owner.UID == job {
			all = append(all, pod)
		}
	}
	slices.SortFunc(all, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Now returns a copy of what exists.
func (h *History) Now() Now {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Now{maps.Clone(h.jobs), maps.Clone(h.pods)}
}

// Await calls missing at each change, and returns as soon as missing returns "". Its error has the last text that
// missing returned. The Now that missing gets is valid for that call only.
func (h *History) Await(ctx context.Context, missing func(Now) string) error {
	for {
		h.mu.Lock()
		what, err := missing(Now{h.jobs, h.pods}), h.failed
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

// CatchUp returns when the history has everything that is stored now.
func (h *History) CatchUp(ctx context.Context) error {
	pods, jobs, err := h.list(ctx)
	if err != nil {
		return err
	}
	stored := map[types.UID]uint64{}
	note := func(o metav1.Object) {
		version, parseErr := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
		err = errors.Join(err, parseErr)
		stored[o.GetUID()] = version
	}
	for i := range pods.Items {
		note(&pods.Items[i])
	}
	for i := range jobs.Items {
		note(&jobs.Items[i])
	}
	if err != nil {
		return fmt.Errorf("order what is stored: %w", err)
	}
	return h.Await(ctx, func(Now) string {
		for uid, version := range stored {
			if h.newest[uid] < version {
				return fmt.Sprintf("the watch has not come to version %d", version)
			}
		}
		return ""
	})
}

// Changes returns all recorded versions, in the order in which they were stored. If Jobs are named, only theirs and
// those of their pods.
func (h *History) Changes(jobs ...types.UID) []Change {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(jobs) == 0 {
		jobs = slices.Collect(maps.Keys(h.all))
	}
	var all []Change
	for _, uid := range jobs {
		all = append(all, h.all[uid]...)
	}
	slices.SortFunc(all, func(a, b Change) int { return cmp.Compare(a.Version, b.Version) })
	return all
}

// Of returns a Job, nil if it is gone or not seen yet, and the existing pods that belong to it or belonged to it last.
func (h *History) Of(job types.UID) (*batchv1.Job, []*corev1.Pod) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found *batchv1.Job
	var pods []*corev1.Pod
	seen := map[types.UID]bool{}
	for _, c := range h.all[job] {
		switch {
		case c.Job != nil && c.Gone:
			found = nil
		case c.Job != nil:
			found = c.Job
		case !seen[c.Pod.UID] && h.pods[c.Pod.UID] != nil:
			pods = append(pods, h.pods[c.Pod.UID])
			seen[c.Pod.UID] = true
		}
	}
	return found, pods
}

// Forget drops what was recorded of a Job and its pods, to save memory. CatchUp still knows how far the watch has got.
func (h *History) Forget(job types.UID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.all[job] {
		if c.Pod != nil {
			delete(h.owners, c.Pod.UID)
		}
	}
	delete(h.all, job)
}

// Wait returns when the watches have ended, which they do with the context of Watch.
func (h *History) Wait() { h.ended.Wait() }
