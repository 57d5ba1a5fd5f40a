package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// Actor is the name under which all HTTP requests are in the simulated server's log of writes.
const Actor = "controller"

var kinds = map[apiserver.Kind]schema.GroupVersionKind{
	apiserver.CronJobs: batchv1.SchemeGroupVersion.WithKind("CronJob"),
	apiserver.Jobs:     batchv1.SchemeGroupVersion.WithKind("Job"), apiserver.Pods: corev1.SchemeGroupVersion.WithKind("Pod"),
	apiserver.Leases: coordinationv1.SchemeGroupVersion.WithKind("Lease"),
}

// ServeHTTP implements http.Handler: it answers one request, as an API server does.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/version" {
		answer(w, http.StatusOK, map[string]string{"gitVersion": "v1.36.0"})
		return
	}
	target, err := parse(r.URL.Path)
	switch {
	case err != nil:
	case s.cfg.Forbid, target.kind == s.cfg.ForbidKind:
		err = apierrors.NewForbidden(target.resource(), target.name, errors.New("this user has no role"))
	case r.Method == http.MethodGet && target.name == "" && r.URL.Query().Get("watch") != "":
		err = s.watch(w, r, target)
	default:
		err = s.carryOut(w, r, target)
	}
	if err != nil {
		refuse(w, err)
	}
}

// carryOut answers all requests except watches.
func (s *Server) carryOut(w http.ResponseWriter, r *http.Request, p path) (err error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	var object any
	s.Do(func(*world.World) {
		s.note(r, body)
		object, err = s.serve(r, p, body)
	})
	if err != nil {
		return err
	}
	code := http.StatusOK
	if r.Method == http.MethodPost {
		code = http.StatusCreated
	}
	answer(w, code, object)
	return nil
}

// path is what a request is about: the kind, the object and the subresource in its URL.
type path struct {
	kind                         apiserver.Kind // a kind, or the constant events
	namespace, name, subresource string
}

// events is the resource name of Kubernetes Events, which the server accepts and drops.
const events = "events"

func (p path) resource() schema.GroupResource {
	return schema.GroupResource{Group: kinds[p.kind].Group, Resource: string(p.kind)}
}

// parse parses paths such as /api/v1/pods and /apis/batch/v1/namespaces/NS/jobs/NAME/status.
func parse(url string) (p path, err error) {
	_, rest, ok := strings.Cut(url, "/v1/")
	parts := strings.Split(rest, "/")
	if parts[0] == "namespaces" && len(parts) > 2 {
		p.namespace, parts = parts[1], parts[2:]
	}
	if !ok || len(parts) > 3 {
		return p, apierrors.NewNotFound(schema.GroupResource{}, url)
	}
	if _, served := kinds[apiserver.Kind(parts[0])]; !served && parts[0] != events {
		return p, apierrors.NewNotFound(schema.GroupResource{Resource: parts[0]}, url)
	}
	for i, field := range []*string{(*string)(&p.kind), &p.name, &p.subresource}[:len(parts)] {
		*field = parts[i]
	}
	return p, nil
}

// serve carries out a request and returns the object of the answer.
func (s *Server) serve(r *http.Request, p path, body []byte) (any, error) {
	client, ctx := s.client, r.Context()
	switch r.Method + " " + string(p.kind) + " " + p.subresource {
	case "POST events ", "PATCH events ":
		return json.RawMessage(`{}`), nil
	case "GET pods ", "GET jobs ", "GET cronjobs ", "GET leases ":
		if p.name == "" {
			return s.list(r, p)
		}
		return s.get(r, p)
	case "POST pods ":
		pod, err := decode[*corev1.Pod](body)
		if err != nil {
			return nil, err
		}
		pod.Namespace = p.namespace
		return typed(client.CreatePod(ctx, pod))
	case "POST jobs ":
		job, err := decode[*batchv1.Job](body)
		if err != nil {
			return nil, err
		}
		job.Namespace = p.namespace
		return typed(client.CreateJob(ctx, job))
	case "POST cronjobs ":
		cronJob, err := decode[*batchv1.CronJob](body)
		if err != nil {
			return nil, err
		}
		cronJob.Namespace = p.namespace
		return typed(client.CreateCronJob(ctx, cronJob))
	case "POST leases ":
		lease, err := decode[*coordinationv1.Lease](body)
		if err != nil {
			return nil, err
		}
		lease.Namespace = p.namespace
		return typed(client.CreateLease(ctx, lease))
	case "PATCH pods ":
		return typed(client.PatchPod(ctx, p.namespace, p.name, body))
	case "PUT leases ":
		lease, err := decode[*coordinationv1.Lease](body)
		if err != nil {
			return nil, err
		}
		return typed(client.UpdateLease(ctx, lease))
	case "PUT jobs status":
		job, err := decode[*batchv1.Job](body)
		if err != nil {
			return nil, err
		}
		return typed(client.UpdateJobStatus(ctx, job))
	case "PUT cronjobs ", "PUT cronjobs status":
		cronJob, err := decode[*batchv1.CronJob](body)
		if err != nil {
			return nil, err
		}
		if p.subresource == "" {
			return typed(client.UpdateCronJob(ctx, cronJob))
		}
		return typed(client.UpdateCronJobStatus(ctx, cronJob))
	case "DELETE pods ", "DELETE jobs ", "DELETE cronjobs ", "DELETE leases ":
		return s.remove(ctx, p, body)
	}
	return nil, apierrors.NewMethodNotSupported(p.resource(), r.Method)
}

// remove deletes the object of a request.
func (s *Server) remove(ctx context.Context, p path, body []byte) (any, error) {
	options := &metav1.DeleteOptions{}
	if len(body) > 0 {
		var err error
		if options, err = decode[*metav1.DeleteOptions](body); err != nil {
			return nil, err
		}
	}
	var want metav1.Preconditions
	if options.Preconditions != nil {
		want = *options.Preconditions
	}
	err := s.client.Delete(ctx, p.kind, p.namespace, p.name, apiserver.DeleteOptions{
		UID: deref(want.UID), ResourceVersion: deref(want.ResourceVersion), Propagation: deref(options.PropagationPolicy),
	})
	return &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess}, err
}

// get reads the object of a request.
func (s *Server) get(r *http.Request, p path) (any, error) {
	switch p.kind {
	case apiserver.Jobs:
		return typed(s.client.GetJob(r.Context(), p.namespace, p.name))
	case apiserver.CronJobs:
		return typed(s.client.GetCronJob(r.Context(), p.namespace, p.name))
	case apiserver.Leases:
		return typed(s.client.GetLease(r.Context(), p.namespace, p.name))
	}
	return typed(s.client.FindPod(r.Context(), p.namespace, p.name))
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// decode returns the object in the body of a request, which is protobuf or JSON.
func decode[T runtime.Object](body []byte) (o T, err error) {
	object, err := decodeAny(body)
	if err != nil {
		return o, apierrors.NewBadRequest(err.Error())
	}
	o, ok := object.(T)
	if !ok {
		return o, apierrors.NewBadRequest(fmt.Sprintf("a %T is not wanted here", object))
	}
	return o, nil
}

func decodeAny(body []byte) (runtime.Object, error) {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	return object, err
}

// typed returns an object with its kind set, which clients need to decode it.
func typed[T apiserver.Object](o T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	o.GetObjectKind().SetGroupVersionKind(kinds[apiserver.KindOf(o)])
	return o, nil
}

func (p path) in(o apiserver.Object) bool {
	return p.namespace == "" || o.GetNamespace() == p.namespace
}

func answer(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object) // an error means that the client is gone
}

// refuse answers with the Status of an error. An error without a Status, such as a timeout, cuts the connection.
func refuse(w http.ResponseWriter, err error) {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		panic(http.ErrAbortHandler) // net/http then closes the connection without an answer
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	answer(w, int(status.Code), status)
}
