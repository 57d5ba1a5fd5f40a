package kubeapi

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
)

// ListWorkloads lists all Workloads of a namespace, past any cache.
func (c *Client) ListWorkloads(ctx context.Context, namespace string) ([]v1alpha2.Workload, error) {
	return listGroups[v1alpha2.Workload](ctx, c, namespace, "workloads")
}

// ListPodGroups lists all PodGroups of a namespace, past any cache.
func (c *Client) ListPodGroups(ctx context.Context, namespace string) ([]v1alpha2.PodGroup, error) {
	return listGroups[v1alpha2.PodGroup](ctx, c, namespace, "podgroups")
}

func listGroups[T any](ctx context.Context, c *Client, namespace, resource string) ([]T, error) {
	list, err := readGroup[struct{ Items []T }](ctx, groupRequest(c.batch.Get(), namespace, resource))
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// GetWorkload reads a Workload, past any cache.
func (c *Client) GetWorkload(ctx context.Context, namespace, name string) (*v1alpha2.Workload, error) {
	return readGroup[v1alpha2.Workload](ctx, groupRequest(c.batch.Get(), namespace, "workloads", name))
}

// CreateWorkload creates a Workload under its name.
func (c *Client) CreateWorkload(ctx context.Context, w *v1alpha2.Workload) (*v1alpha2.Workload, error) {
	return createGroup[v1alpha2.Workload](ctx, c, w.Namespace, "workloads", w.Sent())
}

// CreatePodGroup creates a PodGroup under its name.
func (c *Client) CreatePodGroup(ctx context.Context, g *v1alpha2.PodGroup) (*v1alpha2.PodGroup, error) {
	return createGroup[v1alpha2.PodGroup](ctx, c, g.Namespace, "podgroups", g.Sent())
}

func createGroup[T any](ctx context.Context, c *Client, namespace, resource string, o any) (*T, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode an object for %s: %w", resource, err)
	}
	r := groupRequest(c.batch.Post(), namespace, resource).
		Param("fieldManager", FieldManager).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body)
	return readGroup[T](ctx, r)
}

// groupRequest prepares a request about Workloads or PodGroups. It uses the client for Jobs, because client-go has none
// for this API version.
func groupRequest(r *rest.Request, namespace, resource string, name ...string) *rest.Request {
	path := append([]string{"/apis", v1alpha2.GroupVersion.Group, v1alpha2.GroupVersion.Version, "namespaces", namespace, resource}, name...)
	return r.MaxRetries(0).AbsPath(path...).SetHeader("Accept", runtime.ContentTypeJSON)
}

func readGroup[T any](ctx context.Context, r *rest.Request) (*T, error) {
	result := r.Do(ctx)
	if err := result.Error(); err != nil { // only Error decodes the server's explanation
		return nil, err
	}
	raw, err := result.Raw()
	if err != nil {
		return nil, err
	}
	o := new(T)
	if err := json.Unmarshal(raw, o); err != nil {
		return nil, fmt.Errorf("read an answer of the API server: %w", err)
	}
	return o, nil
}
