package failpoint

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
	"github.com/jobledger/jobledger/reconciler/executor"
)

// API returns api with a point before and a point after each call. At a point, the process can be made to end.
func (p *Points) API(api executor.API) executor.API { return &pointAPI{api, p} }

type pointAPI struct {
	api    executor.API
	points *Points
}

// call makes one call (do) with a point before and a point after it, at which the process can be made to end. It passes
// the second point only if the call succeeded; a failed call may have had no effect, so to end there would test
// nothing.
func call[T any](p *Points, verb string, do func() (T, error)) (T, error) {
	p.pass(CallBefore + "." + verb)
	answer, err := do()
	if err == nil {
		p.pass(CallAfter + "." + verb)
	}
	return answer, err
}

func (a *pointAPI) CreatePod(ctx context.Context, namespace string, pod []byte) (kubewire.Stored, error) {
	return call(a.points, CreatePod, func() (kubewire.Stored, error) { return a.api.CreatePod(ctx, namespace, pod) })
}

func (a *pointAPI) DeletePod(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error {
	_, err := call(a.points, DeletePod, func() (struct{}, error) {
		return struct{}{}, a.api.DeletePod(ctx, namespace, name, uid, resourceVersion)
	})
	return err
}

func (a *pointAPI) DeleteJobVersion(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error {
	_, err := call(a.points, DeleteJob, func() (struct{}, error) {
		return struct{}{}, a.api.DeleteJobVersion(ctx, namespace, name, uid, resourceVersion)
	})
	return err
}

func (a *pointAPI) PatchPod(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error) {
	return call(a.points, PatchPod, func() (kubewire.Stored, error) { return a.api.PatchPod(ctx, namespace, name, patch) })
}

func (a *pointAPI) UpdateJobStatus(ctx context.Context, namespace, name string, job []byte) (*kubewire.Job, error) {
	update := func() (*kubewire.Job, error) {
		return call(a.points, UpdateStatus, func() (*kubewire.Job, error) { return a.api.UpdateJobStatus(ctx, namespace, name, job) })
	}
	if !finishes(job) {
		return update()
	}
	return call(a.points, FinishJob, update)
}

func finishes(written []byte) bool {
	job := batchv1.Job{}
	return job.Unmarshal(written) == nil && slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

func (a *pointAPI) GetJob(ctx context.Context, namespace, name string) (*kubewire.Job, error) {
	return call(a.points, GetJob, func() (*kubewire.Job, error) { return a.api.GetJob(ctx, namespace, name) })
}

func (a *pointAPI) FindPod(ctx context.Context, namespace, name string) (*kubewire.Pod, error) {
	return call(a.points, FindPod, func() (*kubewire.Pod, error) { return a.api.FindPod(ctx, namespace, name) })
}

// Groups returns the API for gang scheduling in Kubernetes 1.36, with a point before and after each call (see API).
func (p *Points) Groups(api executor.GroupAPI) executor.GroupAPI { return &pointGroups{api, p} }

type pointGroups struct {
	api    executor.GroupAPI
	points *Points
}

func (a *pointGroups) ListWorkloads(ctx context.Context, namespace string) ([]v1alpha2.Workload, error) {
	return call(a.points, ListWorkloads, func() ([]v1alpha2.Workload, error) { return a.api.ListWorkloads(ctx, namespace) })
}

func (a *pointGroups) ListPodGroups(ctx context.Context, namespace string) ([]v1alpha2.PodGroup, error) {
	return call(a.points, ListPodGroups, func() ([]v1alpha2.PodGroup, error) { return a.api.ListPodGroups(ctx, namespace) })
}

func (a *pointGroups) GetWorkload(ctx context.Context, namespace, name string) (*v1alpha2.Workload, error) {
	return call(a.points, GetWorkload, func() (*v1alpha2.Workload, error) { return a.api.GetWorkload(ctx, namespace, name) })
}

func (a *pointGroups) CreateWorkload(ctx context.Context, w *v1alpha2.Workload) (*v1alpha2.Workload, error) {
	return call(a.points, CreateWorkload, func() (*v1alpha2.Workload, error) { return a.api.CreateWorkload(ctx, w) })
}

func (a *pointGroups) CreatePodGroup(ctx context.Context, g *v1alpha2.PodGroup) (*v1alpha2.PodGroup, error) {
	return call(a.points, CreatePodGroup, func() (*v1alpha2.PodGroup, error) { return a.api.CreatePodGroup(ctx, g) })
}

// Workloads returns the API for gang scheduling in Kubernetes 1.37, with a point before and after each call (see API).
func (p *Points) Workloads(api executor.WorkloadAPI) executor.WorkloadAPI {
	return &pointWorkloads{api, p}
}

type pointWorkloads struct {
	api    executor.WorkloadAPI
	points *Points
}

func (a *pointWorkloads) ReadWorkload(ctx context.Context, namespace, name string) (*kubewire.Workload, error) {
	return call(a.points, GetWorkload, func() (*kubewire.Workload, error) { return a.api.ReadWorkload(ctx, namespace, name) })
}

func (a *pointWorkloads) ReadWorkloads(ctx context.Context, namespace, page string) (all []*kubewire.Workload, next string, err error) {
	all, err = call(a.points, ListWorkloads, func() (all []*kubewire.Workload, err error) {
		all, next, err = a.api.ReadWorkloads(ctx, namespace, page)
		return all, err
	})
	return all, next, err
}

func (a *pointWorkloads) MakeWorkload(ctx context.Context, namespace string, workload []byte) (kubewire.Stored, error) {
	return call(a.points, CreateWorkload, func() (kubewire.Stored, error) { return a.api.MakeWorkload(ctx, namespace, workload) })
}

func (a *pointWorkloads) PatchWorkload(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error) {
	return call(a.points, PatchWorkload, func() (kubewire.Stored, error) { return a.api.PatchWorkload(ctx, namespace, name, patch) })
}

func (a *pointWorkloads) ReadPodGroup(ctx context.Context, namespace, name string) (*kubewire.PodGroup, error) {
	return call(a.points, GetPodGroup, func() (*kubewire.PodGroup, error) { return a.api.ReadPodGroup(ctx, namespace, name) })
}

func (a *pointWorkloads) MakePodGroup(ctx context.Context, namespace string, group []byte) (kubewire.Stored, error) {
	return call(a.points, CreatePodGroup, func() (kubewire.Stored, error) { return a.api.MakePodGroup(ctx, namespace, group) })
}

func (a *pointWorkloads) PatchPodGroup(ctx context.Context, namespace, name string, patch []byte) (kubewire.Stored, error) {
	return call(a.points, PatchPodGroup, func() (kubewire.Stored, error) { return a.api.PatchPodGroup(ctx, namespace, name, patch) })
}
