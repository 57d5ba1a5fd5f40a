package kubeapi

import (
	"context"
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/internal/wire/kubewire/request"
)

// FieldManager is the name that the API server records in managedFields for our writes.
const FieldManager = "jobledger"

// Client makes requests to the API server. It implements the executor's API, CronAPI, GroupAPI and WorkloadAPI.
type Client struct {
	core  rest.Interface
	batch rest.Interface

	pods, jobs *request.Sender // senders for the frequent requests about pods and Jobs
}

// New returns a client that uses the connection of clientset. It returns an error for a fake clientset, which has none.
func New(clientset kubernetes.Interface) (*Client, error) {
	c := &Client{
		core: clientset.CoreV1().RESTClient(), batch: clientset.BatchV1().RESTClient(),
	}
	var ok [2]bool
	c.pods, ok[0] = request.NewSender(c.core)
	c.jobs, ok[1] = request.NewSender(c.batch)
	if !ok[0] || !ok[1] {
		return nil, errors.New("kubeapi: the clientset has no REST client: it is a fake")
	}
	return c, nil
}

// CreatePod creates a pod under its name.
func (c *Client) CreatePod(ctx context.Context, namespace string, pod []byte) (kubewire.Stored, error) {
	return stored(ctx, c.pods, &request.Request{
		Verb: http.MethodPost, Namespace: namespace, Resource: "pods", Query: byUs,
		ContentType: runtime.ContentTypeProtobuf, Body: kubewire.Wrap("v1", "Pod", pod),
	})
}

const byUs = "fieldManager=" + FieldManager

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

// DeleteJobVersion deletes a Job in the foreground, that is, after its dependents. uid and resourceVersion are
// preconditions.
func (c *Client) DeleteJobVersion(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error {
	foreground := metav1.DeletePropagationForeground
	return c.batch.Delete().MaxRetries(0).
		Namespace(namespace).Resource("jobs").Name(name).
		Body(&metav1.DeleteOptions{
			PropagationPolicy: &foreground, Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &resourceVersion},
		}).Do(ctx).Error()
}

// PatchPod applies a strategic merge patch.
func (c *Client) PatchPod(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error) {
	return stored(ctx, c.pods, &request.Request{
		Verb: http.MethodPatch, Namespace: namespace, Resource: "pods", Name: name, Query: byUs,
		ContentType: string(types.StrategicMergePatchType), Body: patch,
	})
}

// UpdateJobStatus replaces the status of a Job at its resourceVersion.
func (c *Client) UpdateJobStatus(ctx context.Context, namespace, name string, job []byte) (*kubewire.Job, error) {
	return read(ctx, c.jobs, kubewire.Jobs, &request.Request{
		Verb: http.MethodPut, Namespace: namespace, Resource: "jobs", Name: name, Subresource: "status", Query: byUs,
		ContentType: runtime.ContentTypeProtobuf, Body: kubewire.Wrap("batch/v1", "Job", job),
	})
}

// GetJob reads a Job, past any cache.
func (c *Client) GetJob(ctx context.Context, namespace, name string) (*kubewire.Job, error) {
	return read(ctx, c.jobs, kubewire.Jobs, &request.Request{Verb: http.MethodGet, Namespace: namespace, Resource: "jobs", Name: name})
}

// FindPod returns the pod with this name. It lists pods live, past any cache. If there is none, the error is NotFound.
func (c *Client) FindPod(ctx context.Context, namespace, name string) (*kubewire.Pod, error) {
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
	return kubewire.Pods.Of(&list.Items[0])
}

// stored sends a write, and returns the parts of the object in the answer that the executor needs.
func stored(ctx context.Context, s *request.Sender, r *request.Request) (stored kubewire.Stored, err error) {
	err = s.Send(ctx, r, func(answer []byte) (err error) {
		stored, err = kubewire.ReadStored(answer)
		return err
	})
	return stored, err
}

// read sends a request, and returns the object in the answer.
func read[O kubewire.Object](ctx context.Context, s *request.Sender, of *kubewire.Resource[O], r *request.Request) (o O, err error) {
	err = s.Send(ctx, r, func(answer []byte) (err error) {
		o, err = of.Read(answer)
		return err
	})
	return o, err
}
