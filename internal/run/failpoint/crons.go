package failpoint

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/reconciler/executor"
)

// Crons does what API does for what CronJobs need.
func (p *Points) Crons(api executor.CronAPI) executor.CronAPI { return &pointCrons{api, p} }

type pointCrons struct {
	api    executor.CronAPI
	points *Points
}

func (a *pointCrons) CreateJob(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	return call(a.points, CreateJob, func() (*batchv1.Job, error) { return a.api.CreateJob(ctx, job) })
}

func (a *pointCrons) DeleteRun(ctx context.Context, namespace, name string, uid types.UID) error {
	_, err := call(a.points, DeleteRun, func() (struct{}, error) {
		return struct{}{}, a.api.DeleteRun(ctx, namespace, name, uid)
	})
	return err
}

func (a *pointCrons) UpdateCronJobStatus(ctx context.Context, cronJob *batchv1.CronJob) (*batchv1.CronJob, error) {
	return call(a.points, UpdateCronStatus, func() (*batchv1.CronJob, error) { return a.api.UpdateCronJobStatus(ctx, cronJob) })
}

func (a *pointCrons) GetCronJob(ctx context.Context, namespace, name string) (*batchv1.CronJob, error) {
	return call(a.points, GetCronJob, func() (*batchv1.CronJob, error) { return a.api.GetCronJob(ctx, namespace, name) })
}

func (a *pointCrons) GetRun(ctx context.Context, namespace, name string) (*batchv1.Job, error) {
	return call(a.points, GetRun, func() (*batchv1.Job, error) { return a.api.GetRun(ctx, namespace, name) })
}
