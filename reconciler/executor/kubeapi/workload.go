package kubeapi

import (
	"context"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Requests for scheduling.k8s.io/v1beta1. They use the REST client for Jobs, because they are few, and only a small
// part of each answer is read.

const (
	workloads     = "workloads"
	podGroups     = "podgroups"
	betaWorkloads = "scheduling.k8s.io/v1beta1"
	workloadPage  = 500 // objects in one answer of a list
)

// ReadWorkload reads a Workload, past any cache.
func (c *Client) ReadWorkload(ctx context.Context, namespace, name string) (*kubewire.Workload, error) {
	return answered(ctx, betaRequest(c.batch.Get(), namespace, workloads, name), kubewire.ReadWorkload)
}

// ReadWorkloads lists one page of a namespace's Workloads, past any cache. next is the token for the next page.
func (c *Client) ReadWorkloads(ctx context.Context, namespace, page string) (all []*kubewire.Workload, next string, err error) {
	r := betaRequest(c.batch.Get(), namespace, workloads).Param("limit", strconv.Itoa(workloadPage))
	if page != "" {
		r = r.Param("continue", page)
	}
	all, err = answered(ctx, r, func(answer []byte) (all []*kubewire.Workload, err error) {
		all, next, err = kubewire.ReadWorkloads(answer)
		return all, err
	})
	return all, next, err
}

// MakeWorkload creates a Workload under its name.
func (c *Client) MakeWorkload(ctx context.Context, namespace string, workload []byte) (kubewire.Stored, error) {
	return c.makeBeta(ctx, namespace, workloads, "Workload", workload)
}

// PatchWorkload changes a Workload.
func (c *Client) PatchWorkload(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error) {
	return c.patchBeta(ctx, namespace, workloads, name, patch)
}

// ReadPodGroup reads a PodGroup, past any cache.
func (c *Client) ReadPodGroup(ctx context.Context, namespace, name string) (*kubewire.PodGroup, error) {
	return answered(ctx, betaRequest(c.batch.Get(), namespace, podGroups, name), kubewire.ReadPodGroup)
}

// MakePodGroup creates a PodGroup under its name.
func (c *Client) MakePodGroup(ctx context.Context, namespace string, group []byte) (kubewire.Stored, error) {
	return c.makeBeta(ctx, namespace, podGroups, "PodGroup", group)
}

// PatchPodGroup changes a PodGroup.
func (c *Client) PatchPodGroup(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error) {
	return c.patchBeta(ctx, namespace, podGroups, name, patch)
}

func (c *Client) makeBeta(ctx context.Context, namespace, resource, kind string, object []byte) (kubewire.Stored, error) {
	r := betaRequest(c.batch.Post(), namespace, resource).Param("fieldManager", FieldManager).
		SetHeader("Content-Type", runtime.ContentTypeProtobuf).Body(kubewire.Wrap(betaWorkloads, kind, object))
	return answered(ctx, r, kubewire.ReadStored)
}

func (c *Client) patchBeta(ctx context.Context, namespace, resource, name string, patch []byte) (kubewire.Stored, error) {
	r := betaRequest(c.batch.Patch(types.JSONPatchType), namespace, resource, name).Param("fieldManager", FieldManager).Body(patch)
	return answered(ctx, r, kubewire.ReadStored)
}

func betaRequest(r *rest.Request, namespace, resource string, name ...string) *rest.Request {
	path := append([]string{"/apis", betaWorkloads, "namespaces", namespace, resource}, name...)
	return r.MaxRetries(0).AbsPath(path...).SetHeader("Accept", runtime.ContentTypeProtobuf)
}

// answered sends a request, and decodes the answer with read.
func answered[T any](ctx context.Context, r *rest.Request, read func([]byte) (T, error)) (T, error) {
	var none T
	result := r.Do(ctx)
	if err := result.Error(); err != nil { // only Error decodes the server's explanation
		return none, err
	}
	raw, err := result.Raw()
	if err != nil {
		return none, err
	}
	return read(raw)
}
