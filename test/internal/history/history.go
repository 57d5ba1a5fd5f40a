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

// Change is one stored version of an object. Its resourceVersion orders it among the versions of all objects, because
// all are in one etcd.
type Change struct {
	Version uint64
	Pod     *corev1.Pod  // the pod; nil if the change is about a Job
	Job     *batchv1.Job // the Job; nil if the change is about a pod
	Gone    bool
	Seen    time.Time // when the test received it
}

// History is a recording of the pods and Jobs of one namespace.
type History struct {
	client    kubernetes.Interface
	namespace string
	ended     sync.WaitGroup

	mu      sync.Mutex
	all     map[types.UID][]Change    // changes of each Job and its pods, by UID of the Job
	owners  map[types.UID]types.UID   // by UID of the pod: UID of the Job to which it belongs, or belonged last
	pods    map[types.UID]*corev1.Pod // pods that exist
	jobs    map[string]*batchv1.Job   // newest Job of each name, even after its deletion
	newest  map[types.UID]uint64      // newest version seen of each object
	failed  error
	changed chan struct{} // closed and replaced at each change
}

// Watch starts a recording of a namespace, which must not have pods or Jobs yet. It ends with ctx.
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

// follow records the events of a watch, in a goroutine that ends with ctx.
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
	object.SetManagedFields(nil) // drop managed fields: no rule reads them, and they take half of the memory
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

// jobOfLocked returns the UID of the Job that a change is about; for a pod, of its Job. It is empty for a pod that
// never belonged to a Job.
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

// Now has the objects that exist, as far as the watches have delivered them.
type Now struct {
	Jobs map[string]*batchv1.Job // newest Job of each name, even after its deletion
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

// Now returns a copy of the objects that exist.
func (h *History) Now() Now {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Now{maps.Clone(h.jobs), maps.Clone(h.pods)}
}

// Await calls missing after each change, and returns nil as soon as missing returns "". missing says what the test
// still waits for; if ctx ends, the error has its last text. missing must not keep its argument.
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

// CatchUp returns when the history contains everything that is stored now.
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

// Changes returns all recorded versions, in the order in which they were stored. If Jobs are given, it returns only the
// versions of these Jobs and of their pods.
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

// Of returns a Job and its pods. The Job is nil if it is gone or not seen yet. The pods are those that exist and belong
// to the Job, or belonged to it last.
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

// Forget drops the recorded changes of a Job and its pods, to save memory. CatchUp works as before.
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

// Wait returns when the watches have ended. They end with the context given to Watch.
func (h *History) Wait() { h.ended.Wait() }
