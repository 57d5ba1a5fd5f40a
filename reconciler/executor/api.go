package executor

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
)

// API has the Kubernetes requests that the executor makes. Each method makes one request without retries. If the server
// answered with an error, the method returns it (k8s.io/apimachinery/pkg/api/errors); otherwise it returns the error of
// the connection. Methods may be called concurrently. They do not change their arguments, and the caller owns the
// results.
type API interface {
	// CreatePod creates a pod under its name. The pod is in protobuf, as [kubewire.NewPod] encodes it.
	CreatePod(ctx context.Context, namespace string, pod []byte) (kubewire.Stored, error)
	// DeletePod deletes a pod with its own grace period. uid and resourceVersion are preconditions unless empty: if the
	// pod does not match, the error is a Conflict.
	DeletePod(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error
	// PatchPod applies a strategic merge patch.
	PatchPod(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error)
	// UpdateJobStatus replaces the status of a Job at its resourceVersion. The Job is in protobuf, as [kubewire.Job]
	// encodes it.
	UpdateJobStatus(ctx context.Context, namespace, name string, job []byte) (*kubewire.Job, error)
	// GetJob reads a Job from the API server, past any cache.
	GetJob(ctx context.Context, namespace, name string) (*kubewire.Job, error)
	// DeleteJobVersion deletes a Job in the foreground, that is, after its dependents. uid and resourceVersion are
	// preconditions: if the Job does not match, the error is a Conflict.
	DeleteJobVersion(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error
	// FindPod reads a pod from the API server, past any cache. It lists with a field selector, because the controller
	// has no permission to get pods. If there is no such pod, the error is NotFound.
	FindPod(ctx context.Context, namespace, name string) (*kubewire.Pod, error)
}

// CronAPI has the requests needed to run CronJobs. Each method makes one request without retries, and returns the
// server's error or that of the connection, as the methods of API do.
type CronAPI interface {
	// CreateJob creates a Job under its name. job is encoded by [kubewire.CronJob].
	CreateJob(ctx context.Context, namespace string, job kubewire.Body) (*kubewire.Job, error)
	// DeleteRun deletes a Job, and its pods in the background. uid is a precondition: if it does not match, the error
	// is a Conflict.
	DeleteRun(ctx context.Context, namespace, name string, uid types.UID) error
	// UpdateCronJobStatus replaces the status of a CronJob at its resourceVersion. cronJob is encoded by
	// [kubewire.CronJob].
	UpdateCronJobStatus(ctx context.Context, namespace, name string, cronJob kubewire.Body) (*kubewire.CronJob, error)
	// GetCronJob reads a CronJob from the API server, past any cache.
	GetCronJob(ctx context.Context, namespace, name string) (*kubewire.CronJob, error)
	// GetRun reads a Job of a CronJob from the API server, past any cache.
	GetRun(ctx context.Context, namespace, name string) (*kubewire.Job, error)
}

// GroupAPI has the requests for gang scheduling in Kubernetes 1.36. Each method makes one request without retries, and
// returns the server's error or that of the connection, as the methods of API do.
type GroupAPI interface {
	// ListWorkloads lists all Workloads of a namespace, past any cache.
	ListWorkloads(ctx context.Context, namespace string) ([]v1alpha2.Workload, error)
	// ListPodGroups lists all PodGroups of a namespace, past any cache.
	ListPodGroups(ctx context.Context, namespace string) ([]v1alpha2.PodGroup, error)
	// GetWorkload reads a Workload from the API server, past any cache.
	GetWorkload(ctx context.Context, namespace, name string) (*v1alpha2.Workload, error)
	// CreateWorkload creates a Workload under its name.
	CreateWorkload(ctx context.Context, w *v1alpha2.Workload) (*v1alpha2.Workload, error)
	// CreatePodGroup creates a PodGroup under its name.
	CreatePodGroup(ctx context.Context, g *v1alpha2.PodGroup) (*v1alpha2.PodGroup, error)
}

// WorkloadAPI has the requests for gang scheduling in Kubernetes 1.37 (scheduling.k8s.io/v1beta1). Each method makes
// one request without retries, and returns the server's error or that of the connection, as the methods of API do.
// Objects are sent in protobuf, as [kubewire.NewGroupObject] encodes them. Patches are JSON patches.
type WorkloadAPI interface {
	// ReadWorkload reads a Workload from the API server, past any cache.
	ReadWorkload(ctx context.Context, namespace, name string) (*kubewire.Workload, error)
	// ReadWorkloads lists one page of a namespace's Workloads, past any cache. page is "" for the first page, then the
	// value of next from the previous call. next is "" after the last page.
	ReadWorkloads(ctx context.Context, namespace, page string) (all []*kubewire.Workload, next string, err error)
	// MakeWorkload creates a Workload under its name.
	MakeWorkload(ctx context.Context, namespace string, workload []byte) (kubewire.Stored, error)
	// PatchWorkload patches a Workload.
	PatchWorkload(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error)
	// ReadPodGroup reads a PodGroup from the API server, past any cache.
	ReadPodGroup(ctx context.Context, namespace, name string) (*kubewire.PodGroup, error)
	// MakePodGroup creates a PodGroup under its name.
	MakePodGroup(ctx context.Context, namespace string, group []byte) (kubewire.Stored, error)
	// PatchPodGroup patches a PodGroup.
	PatchPodGroup(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error)
}
