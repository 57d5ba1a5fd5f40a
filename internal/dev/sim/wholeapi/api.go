package wholeapi

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Server is an API server whose methods take and return decoded objects. The methods are those of executor.API.
type Server interface {
	CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)
	DeletePod(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error
	PatchPod(ctx context.Context, namespace, name string, patch []byte) (*corev1.Pod, error)
	UpdateJobStatus(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error)
	GetJob(ctx context.Context, namespace, name string) (*batchv1.Job, error)
	DeleteJobVersion(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error
	FindPod(ctx context.Context, namespace, name string) (*corev1.Pod, error)
}

// API implements executor.API: it decodes and encodes objects, and passes the calls to a Server. Methods without
// objects are those of the Server.
type API struct{ Server }

// Of returns an executor.API that passes its calls to a server.
func Of(s Server) API { return API{s} }

// CreatePod decodes the pod, and creates it.
func (a API) CreatePod(ctx context.Context, namespace string, pod []byte) (kubewire.Stored, error) {
	whole := &corev1.Pod{}
	if err := whole.Unmarshal(pod); err != nil {
		return kubewire.Stored{}, fmt.Errorf("decode a pod that is to be created: %w", err)
	}
	if whole.Namespace != namespace {
		return kubewire.Stored{}, fmt.Errorf("a pod of namespace %q is to be created in %q", whole.Namespace, namespace)
	}
	created, err := a.Server.CreatePod(ctx, whole)
	if err != nil {
		return kubewire.Stored{}, err
	}
	return kubewire.StoredOf(created), nil
}

// PatchPod patches a pod, and returns its stored version.
func (a API) PatchPod(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error) {
	patched, err := a.Server.PatchPod(ctx, namespace, name, patch)
	if err != nil {
		return kubewire.Stored{}, err
	}
	return kubewire.StoredOf(patched), nil
}

// UpdateJobStatus decodes the Job, writes its status, and returns the stored Job encoded.
func (a API) UpdateJobStatus(ctx context.Context, namespace, name string, job []byte) (*kubewire.Job, error) {
	whole := &batchv1.Job{}
	if err := whole.Unmarshal(job); err != nil {
		return nil, fmt.Errorf("decode a Job whose status is to be written: %w", err)
	}
	if whole.Namespace != namespace || whole.Name != name {
		return nil, fmt.Errorf("the status of %s/%s is written to %s/%s", whole.Namespace, whole.Name, namespace, name)
	}
	after, err := a.Server.UpdateJobStatus(ctx, whole)
	if err != nil {
		return nil, err
	}
	return kubewire.Jobs.Of(after)
}

// GetJob reads a Job, and returns it encoded.
func (a API) GetJob(ctx context.Context, namespace, name string) (*kubewire.Job, error) {
	job, err := a.Server.GetJob(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return kubewire.Jobs.Of(job)
}

// FindPod lists the pod of that name, and returns it encoded.
func (a API) FindPod(ctx context.Context, namespace, name string) (*kubewire.Pod, error) {
	pod, err := a.Server.FindPod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return kubewire.Pods.Of(pod)
}
