package kubeapi

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

// CreateJob creates a Job under its name.
func (c *Client) CreateJob(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	created := &batchv1.Job{}
	err := c.batch.Post().MaxRetries(0).
		Namespace(job.Namespace).Resource("jobs").
		VersionedParams(&metav1.CreateOptions{FieldManager: FieldManager}, scheme.ParameterCodec).
		Body(job).Do(ctx).Into(created)
	return answer(created, err)
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
func (c *Client) UpdateCronJobStatus(ctx context.Context, cronJob *batchv1.CronJob) (*batchv1.CronJob, error) {
	stored := &batchv1.CronJob{}
	err := c.batch.Put().MaxRetries(0).
		Namespace(cronJob.Namespace).Resource("cronjobs").Name(cronJob.Name).SubResource("status").
		VersionedParams(&metav1.UpdateOptions{FieldManager: FieldManager}, scheme.ParameterCodec).
		Body(cronJob).Do(ctx).Into(stored)
	return answer(stored, err)
}

// GetCronJob reads a CronJob, past any cache.
func (c *Client) GetCronJob(ctx context.Context, namespace, name string) (*batchv1.CronJob, error) {
	cronJob := &batchv1.CronJob{}
	err := c.batch.Get().MaxRetries(0).
		Namespace(namespace).Resource("cronjobs").Name(name).
		Do(ctx).Into(cronJob)
	return answer(cronJob, err)
}

// GetRun reads a Job, past any cache.
func (c *Client) GetRun(ctx context.Context, namespace, name string) (*batchv1.Job, error) {
	job := &batchv1.Job{}
	err := c.batch.Get().MaxRetries(0).
		Namespace(namespace).Resource("jobs").Name(name).
		Do(ctx).Into(job)
	return answer(job, err)
}
