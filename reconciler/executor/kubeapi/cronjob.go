package kubeapi

import (
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/internal/wire/kubewire/request"
)

// CreateJob creates a Job under its name.
func (c *Client) CreateJob(ctx context.Context, namespace string, job kubewire.Body) (*kubewire.Job, error) {
	return read(ctx, c.jobs, kubewire.Jobs, &request.Request{
		Verb: http.MethodPost, Namespace: namespace, Resource: "jobs", Query: byUs, ContentType: job.Type, Body: job.Bytes,
	})
}

// DeleteRun deletes a Job with that UID, and its pods in the background.
func (c *Client) DeleteRun(ctx context.Context, namespace, name string, uid types.UID) error {
	background := metav1.DeletePropagationBackground
	return c.batch.Delete().MaxRetries(0).
		Namespace(namespace).Resource("jobs").Name(name).
		Body(&metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid}}).
		Do(ctx).Error()
}

// UpdateCronJobStatus replaces the status of a CronJob at its resourceVersion.
func (c *Client) UpdateCronJobStatus(ctx context.Context, namespace, name string, cronJob kubewire.Body) (*kubewire.CronJob, error) {
	return read(ctx, c.jobs, kubewire.CronJobs, &request.Request{
		Verb: http.MethodPut, Namespace: namespace, Resource: "cronjobs", Name: name, Subresource: "status", Query: byUs,
		ContentType: cronJob.Type, Body: cronJob.Bytes,
	})
}

// GetCronJob reads a CronJob, past any cache.
func (c *Client) GetCronJob(ctx context.Context, namespace, name string) (*kubewire.CronJob, error) {
	return read(ctx, c.jobs, kubewire.CronJobs, &request.Request{Verb: http.MethodGet, Namespace: namespace, Resource: "cronjobs", Name: name})
}

// GetRun reads a Job, past any cache.
func (c *Client) GetRun(ctx context.Context, namespace, name string) (*kubewire.Job, error) {
	return c.GetJob(ctx, namespace, name)
}
