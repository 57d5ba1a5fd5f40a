package kubeapi

import (
	"context"

	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// ListWorkloads lists all Workloads of a namespace, past any cache.
func (c *Client) ListWorkloads(ctx context.Context, namespace string) ([]schedulingv1alpha2.Workload, error) {
	list := &schedulingv1alpha2.WorkloadList{}
	err := c.scheduling.Get().MaxRetries(0).Namespace(namespace).Resource("workloads").Do(ctx).Into(list)
	return list.Items, err
}

// ListPodGroups lists all PodGroups of a namespace, past any cache.
func (c *Client) ListPodGroups(ctx context.Context, namespace string) ([]schedulingv1alpha2.PodGroup, error) {
	list := &schedulingv1alpha2.PodGroupList{}
	err := c.scheduling.Get().MaxRetries(0).Namespace(namespace).Resource("podgroups").Do(ctx).Into(list)
	return list.Items, err
}

// GetWorkload reads a Workload, past any cache.
func (c *Client) GetWorkload(ctx context.Context, namespace, name string) (*schedulingv1alpha2.Workload, error) {
	w := &schedulingv1alpha2.Workload{}
	err := c.scheduling.Get().MaxRetries(0).Namespace(namespace).Resource("workloads").Name(name).Do(ctx).Into(w)
	return answer(w, err)
}

// CreateWorkload creates a Workload under its name.
func (c *Client) CreateWorkload(ctx context.Context, w *schedulingv1alpha2.Workload) (*schedulingv1alpha2.Workload, error) {
	created := &schedulingv1alpha2.Workload{}
	return answer(created, c.createGroup(ctx, "workloads", w.Namespace, w, created))
}

// CreatePodGroup creates a PodGroup under its name.
func (c *Client) CreatePodGroup(ctx context.Context, g *schedulingv1alpha2.PodGroup) (*schedulingv1alpha2.PodGroup, error) {
	created := &schedulingv1alpha2.PodGroup{}
	return answer(created, c.createGroup(ctx, "podgroups", g.Namespace, g, created))
}

func (c *Client) createGroup(ctx context.Context, resource, namespace string, o, created runtime.Object) error {
	return c.scheduling.Post().MaxRetries(0).
		Namespace(namespace).Resource(resource).
		VersionedParams(&metav1.CreateOptions{FieldManager: FieldManager}, scheme.ParameterCodec).
		Body(o).Do(ctx).Into(created)
}
