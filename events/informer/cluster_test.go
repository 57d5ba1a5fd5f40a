package informer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// cluster is an API server for three resources, with one counter of versions, a history for watches, and faults on
// demand.
type cluster struct {
	mu        sync.Mutex
	version   uint64
	objects   map[string]map[types.UID]runtime.Object // by resource
	history   []change
	compacted uint64 // changes through this version can no longer be watched
	watches   map[*watch.FakeWatcher]string
	lists     []string // the lists that were asked for: "jobs@", "pods@12"
	away      error    // answers everything, when set
	held      string   // the resource whose streamed lists do not end for now
	lag       *cluster // answers every list that is not of the newest state, when set
}

type change struct {
	resource string
	version  uint64
	event    watch.Event
}

func newCluster() *cluster {
	return &cluster{
		objects: map[string]map[types.UID]runtime.Object{"jobs": {}, "pods": {}, "cronjobs": {}},
		watches: map[*watch.FakeWatcher]string{},
	}
}

// client returns a client that lists by LIST.
func (c *cluster) client() *fake.Clientset {
	client := &fake.Clientset{}
	for _, resource := range []string{"jobs", "pods", "cronjobs"} {
		client.AddReactor("list", resource, func(a clienttesting.Action) (bool, runtime.Object, error) {
			list, err := c.list(resource, a.(clienttesting.ListActionImpl).ListOptions)
			return true, list, err
		})
		client.AddWatchReactor(resource, func(a clienttesting.Action) (bool, watch.Interface, error) {
			w, err := c.watch(resource, a.(clienttesting.WatchActionImpl).ListOptions)
			return true, w, err
		})
	}
	return client
}

// streaming is a client with lists that come as watches. client-go asks for them if the fake is hidden behind the
// interface.
func (c *cluster) streaming() kubernetes.Interface { return struct{ kubernetes.Interface }{c.client()} }

func resourceOf(obj runtime.Object) string {
	switch obj.(type) {
	case *batchv1.Job:
		return "jobs"
	case *corev1.Pod:
		return "pods"
	case *batchv1.CronJob:
		return "cronjobs"
	}
	panic(fmt.Sprintf("no resource for %T", obj))
}

// set stores the object under a new version, and returns that version.
func (c *cluster) set(obj runtime.Object) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := watch.Modified
	m, _ := meta.Accessor(obj)
	if _, ok := c.objects[resourceOf(obj)][m.GetUID()]; !ok {
		kind = watch.Added
	}
	return c.record(kind, obj)
}

// remove deletes an object, and returns the version of the deletion.
func (c *cluster) remove(obj runtime.Object) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record(watch.Deleted, obj)
}

func (c *cluster) record(kind watch.EventType, obj runtime.Object) uint64 {
	c.version++
	obj = obj.DeepCopyObject()
	m, _ := meta.Accessor(obj)
	m.SetResourceVersion(strconv.FormatUint(c.version, 10))
	resource := resourceOf(obj)
	if kind == watch.Deleted {
		delete(c.objects[resource], m.GetUID())
	} else {
		c.objects[resource][m.GetUID()] = obj
	}
	event := watch.Event{Type: kind, Object: obj}
	c.history = append(c.history, change{resource, c.version, event})
	for w, r := range c.watches {
		if r == resource {
			w.Action(kind, obj.DeepCopyObject())
		}
	}
	return c.version
}

func (c *cluster) list(resource string, o metav1.ListOptions) (runtime.Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away != nil {
		return nil, c.away
	}
	if o.Limit == 1 {
		return c.page(resource), nil // merely asks how far the server is
	}
	c.lists = append(c.lists, resource+"@"+o.ResourceVersion)
	if c.lag != nil && o.ResourceVersion != "" {
		return c.lag.page(resource), nil
	}
	return c.page(resource), nil
}

func (c *cluster) page(resource string) runtime.Object {
	version := metav1.ListMeta{ResourceVersion: strconv.FormatUint(c.version, 10)}
	objs := c.all(resource)
	switch resource {
	case "jobs":
		list := &batchv1.JobList{ListMeta: version}
		for _, obj := range objs {
			list.Items = append(list.Items, *obj.(*batchv1.Job))
		}
		return list
	case "cronjobs":
		list := &batchv1.CronJobList{ListMeta: version}
		for _, obj := range objs {
			list.Items = append(list.Items, *obj.(*batchv1.CronJob))
		}
		return list
	}
	list := &corev1.PodList{ListMeta: version}
	for _, obj := range objs {
		list.Items = append(list.Items, *obj.(*corev1.Pod))
	}
	return list
}

func (c *cluster) all(resource string) []runtime.Object {
	var objs []runtime.Object
	for _, uid := range slices.Sorted(maps.Keys(c.objects[resource])) {
		objs = append(objs, c.objects[resource][uid].DeepCopyObject())
	}
	return objs
}

func (c *cluster) watch(resource string, o metav1.ListOptions) (watch.Interface, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away != nil {
		return nil, c.away
	}
	w := watch.NewFakeWithChanSize(1000, false)
	if o.SendInitialEvents != nil {
		c.lists = append(c.lists, resource+"@"+o.ResourceVersion)
		from := c
		if c.lag != nil && o.ResourceVersion != "" {
			from = c.lag
		}
		for _, obj := range from.all(resource) {
			w.Add(obj)
		}
		if c.held != resource {
			w.Action(watch.Bookmark, endOfList(resource, from.version))
		}
		c.watches[w] = resource
		return w, nil
	}
	since, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	if err != nil {
		return nil, err
	}
	if since < c.compacted {
		return nil, apierrors.NewResourceExpired("too old resource version")
	}
	for _, h := range c.history {
		if h.resource == resource && h.version > since {
			w.Action(h.event.Type, h.event.Object.DeepCopyObject())
		}
	}
	c.watches[w] = resource
	return w, nil
}

func endOfList(resource string, version uint64) runtime.Object {
	m := metav1.ObjectMeta{
		ResourceVersion: strconv.FormatUint(version, 10),
		Annotations:     map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}
	switch resource {
	case "jobs":
		return &batchv1.Job{ObjectMeta: m}
	case "cronjobs":
		return &batchv1.CronJob{ObjectMeta: m}
	}
	return &corev1.Pod{ObjectMeta: m}
}

// hold keeps streamed lists of a resource from ending, until release.
func (c *cluster) hold(resource string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = resource
}

// release ends the lists that were held, at the version that the cluster has now.
func (c *cluster) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w, resource := range c.watches {
		if resource == c.held {
			w.Action(watch.Bookmark, endOfList(resource, c.version))
		}
	}
	c.held = ""
}

// cut ends every watch of a resource in good order.
func (c *cluster) cut(resource string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w, r := range c.watches {
		if r == resource {
			delete(c.watches, w)
			w.Stop()
		}
	}
}

// expire makes watches from before now fail with 410, and ends those of that resource with it.
func (c *cluster) expire(resource string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compacted = c.version
	gone := apierrors.NewResourceExpired("too old resource version").Status()
	for w, r := range c.watches {
		if r == resource {
			delete(c.watches, w)
			w.Error(&gone)
		}
	}
}

// leave makes the server unreachable, and ends all watches. A call with nil makes it reachable again.
func (c *cluster) leave(away error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = away
	for w := range c.watches {
		delete(c.watches, w)
		w.Stop()
	}
}

// compact makes watches from before now fail with 410 when they begin.
func (c *cluster) compact() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compacted = c.version
}

// snapshot returns a copy of the cluster, for a server that lags or for a backup.
func (c *cluster) snapshot() *cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := newCluster()
	s.version = c.version
	for resource, objs := range c.objects {
		s.objects[resource] = maps.Clone(objs)
	}
	return s
}

// restore puts a snapshot in place, as restoring etcd from a backup does.
func (c *cluster) restore(s *cluster) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = s.version
	c.objects = s.objects
	c.history = nil
	c.compacted = 0
}

// fallBehind makes the snapshot answer all lists except those of the newest state.
func (c *cluster) fallBehind(s *cluster) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lag = s
}

func (c *cluster) asked(t *testing.T) []string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.lists)
}
