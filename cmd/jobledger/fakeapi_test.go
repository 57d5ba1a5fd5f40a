package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// fakeAPI is as much of an API server as release asks: it lists in pages of at most two, patches the finalizers of pods, and
// replaces and deletes Leases. Labels of an object say how it behaves:
//
//	refuse: word     a patch is forbidden, with that word
//	busy: "2"        so many patches are answered with 429 first
//	replaced: "yes"  when the patch arrives, another pod has the name
//	renews: "yes"    the Lease is renewed before each read of it
//	appears: "yes"   the pod is not listed until another one has been patched
type fakeAPI struct {
	writes string // the file that gets a line for each write

	mu      sync.Mutex
	objects []*unstructured.Unstructured
	patched bool
}

// startFakeAPI serves the objects of a file: fakeapi KUBECONFIG OBJECTS WRITES. It writes the kubeconfig, and a line for each write.
func startFakeAPI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: fakeapi KUBECONFIG OBJECTS WRITES")
	}
	api := &fakeAPI{writes: ts.MkAbs(args[2])}
	for text := range strings.SplitSeq(ts.ReadFile(args[1]), "\n---\n") {
		object := &unstructured.Unstructured{}
		ts.Check(yaml.Unmarshal([]byte(text), &object.Object))
		if object.GetUID() == "" {
			object.SetUID(types.UID("uid-" + object.GetName()))
		}
		object.SetResourceVersion("7")
		api.objects = append(api.objects, object)
	}
	ts.Check(os.WriteFile(api.writes, nil, 0o600))
	server := httptest.NewServer(api)
	ts.Defer(server.Close)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), openKubeconfig(server.URL), 0o600))
}

// openKubeconfig is a kubeconfig of an API server that lets everybody in.
func openKubeconfig(server string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: %q}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
users: [{name: a, user: {}}]
`, server)
}

var kinds = map[string]string{"pods": "Pod", "jobs": "Job", "leases": "Lease"}

func (a *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	path = path[slices.Index(path, "v1")+1:]
	namespace := ""
	if path[0] == "namespaces" {
		namespace, path = path[1], path[2:]
	}
	kind := kinds[path[0]]
	if len(path) == 1 {
		a.list(w, r, kind, namespace)
		return
	}
	object := a.find(kind, namespace, path[1])
	switch {
	case object == nil:
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "there is none", nil)
	case r.Method == http.MethodGet:
		if object.GetLabels()["renews"] != "" {
			now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
			_ = unstructured.SetNestedField(object.Object, now, "spec", "renewTime")
		}
		answer(w, object)
	case r.Method == http.MethodPatch:
		a.patch(w, r, object)
	case r.Method == http.MethodPut:
		a.put(w, r, object)
	case r.Method == http.MethodDelete:
		a.delete(w, r, object)
	}
}

func (a *fakeAPI) find(kind, namespace, name string) *unstructured.Unstructured {
	for _, o := range a.objects {
		if o.GetKind() == kind && o.GetNamespace() == namespace && o.GetName() == name {
			return o
		}
	}
	return nil
}

func (a *fakeAPI) list(w http.ResponseWriter, r *http.Request, kind, namespace string) {
	all := []any{}
	for _, o := range a.objects {
		if o.GetKind() == kind && (namespace == "" || o.GetNamespace() == namespace) && (o.GetLabels()["appears"] == "" || a.patched) {
			all = append(all, o.Object)
		}
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	meta := map[string]any{"resourceVersion": "9000"}
	page := all[from:]
	if len(page) > 2 && r.URL.Query().Get("limit") != "" {
		page = page[:2]
		meta["continue"] = strconv.Itoa(from + 2)
	}
	answer(w, map[string]any{
		"kind": kind + "List", "apiVersion": map[string]string{"Pod": "v1", "Job": "batch/v1", "Lease": "coordination.k8s.io/v1"}[kind],
		"metadata": meta, "items": page,
	})
}

func (a *fakeAPI) patch(w http.ResponseWriter, r *http.Request, o *unstructured.Unstructured) {
	body, _ := io.ReadAll(r.Body)
	a.note(r, string(body))
	labels := o.GetLabels()
	if n, _ := strconv.Atoi(labels["busy"]); n > 0 {
		labels["busy"] = strconv.Itoa(n - 1)
		o.SetLabels(labels)
		w.Header().Set("Retry-After", "0")
		refuse(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "later", nil)
		return
	}
	if labels["refuse"] != "" {
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, labels["refuse"], nil)
		return
	}
	if labels["replaced"] != "" {
		o.SetUID("another")
		o.SetFinalizers(nil)
	}
	var patch struct {
		Metadata struct {
			UID    types.UID
			Delete []string `json:"$deleteFromPrimitiveList/finalizers"`
		}
	}
	if err := json.Unmarshal(body, &patch); err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error(), nil)
		return
	}
	if patch.Metadata.UID != o.GetUID() {
		refuse(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "immutable",
			&metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.uid"}}})
		return
	}
	o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return slices.Contains(patch.Metadata.Delete, f) }))
	a.patched = true
	answer(w, o)
}

// put replaces an object: a Lease that is taken.
func (a *fakeAPI) put(w http.ResponseWriter, r *http.Request, o *unstructured.Unstructured) {
	body, _ := io.ReadAll(r.Body)
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err == nil {
		var content map[string]any
		if content, err = runtime.DefaultUnstructuredConverter.ToUnstructured(decoded); err == nil {
			content["kind"], content["apiVersion"] = o.GetKind(), o.GetAPIVersion()
			o.Object = content
		}
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error(), nil)
		return
	}
	answer(w, o)
}

func (a *fakeAPI) delete(w http.ResponseWriter, r *http.Request, o *unstructured.Unstructured) {
	body, _ := io.ReadAll(r.Body)
	var options metav1.DeleteOptions
	if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, &options); err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error(), nil)
		return
	}
	p := options.Preconditions
	if p == nil || p.UID == nil || *p.UID != o.GetUID() || p.ResourceVersion == nil || *p.ResourceVersion != o.GetResourceVersion() {
		refuse(w, http.StatusConflict, metav1.StatusReasonConflict, fmt.Sprintf("preconditions %v", p), nil)
		return
	}
	a.note(r, "")
	a.objects = slices.DeleteFunc(a.objects, func(other *unstructured.Unstructured) bool { return other == o })
	answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
}

// note writes a line about a write.
func (a *fakeAPI) note(r *http.Request, body string) {
	f, err := os.OpenFile(a.writes, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+body))
}

func answer(w http.ResponseWriter, object any) {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.Copy(w, bytes.NewReader(text))
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, message string, details *metav1.StatusDetails) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message, Details: details,
	})
}
