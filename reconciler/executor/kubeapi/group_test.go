package kubeapi

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
	"github.com/jobledger/jobledger/reconciler/executor"
)

var _ executor.GroupAPI = (*Client)(nil)

const (
	workloadSent = `{
		"kind": "Workload", "apiVersion": "scheduling.k8s.io/v1alpha2", "metadata": {"name": "w", "namespace": "ns"},
		"spec": {
			"controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"},
			"podGroupTemplates": [{"name": "t", "schedulingPolicy": {"gang": {"minCount": 3}}}]
		}
	}`
	podGroupSent = `{
		"kind": "PodGroup", "apiVersion": "scheduling.k8s.io/v1alpha2", "metadata": {"name": "g", "namespace": "ns"},
		"spec": {
			"podGroupTemplateRef": {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}},
			"schedulingPolicy": {"basic": {}}
		}
	}`
)

// object returns the object of an answer, with a version by which the test knows it.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	o.SetResourceVersion("7")
	return o
}

// TestGroupsAreSentAsKubernetes136HasThem compares what reached the server with the objects as JSON.
func TestGroupsAreSentAsKubernetes136HasThem(t *testing.T) {
	workload := &v1alpha2.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: "ns"},
		Spec: v1alpha2.WorkloadSpec{
			ControllerRef: &v1alpha2.ControllerRef{APIGroup: "batch", Kind: "Job", Name: "j"},
			PodGroupTemplates: []v1alpha2.PodGroupTemplate{{
				Name: "t", SchedulingPolicy: v1alpha2.Policy{Gang: &v1alpha2.GangPolicy{MinCount: 3}},
			}},
		},
	}
	group := &v1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: "g", Namespace: "ns"},
		Spec: v1alpha2.PodGroupSpec{
			PodGroupTemplateRef: &v1alpha2.TemplateRef{
				Workload: &v1alpha2.WorkloadTemplateRef{WorkloadName: "w", PodGroupTemplateName: "t"},
			},
			SchedulingPolicy: v1alpha2.Policy{Basic: &v1alpha2.BasicPolicy{}},
		},
	}
	rows := []struct {
		sentence, sent, path string
		create               func(*Client) (metav1.Object, error)
	}{
		{"a Workload", workloadSent, "workloads", func(c *Client) (metav1.Object, error) { return c.CreateWorkload(t.Context(), workload) }},
		{"a PodGroup", podGroupSent, "podgroups", func(c *Client) (metav1.Object, error) { return c.CreatePodGroup(t.Context(), group) }},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			client, last := serve(t, http.StatusCreated, 0, object(t, row.sent))
			created, err := row.create(client)
			if err != nil || created.GetResourceVersion() != "7" {
				t.Fatalf("answer %+v, %v: want the object of the server", created, err)
			}
			got, _ := last()
			want := reached{
				"POST", "/apis/scheduling.k8s.io/v1alpha2/namespaces/ns/" + row.path, "fieldManager=jobledger", runtime.ContentTypeJSON, got.Body,
			}
			if got != want {
				t.Errorf("%+v reached the server, want %+v", got, want)
			}
			body := object(t, got.Body)
			unstructured.RemoveNestedField(body.Object, "metadata", "creationTimestamp")
			if diff := cmp.Diff(object(t, row.sent), body); diff != "" {
				t.Errorf("the object (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGroupsAreReadPastAnyCache(t *testing.T) {
	list := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{*object(t, workloadSent)}}
	list.SetAPIVersion("scheduling.k8s.io/v1alpha2")
	list.SetKind("WorkloadList")
	client, last := serve(t, http.StatusOK, 0, list)
	workloads, err := client.ListWorkloads(t.Context(), "ns")
	if err != nil || len(workloads) != 1 || workloads[0].Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount != 3 {
		t.Errorf("Workloads %+v, %v", workloads, err)
	}
	if got, _ := last(); got.Path != "/apis/scheduling.k8s.io/v1alpha2/namespaces/ns/workloads" || got.Query != "" {
		t.Errorf("%+v reached the server", got)
	}

	client, last = serve(t, http.StatusOK, 0, object(t, workloadSent))
	if w, err := client.GetWorkload(t.Context(), "ns", "w"); err != nil || w.Spec.ControllerRef.Name != "j" {
		t.Errorf("Workload %+v, %v", w, err)
	}
	if got, _ := last(); got.Path != "/apis/scheduling.k8s.io/v1alpha2/namespaces/ns/workloads/w" {
		t.Errorf("%+v reached the server", got)
	}
}

// TestErrorsOfGroups: the client keeps the kind of an error. The executor needs it when an object is not there, or when
// it may not look (J-242).
func TestErrorsOfGroups(t *testing.T) {
	for code, is := range map[int]func(error) bool{
		http.StatusNotFound: apierrors.IsNotFound, http.StatusForbidden: apierrors.IsForbidden, http.StatusConflict: apierrors.IsAlreadyExists,
	} {
		reason := map[int]metav1.StatusReason{
			http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusForbidden: metav1.StatusReasonForbidden,
			http.StatusConflict: metav1.StatusReasonAlreadyExists,
		}[code]
		client, _ := serve(t, code, 0, &metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "said by the server",
		})
		_, listed := client.ListPodGroups(t.Context(), "ns")
		_, created := client.CreateWorkload(t.Context(), &v1alpha2.Workload{})
		for _, err := range []error{listed, created} {
			if !is(err) || err.Error() != "said by the server" {
				t.Errorf("HTTP %d became %v", code, err)
			}
		}
	}
}
