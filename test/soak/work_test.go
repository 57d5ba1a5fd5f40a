//go:build linux

package soak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/kubelet"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// work is a load of Jobs with one pod that succeeds at once: their creation, the kubelet, and the count of their ends.
type work struct {
	namespace string
	kubelet   *kubelet.Kubelet
	stop      context.CancelFunc // ends the creation
	users     sync.WaitGroup

	mu      sync.Mutex
	created map[types.UID]string // UID → name
	ended   map[types.UID]string // UID → how; "": as it should
	pods    map[types.UID]types.UID
	gone    map[types.UID]bool
}

func newWork(t *testing.T, ctx context.Context, namespace string) *work {
	t.Helper()
	w := &work{
		namespace: namespace, created: map[types.UID]string{}, ended: map[types.UID]string{}, pods: map[types.UID]types.UID{}, gone: map[types.UID]bool{},
	}
	var err error
	if w.kubelet, err = kubelet.New(ctx, shared.Admin); err != nil {
		t.Fatal(err)
	}
	working, end := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactoryWithOptions(shared.Admin, 0, informers.WithNamespace(namespace))
	due := make(chan *corev1.Pod, 1<<16)
	w.follow(t, factory, due)
	factory.Start(working.Done())
	factory.WaitForCacheSync(working.Done())
	for range 8 {
		w.users.Go(func() { w.tend(working, due) }) // ends with the test
	}
	creating, stop := context.WithCancel(working)
	w.stop = stop
	w.users.Go(func() { w.create(creating, working) }) // ends with stop
	t.Cleanup(func() {
		end()
		w.users.Wait()
		factory.Shutdown()
	})
	return w
}

// follow notes what happens to Jobs, and passes pods to the kubelet.
func (w *work) follow(t *testing.T, factory informers.SharedInformerFactory, due chan<- *corev1.Pod) {
	t.Helper()
	job := func(o any) {
		j, ok := o.(*batchv1.Job)
		if !ok || !ledger.Finished(j) {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if s := &j.Status; !ledger.True(j, batchv1.JobComplete) || s.Succeeded != 1 || s.Failed != 0 || s.Active != 0 {
			w.ended[j.UID] = fmt.Sprintf("%s: %+v", j.Name, *s)
		} else if _, ok := w.ended[j.UID]; !ok {
			w.ended[j.UID] = ""
		}
	}
	pod := func(o any) {
		p, ok := o.(*corev1.Pod)
		if !ok {
			return
		}
		if owner := metav1.GetControllerOfNoCopy(p); owner != nil {
			w.mu.Lock()
			if first, ok := w.pods[owner.UID]; ok && first != p.UID {
				w.ended[owner.UID] = "it had two pods: " + p.Name
			}
			w.pods[owner.UID] = p.UID
			w.mu.Unlock()
		}
		if p.DeletionTimestamp != nil || p.Status.Phase != corev1.PodSucceeded {
			due <- p
		}
	}
	if _, err := factory.Batch().V1().Jobs().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: job, UpdateFunc: func(_, o any) { job(o) },
		DeleteFunc: func(o any) {
			if tomb, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = tomb.Obj
			}
			if j, ok := o.(*batchv1.Job); ok {
				job(j)
				w.mu.Lock()
				w.gone[j.UID] = true
				w.mu.Unlock()
			}
		},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: pod, UpdateFunc: func(_, o any) { pod(o) },
	}); err != nil {
		t.Fatal(err)
	}
}

// tend is the kubelet: each pod succeeds as soon as it exists; tend retries while the API server is away. It also
// removes pods that the API server was deleting when it was killed: nothing else would.
func (w *work) tend(ctx context.Context, due <-chan *corev1.Pod) {
	for {
		select {
		case pod := <-due:
			_ = again(ctx, func() error {
				do := w.kubelet.Succeed
				if pod.DeletionTimestamp != nil {
					do = w.kubelet.Remove
				}
				err := do(ctx, pod)
				if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
					return nil
				}
				return err
			})
		case <-ctx.Done():
			return
		}
	}
}

// create creates Jobs at a steady rate until creating ends. If the API server is away, the Job is created when it is
// back.
func (w *work) create(creating, ctx context.Context) {
	var users sync.WaitGroup
	defer users.Wait()
	tick := time.NewTicker(time.Second / rate)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-creating.Done():
			return
		}
		users.Go(func() { w.createOne(ctx, fmt.Sprintf("job-%06d", n)) }) // ends when the API server has it
	}
}

func (w *work) createOne(ctx context.Context, name string) {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			TTLSecondsAfterFinished: new(int32(ttl / time.Second)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "example.com/work:1"}},
			}},
		},
	}
	kubelet.Place(&job.Spec.Template)
	jobs := shared.Admin.BatchV1().Jobs(w.namespace)
	_ = again(ctx, func() error {
		made, err := jobs.Create(ctx, job, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // created by a try that lost its answer
			made, err = jobs.Get(ctx, name, metav1.GetOptions{})
		}
		if err == nil {
			w.mu.Lock()
			w.created[made.UID] = name
			w.mu.Unlock()
		}
		return err
	})
}

// again calls try until it succeeds or ctx ends.
func again(ctx context.Context, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

func (w *work) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("%d Jobs created, %d ended, %d gone", len(w.created), len(w.ended), len(w.gone))
}

// done waits until every Job has ended and is gone, and reports wrong ends.
func (w *work) done(t *testing.T, ctx context.Context, c *controller.Controller) {
	t.Helper()
	var left []string
	defer func() {
		if len(left) > 0 {
			w.tell(t, c, left[0])
		}
	}()
	eventually(t, ctx, "every Job ends, and goes by its TTL", func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		left = nil
		for uid, name := range w.created {
			if _, ok := w.ended[uid]; !ok || !w.gone[uid] {
				left = append(left, name)
			}
		}
		slices.Sort(left)
		if len(left) > 0 {
			return fmt.Errorf("%d are left, such as %s", len(left), left[0])
		}
		return nil
	})
	var wrong []string
	w.mu.Lock()
	for _, how := range w.ended {
		if how != "" {
			wrong = append(wrong, how)
		}
	}
	w.mu.Unlock()
	if len(wrong) > 0 {
		t.Errorf("%d Jobs ended otherwise:\n%s", len(wrong), strings.Join(wrong, "\n"))
	}
	t.Logf("at the end: %s", w)
	pods, err := shared.Admin.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil || len(pods.Items) > 0 {
		t.Error(errors.Join(err, fmt.Errorf("%d pods are left", len(pods.Items))))
	}
}

// tell prints everything about a Job that does not end.
func (w *work) tell(t *testing.T, c *controller.Controller, name string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	job, err := shared.Admin.BatchV1().Jobs(w.namespace).Get(ctx, name, metav1.GetOptions{})
	t.Logf("job %s: %v, %+v", name, err, job)
	pods, err := shared.Admin.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + name})
	if err != nil {
		t.Error(err)
		return
	}
	for i := range pods.Items {
		t.Logf("pod %+v", pods.Items[i])
	}
	text, err := c.CLI(ctx, "events", "job/"+name, "-n", w.namespace)
	t.Logf("%v\n%s", err, text)
	w.mu.Lock()
	defer w.mu.Unlock()
	for uid, other := range w.created {
		if other == name {
			how, ended := w.ended[uid]
			t.Logf("created %s, ended %t %q, gone %t, pod %s", uid, ended, how, w.gone[uid], w.pods[uid])
		}
	}
}
