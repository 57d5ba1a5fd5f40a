package executor

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
)

// API is all that the executor needs of Kubernetes. Each method makes one request and does not try again; errors are
// those of the API server (k8s.io/apimachinery/pkg/api/errors) where it answered, and of the transport where it did
// not. Calls may be made at the same time. What is passed in is not changed; what is returned is the caller's.
type API interface {
	// CreatePod creates a pod under its name. The pod is in protobuf, as [kubewire.NewPod] encodes it.
	CreatePod(ctx context.Context, namespace string, pod []byte) (kubewire.Stored, error)
	// DeletePod deletes a pod with its own grace period. uid and resourceVersion are preconditions, unless empty: a pod
	// that does not meet them is a Conflict.
	DeletePod(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error
	// PatchPod applies a strategic merge patch.
	PatchPod(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error)
	// UpdateJobStatus replaces the status of a Job at its resourceVersion. The Job is in protobuf, as [kubewire.Job]
	// encodes it.
	UpdateJobStatus(ctx context.Context, namespace, name string, job []byte) (*kubewire.Job, error)
	// GetJob reads a Job, past any cache.
	GetJob(ctx context.Context, namespace, name string) (*kubewire.Job, error)
	// DeleteJobVersion deletes a Job in the foreground: its dependents go first. uid and resourceVersion are
	// preconditions: a Job that does not meet them is a Conflict.
	DeleteJobVersion(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error
	// FindPod lists by name, past any cache, so that no right to get pods is needed. None is a NotFound error.
	FindPod(ctx context.Context, namespace, name string) (*kubewire.Pod, error)
}

// CronAPI is what it needs to run CronJobs, on the same terms.
type CronAPI interface {
	// CreateJob creates a Job under its name, as [kubewire.CronJob] encodes it.
	CreateJob(ctx context.Context, namespace string, job kubewire.Body) (*kubewire.Job, error)
	// DeleteRun deletes a Job, and its pods in the background. uid is a precondition: a Job that does not meet it is a
	// Conflict.
	DeleteRun(ctx context.Context, namespace, name string, uid types.UID) error
	// UpdateCronJobStatus replaces the status of a CronJob at its resourceVersion, as [kubewire.CronJob] encodes it.
	UpdateCronJobStatus(ctx context.Context, namespace, name string, cronJob kubewire.Body) (*kubewire.CronJob, error)
	// GetCronJob reads a CronJob, past any cache.
	GetCronJob(ctx context.Context, namespace, name string) (*kubewire.CronJob, error)
	// GetRun reads a Job, past any cache.
	GetRun(ctx context.Context, namespace, name string) (*kubewire.Job, error)
}

// GroupAPI is what it needs for gang scheduling as Kubernetes 1.36 has it, on the same terms.
type GroupAPI interface {
	// ListWorkloads lists all Workloads of a namespace, past any cache.
	ListWorkloads(ctx context.Context, namespace string) ([]v1alpha2.Workload, error)
	// ListPodGroups lists all PodGroups of a namespace, past any cache.
	ListPodGroups(ctx context.Context, namespace string) ([]v1alpha2.PodGroup, error)
	// GetWorkload reads a Workload, past any cache.
	GetWorkload(ctx context.Context, namespace, name string) (*v1alpha2.Workload, error)
	// CreateWorkload creates a Workload under its name.
	CreateWorkload(ctx context.Context, w *v1alpha2.Workload) (*v1alpha2.Workload, error)
	// CreatePodGroup creates a PodGroup under its name.
	CreatePodGroup(ctx context.Context, g *v1alpha2.PodGroup) (*v1alpha2.PodGroup, error)
}

// WorkloadAPI is what it needs for gang scheduling as Kubernetes 1.37 has it (scheduling.k8s.io/v1beta1), on the same
// terms. Objects are sent in protobuf, as [kubewire.NewGroupObject] encodes them. Patches are JSON patches.
type WorkloadAPI interface {
	// ReadWorkload reads a Workload, past any cache.
	ReadWorkload(ctx context.Context, namespace, name string) (*kubewire.Workload, error)
	// ReadWorkloads lists Workloads of a namespace, past any cache: a page of them, and what the next page is asked for
	// with; empty at the end.
	ReadWorkloads(ctx context.Context, namespace, page string) (all []*kubewire.Workload, next string, err error)
	// MakeWorkload creates a Workload under its name.
	MakeWorkload(ctx context.Context, namespace string, workload []byte) (kubewire.Stored, error)
	// PatchWorkload changes a Workload.
	PatchWorkload(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error)
	// ReadPodGroup reads a PodGroup, past any cache.
	ReadPodGroup(ctx context.Context, namespace, name string) (*kubewire.PodGroup, error)
	// MakePodGroup creates a PodGroup under its name.
	MakePodGroup(ctx context.Context, namespace string, group []byte) (kubewire.Stored, error)
	// PatchPodGroup changes a PodGroup.
	PatchPodGroup(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error)
}
