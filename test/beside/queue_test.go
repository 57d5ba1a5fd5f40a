package beside

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/jobledger/jobledger/internal/dev/patience"
)

const (
	queueLabel    = "kueue.x-k8s.io/queue-name"
	priorityLabel = "kueue.x-k8s.io/priority-class"
	queueName     = "team-a"
)

// kueue returns the resource of Kueue with that plural.
func kueue(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: plural}
}

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

// object is an object of Kueue.
func object(kind, name string, rest map[string]any) *unstructured.Unstructured {
	o := map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": map[string]any{"name": name}}
	maps.Copy(o, rest)
	return &unstructured.Unstructured{Object: o}
}

// makeFlavors creates the objects that all scenarios share: a flavor for each pool of nodes, and the high priority
// class.
func makeFlavors(t *testing.T) {
	t.Helper()
	client, err := dynamic.NewForConfig(shared.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	for _, pool := range pools {
		spec := map[string]any{"spec": map[string]any{"nodeLabels": map[string]any{"pool": pool}}}
		if _, err := client.Resource(kueue("resourceflavors")).Create(ctx, object("ResourceFlavor", pool, spec), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	urgent := object("WorkloadPriorityClass", "urgent", map[string]any{"value": int64(1000)})
	if _, err := client.Resource(kueue("workloadpriorityclasses")).Create(ctx, urgent, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// quota is how much CPU of a pool a queue has. The queue tries the pools in order.
type quota struct{ pool, cpu string }

// makeQueue creates the queue of the scenario, and returns when Kueue has made it active.
func (w *world) makeQueue(quotas ...quota) {
	w.t.Helper()
	spec := map[string]any{
		"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": w.namespace}},
		"preemption":        map[string]any{"withinClusterQueue": "LowerPriority"},
		"resourceGroups":    resourceGroups(quotas),
	}
	queues := w.objects.Resource(kueue("clusterqueues"))
	_, err := queues.Create(w.t.Context(), object("ClusterQueue", w.namespace, map[string]any{"spec": spec}), metav1.CreateOptions{})
	w.must(err)
	local := object("LocalQueue", queueName, map[string]any{"spec": map[string]any{"clusterQueue": w.namespace}})
	_, err = w.objects.Resource(kueue("localqueues")).Namespace(w.namespace).Create(w.t.Context(), local, metav1.CreateOptions{})
	w.must(err)
	w.eventually("the queue is active", func() (string, error) {
		q, err := queues.Get(w.t.Context(), w.namespace, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		if is, said := conditionOf(q, "Active"); !is {
			return said, nil
		}
		return "", nil
	})
}

func resourceGroups(quotas []quota) []any {
	var flavors []any
	for _, q := range quotas {
		cpu := map[string]any{"name": "cpu", "nominalQuota": q.cpu}
		flavors = append(flavors, map[string]any{"name": q.pool, "resources": []any{cpu}})
	}
	return []any{map[string]any{"coveredResources": []any{"cpu"}, "flavors": flavors}}
}

// changeQueue changes the spec of the queue by a merge patch.
func (w *world) changeQueue(spec map[string]any) {
	w.t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": spec})
	w.must(err)
	_, err = w.objects.Resource(kueue("clusterqueues")).Patch(w.t.Context(), w.namespace, types.MergePatchType, patch, metav1.PatchOptions{})
	w.must(err)
}

// queued puts a Job into the queue. It does not set suspend: Kueue's webhook must do that.
func queued(job *batchv1.Job) *batchv1.Job {
	job.Labels = map[string]string{queueLabel: queueName}
	return job
}

// waits waits until Kueue says that there is no room for a Job, or for another owner of a workload.
func (w *world) waits(owner types.UID) {
	w.t.Helper()
	w.workload(owner, "has no quota", func(o *unstructured.Unstructured) string {
		if i := slices.IndexFunc(conditions(o), func(c map[string]any) bool { return c["type"] == "QuotaReserved" && c["status"] == "False" }); i < 0 {
			return fmt.Sprint(conditions(o))
		}
		return ""
	})
}

// workload waits until nothing is missing from the workload that Kueue made for an owner.
func (w *world) workload(owner types.UID, what string, missing func(*unstructured.Unstructured) string) {
	w.t.Helper()
	w.eventually("the workload "+what, func() (string, error) {
		list, err := w.objects.Resource(kueue("workloads")).Namespace(w.namespace).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return "", err
		}
		for i := range list.Items {
			o := &list.Items[i]
			if slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner }) {
				return missing(o), nil
			}
		}
		return fmt.Sprintf("there are %d workloads, and none of it", len(list.Items)), nil
	})
}

func conditions(o *unstructured.Unstructured) (all []map[string]any) {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range list {
		all = append(all, c.(map[string]any))
	}
	return all
}

// conditionOf reports whether a condition of an object is true, and returns its text.
func conditionOf(o *unstructured.Unstructured, kind string) (is bool, said string) {
	for _, c := range conditions(o) {
		if c["type"] == kind {
			return c["status"] == "True", fmt.Sprint(c)
		}
	}
	return false, fmt.Sprintf("%s has no condition %s: %v", o.GetName(), kind, conditions(o))
}

// holds checks for a while that something does not change.
func (w *world) holds(what string, still func() error) {
	w.t.Helper()
	end := time.NewTimer(2 * time.Second)
	defer end.Stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := still(); err != nil {
			w.t.Fatalf("%s: %v", what, err)
		}
		select {
		case <-end.C:
			return
		case <-tick.C:
		}
	}
}
