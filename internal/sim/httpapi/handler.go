package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/jobledger/jobledger/internal/sim/apiserver"
	"github.com/jobledger/jobledger/internal/sim/world"
)

// Actor is the name under which all that comes by HTTP is logged.
const Actor = "controller"

var kinds = map[apiserver.Kind]schema.GroupVersionKind{
	apiserver.Jobs: batchv1.SchemeGroupVersion.WithKind("Job"), apiserver.Pods: corev1.SchemeGroupVersion.WithKind("Pod"),
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/version" {
		answer(w, http.StatusOK, map[string]string{"gitVersion": "v1.36.0"})
		return
	}
	target, err := parse(r.URL.Path)
	switch {
	case err != nil:
	case r.Method == http.MethodGet && target.name == "" && r.URL.Query().Get("watch") != "":
		err = s.watch(w, r, target)
	default:
		var object any
		s.Do(func(world *world.World) { object, err = serve(world.Server, r, target) })
		if err == nil {
			code := http.StatusOK
			if r.Method == http.MethodPost {
				code = http.StatusCreated
			}
			answer(w, code, object)
		}
	}
	if err != nil {
		refuse(w, err)
	}
}

// path is what a request is about.
type path struct {
	kind                         apiserver.Kind // or events
	namespace, name, subresource string
}

// parse takes /api/v1/pods, /apis/batch/v1/namespaces/NS/jobs/NAME/status and the like.
func parse(url string) (p path, err error) {
	_, rest, ok := strings.Cut(url, "/v1/")
	parts := strings.Split(rest, "/")
	if parts[0] == "namespaces" && len(parts) > 2 {
		p.namespace, parts = parts[1], parts[2:]
	}
	if !ok || len(parts) > 3 {
		return p, apierrors.NewNotFound(schema.GroupResource{}, url)
	}
	for i, field := range []*string{(*string)(&p.kind), &p.name, &p.subresource}[:len(parts)] {
		*field = parts[i]
	}
	return p, nil
}

// serve carries out what is no watch.
func serve(server *apiserver.Server, r *http.Request, p path) (any, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	client, ctx := server.Client(Actor), r.Context()
	switch r.Method + " " + string(p.kind) + " " + p.subresource {
	case "POST events ", "PATCH events ":
		return json.RawMessage(`{}`), nil
	case "GET pods ", "GET jobs ":
		if p.name == "" {
			return list(server, r, p), nil
		}
		if p.kind == apiserver.Jobs {
			return typed(client.GetJob(ctx, p.namespace, p.name))
		}
		return typed(client.FindPod(ctx, p.namespace, p.name))
	case "POST pods ":
		pod, err := decode[*corev1.Pod](body)
		if err != nil {
			return nil, err
		}
		pod.Namespace = p.namespace
		return typed(client.CreatePod(ctx, pod))
	case "PATCH pods ":
		return typed(client.PatchPod(ctx, p.namespace, p.name, body))
	case "DELETE pods ":
		options, err := decode[*metav1.DeleteOptions](body)
		if err != nil {
			return nil, err
		}
		var want metav1.Preconditions
		if options.Preconditions != nil {
			want = *options.Preconditions
		}
		err = client.DeletePod(ctx, p.namespace, p.name, deref(want.UID), deref(want.ResourceVersion))
		return &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess}, err
	case "PUT jobs status":
		job, err := decode[*batchv1.Job](body)
		if err != nil {
			return nil, err
		}
		return typed(client.UpdateJobStatus(ctx, job))
	}
	return nil, apierrors.NewMethodNotSupported(schema.GroupResource{Resource: string(p.kind)}, r.Method)
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// decode reads protobuf or JSON.
func decode[T runtime.Object](body []byte) (o T, err error) {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return o, apierrors.NewBadRequest(err.Error())
	}
	o, ok := object.(T)
	if !ok {
		return o, apierrors.NewBadRequest(fmt.Sprintf("a %T is not wanted here", object))
	}
	return o, nil
}

// typed is an object with its kind, which clients need to decode it.
func typed[T apiserver.Object](o T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	o.GetObjectKind().SetGroupVersionKind(kinds[apiserver.KindOf(o)])
	return o, nil
}

// list is all objects of a kind, or those that the request asks for by namespace or name.
func list(server *apiserver.Server, r *http.Request, p path) any {
	all := server.List(p.kind)
	items := []any{}
	_, name, _ := strings.Cut(r.URL.Query().Get("fieldSelector"), metav1.ObjectNameField+"=")
	for _, o := range all.Items {
		if p.in(o) && (name == "" || o.GetName() == name) {
			o, _ := typed(o, nil)
			items = append(items, o)
		}
	}
	return map[string]any{
		"kind": kinds[p.kind].Kind + "List", "apiVersion": kinds[p.kind].GroupVersion().String(),
		"metadata": map[string]string{"resourceVersion": strconv.FormatUint(all.Version, 10)}, "items": items,
	}
}

func (p path) in(o apiserver.Object) bool {
	return p.namespace == "" || o.GetNamespace() == p.namespace
}

func answer(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object) // the client may be gone
}

// refuse answers with the Status of an error.
func refuse(w http.ResponseWriter, err error) {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	answer(w, int(status.Code), status)
}
