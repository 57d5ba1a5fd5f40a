package kubeapi

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// FieldManager is the name under which the API server notes what was written.
const FieldManager = "jobledger"

// Client makes requests. It is the executor's API and GroupAPI.
type Client struct {
	core       rest.Interface
	batch      rest.Interface
	scheduling rest.Interface
}

// New makes a client of a clientset. A fake clientset has no REST client underneath, and is refused.
func New(clientset kubernetes.Interface) (*Client, error) {
	c := &Client{
		core: clientset.CoreV1().RESTClient(), batch: clientset.BatchV1().RESTClient(),
		scheduling: clientset.SchedulingV1alpha2().RESTClient(),
	}
	for _, r := range []rest.Interface{c.core, c.batch, c.scheduling} {
		if client, ok := r.(*rest.RESTClient); ok && client == nil {
			return nil, errors.New("kubeapi: the clientset has no REST client: it is a fake")
		}
	}
	return c, nil
}

// CreatePod creates a pod under its name.
func (c *Client) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	created := &corev1.Pod{}
	err := c.core.Post().MaxRetries(0).
		Namespace(pod.Namespace).Resource("pods").
		VersionedParams(&metav1.CreateOptions{FieldManager: FieldManager}, scheme.ParameterCodec).
		Body(pod).Do(ctx).Into(created)
	return answer(created, err)
}

// DeletePod deletes a pod with its own grace period. uid and resourceVersion are preconditions, unless empty.
func (c *Client) DeletePod(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error {
	options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{}}
	if uid != "" {
		options.Preconditions.UID = &uid
	}
	if resourceVersion != "" {
		options.Preconditions.ResourceVersion = &resourceVersion
	}
	return c.core.Delete().MaxRetries(0).
		Namespace(namespace).Resource("pods").Name(name).
		Body(options).Do(ctx).Error()
}

// DeleteJobVersion deletes a Job in the foreground: its dependents go first. uid and resourceVersion are preconditions.
func (c *Client) DeleteJobVersion(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error {
	foreground := metav1.DeletePropagationForeground
	return c.batch.Delete().MaxRetries(0).
		Namespace(namespace).Resource("jobs").Name(name).
		Body(&metav1.DeleteOptions{
			PropagationPolicy: &foreground, Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &resourceVersion},
		}).Do(ctx).Error()
}

// PatchPod applies a strategic merge patch.
func (c *Client) PatchPod(ctx context.Context, namespace, name string, patch []byte) (*corev1.Pod, error) {
	patched := &corev1.Pod{}
	err := c.core.Patch(types.StrategicMergePatchType).MaxRetries(0).
		Namespace(namespace).Resource("pods").Name(name).
		VersionedParams(&metav1.PatchOptions{FieldManager: FieldManager}, scheme.ParameterCodec).
		Body(patch).Do(ctx).Into(patched)
	return answer(patched, err)
}

// UpdateJobStatus replaces the status of a Job at its resourceVersion.
func (c *Client) UpdateJobStatus(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	stored := &batchv1.Job{}
	err := c.batch.Put().MaxRetries(0).
		Namespace(job.Namespace).Resource("jobs").Name(job.Name).SubResource("status").
		VersionedParams(&metav1.UpdateOptions{FieldManager: FieldManager}, scheme.ParameterCodec).
		Body(job).Do(ctx).Into(stored)
	return answer(stored, err)
}

// GetJob reads a Job, past any cache.
func (c *Client) GetJob(ctx context.Context, namespace, name string) (*batchv1.Job, error) {
	job := &batchv1.Job{}
	err := c.batch.Get().MaxRetries(0).
		Namespace(namespace).Resource("jobs").Name(name).
		Do(ctx).Into(job)
	return answer(job, err)
}

// FindPod lists by name, past any cache. None is a NotFound error.
func (c *Client) FindPod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	list := &corev1.PodList{}
	options := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()}
	err := c.core.Get().MaxRetries(0).
		Namespace(namespace).Resource("pods").
		VersionedParams(&options, scheme.ParameterCodec).
		Do(ctx).Into(list)
	switch {
	case err != nil:
		return nil, err
	case len(list.Items) == 0:
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
	}
	return &list.Items[0], nil
}

// answer is the object, or nil with an error: what client-go fills in before it fails means nothing.
func answer[T any](o *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return o, nil
}
