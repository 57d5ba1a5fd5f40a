package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// front is an API server for client-go: it serves lists and watches of CronJobs, Jobs and Pods in a simulated cluster,
// and their controllers' writes. A goroutine that has its lock may use the cluster. Locking also sets the cluster's
// clock to the time of the synctest bubble.
type front struct {
	*cluster
	mu      sync.Mutex
	moved   *sync.Cond              // wakes readers of watches, when there may be something new
	changed chan struct{}           // wakes pass, when something may be due earlier
	paused  map[apiserver.Kind]bool // kinds of objects whose watches wait until all actions of a step are done
	manner  manner
}

func newFront(c *cluster) *front {
	f := &front{cluster: c, changed: make(chan struct{}, 1), paused: map[apiserver.Kind]bool{}}
	f.moved = sync.NewCond(&f.mu)
	return f
}

func (f *front) lock() {
	f.mu.Lock()
	f.world.Clock.AdvanceTo(time.Now())
	f.settle()
}

func (f *front) unlock() {
	f.settle()
	f.moved.Broadcast()
	f.mu.Unlock()
}

// wake wakes pass, because something may be due earlier than before.
func (f *front) wake() {
	select {
	case f.changed <- struct{}{}:
	default: // pass has not read the previous value yet, so it will wake anyway
	}
}

// connect returns an HTTP transport for client-go that leads to front, the simulated API server. Its connections end
// when ctx ends.
func (f *front) connect(ctx context.Context) http.RoundTripper { return &transport{f, ctx} }

type transport struct {
	*front
	life context.Context // ends with the controller's process
}

// RoundTrip answers one request as the API server would.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.life.Err() != nil {
		return nil, t.life.Err()
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
	}
	t.queue(r, body)
	t.lock()
	defer t.unlock()
	defer t.wake()
	answer, err := t.serve(r, body)
	if s, ok := status(err); ok {
		s.Kind, s.APIVersion = "Status", "v1"
		return t.respond(r, int(s.Code), s)
	}
	if err != nil {
		return nil, err // err is no answer of the server, so the connection itself failed
	}
	if stream, ok := answer.(*stream); ok {
		return &http.Response{StatusCode: http.StatusOK, Header: jsonHeader(), Body: stream, Request: r, ProtoMajor: 1, ProtoMinor: 1}, nil
	}
	code := http.StatusOK
	if r.Method == http.MethodPost {
		code = http.StatusCreated
	}
	return t.respond(r, code, answer)
}

// queue delays the create of a pod by some nanoseconds, more for a higher index. So creates that are sent at the same
// time arrive in the order of the indexes, as Jobledger's do. It does nothing with the manner asItComes, in which the
// goroutines decide the order.
func (t *transport) queue(r *http.Request, body []byte) {
	if t.manner == asItComes || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/pods") {
		return
	}
	if pod, err := decode[corev1.Pod](body); err == nil {
		index, _ := strconv.Atoi(indexOf(pod)) // the result is 0 if the pod has no index
		sleep(time.Duration(index))
	}
}

func jsonHeader() http.Header { return http.Header{"Content-Type": []string{"application/json"}} }

func (t *transport) respond(r *http.Request, code int, answer any) (*http.Response, error) {
	text, raw := answer.([]byte)
	if !raw {
		var err error
		if text, err = json.Marshal(answer); err != nil {
			return nil, fmt.Errorf("encode an answer: %w", err)
		}
	}
	header := jsonHeader()
	if s, ok := answer.(*metav1.Status); ok && s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		header.Set("Retry-After", strconv.Itoa(int(s.Details.RetryAfterSeconds)))
	}
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Header: header, Body: io.NopCloser(bytes.NewReader(text)),
		ContentLength: int64(len(text)), Request: r, ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// status returns the Status in err with which the API server answered. ok is false if there is none.
func status(err error) (*metav1.Status, bool) {
	var answered apierrors.APIStatus
	if !errors.As(err, &answered) {
		return nil, false
	}
	s := answered.Status()
	return &s, true
}

// serve carries out a request. Paths look like /api/v1/pods and /apis/batch/v1/namespaces/NS/jobs/NAME/status.
func (t *transport) serve(r *http.Request, body []byte) (any, error) {
	path := strings.Split(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/apis/batch/v1/"), "/api/v1/"), "/")
	if len(path) == 1 {
		return t.read(r, apiserver.Kind(path[0]))
	}
	if len(path) < 3 {
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{}, "", "", 0, true)
	}
	path = path[2:] // skip the two parts namespaces/NS
	ctx, name := r.Context(), ""
	if len(path) > 1 {
		name = path[1]
	}
	switch r.Method + " " + path[0] {
	case "POST events", "PATCH events":
		return body, nil // accept Events and drop them: eventSink reads them from upstream's log messages
	case "POST pods":
		pod, err := decode[corev1.Pod](body)
		if err != nil {
			return nil, err
		}
		pod.Namespace = namespace
		return t.write(t.client, t.admit("create", "", pod), func() (any, error) { return typed(t.client.CreatePod(ctx, pod)) })
	case "PATCH pods":
		return t.write(t.client, t.admit("patch", name, nil), func() (any, error) { return typed(t.client.PatchPod(ctx, namespace, name, body)) })
	case "DELETE pods":
		return t.write(t.client, t.admit("delete", name, nil), func() (any, error) {
			return &metav1.Status{Status: metav1.StatusSuccess}, t.client.DeletePod(ctx, namespace, name, "", "")
		})
	case "POST jobs":
		job, err := decode[batchv1.Job](body)
		if err != nil {
			return nil, err
		}
		job.Namespace = namespace
		return t.write(t.runner, t.admit("createjob", job.Name, nil), func() (any, error) { return typed(t.runner.CreateJob(ctx, job)) })
	case "GET cronjobs":
		return t.write(t.runner, t.admit("getcron", name, nil), func() (any, error) { return typed(t.runner.GetCronJob(ctx, namespace, name)) })
	case "PUT cronjobs":
		cronJob, err := decode[batchv1.CronJob](body)
		if err != nil {
			return nil, err
		}
		return t.write(t.runner, t.admit("cronstatus", name, nil), func() (any, error) { return typed(t.runner.UpdateCronJobStatus(ctx, cronJob)) })
	case "PUT jobs":
		job, err := decode[batchv1.Job](body)
		if err != nil {
			return nil, err
		}
		return t.write(t.client, t.admit("status", name, nil), func() (any, error) { return typed(t.client.UpdateJobStatus(ctx, job)) })
	case "DELETE jobs":
		options, err := decode[metav1.DeleteOptions](body)
		if err != nil {
			return nil, err
		}
		uid, policy := types.UID(""), metav1.DeletionPropagation("")
		if options.Preconditions != nil && options.Preconditions.UID != nil {
			uid = *options.Preconditions.UID
		}
		if options.PropagationPolicy != nil {
			policy = *options.PropagationPolicy
		}
		return t.write(t.client, t.admit("remove", name, nil), func() (any, error) {
			return &metav1.Status{Status: metav1.StatusSuccess}, t.client.DeleteJob(ctx, namespace, name, uid, policy)
		})
	case "GET jobs":
		return t.write(t.client, t.admit("get", name, nil), func() (any, error) { return typed(t.client.GetJob(ctx, namespace, name)) })
	}
	return nil, fmt.Errorf("the oracle does not serve %s %s", r.Method, r.URL.Path)
}

// write makes a write with this client after setting the fault that it gets.
func (t *transport) write(client *apiserver.Client, fault apiserver.Fault, do func() (any, error)) (any, error) {
	client.FailNext(fault)
	return do()
}

func decode[T any](body []byte) (*T, error) {
	var o T
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, fmt.Errorf("decode a request: %w", err)
	}
	return &o, nil
}

// typed returns an object with its kind set; without the kind, clients cannot decode it.
func typed[T apiserver.Object](o T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	o.GetObjectKind().SetGroupVersionKind(kinds[apiserver.KindOf(o)])
	return o, nil
}

var kinds = map[apiserver.Kind]schema.GroupVersionKind{
	apiserver.CronJobs: batchv1.SchemeGroupVersion.WithKind("CronJob"), apiserver.Jobs: batchv1.SchemeGroupVersion.WithKind("Job"),
	apiserver.Pods: corev1.SchemeGroupVersion.WithKind("Pod"),
}

// read lists or watches the objects of a kind.
func (t *transport) read(r *http.Request, kind apiserver.Kind) (any, error) {
	query := r.URL.Query()
	if t.spent {
		return nil, errors.New("the process has died")
	}
	list := t.world.Server.List(kind)
	if query.Get("watch") == "" {
		items := make([]any, len(list.Items))
		for i, o := range list.Items {
			items[i], _ = typed(o, nil)
		}
		return map[string]any{
			"kind": kinds[kind].Kind + "List", "apiVersion": kinds[kind].GroupVersion().String(),
			"metadata": map[string]string{"resourceVersion": strconv.FormatUint(list.Version, 10)}, "items": items,
		}, nil
	}
	s := &stream{front: t.front, kind: kind}
	from := list.Version
	if query.Get("sendInitialEvents") == "true" {
		for _, o := range list.Items {
			if err := s.add("ADDED", o); err != nil {
				return nil, err
			}
		}
		if err := s.bookmark(list.Version); err != nil {
			return nil, err
		}
	} else if n, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64); err == nil {
		from = n
	}
	var err error
	if s.cursor, err = t.world.Server.Watch(kind, from); err != nil {
		return nil, err
	}
	for _, ctx := range []context.Context{r.Context(), t.life} {
		context.AfterFunc(ctx, s.end)
	}
	return s, nil
}
