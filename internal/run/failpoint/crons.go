package failpoint

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/reconciler/executor"
)

// Crons returns the API for CronJobs, with a point before and after each call (see API).
func (p *Points) Crons(api executor.CronAPI) executor.CronAPI { return &pointCrons{api, p} }

type pointCrons struct {
	api    executor.CronAPI
	points *Points
}

func (a *pointCrons) CreateJob(ctx context.Context, namespace string, job kubewire.Body) (*kubewire.Job, error) {
	return call(a.points, CreateJob, func() (*kubewire.Job, error) { return a.api.CreateJob(ctx, namespace, job) })
}

func (a *pointCrons) DeleteRun(ctx context.Context, namespace, name string, uid types.UID) error {
	_, err := call(a.points, DeleteRun, func() (struct{}, error) {
		return struct{}{}, a.api.DeleteRun(ctx, namespace, name, uid)
	})
	return err
}

func (a *pointCrons) UpdateCronJobStatus(ctx context.Context, namespace, name string, cronJob kubewire.Body) (*kubewire.CronJob, error) {
	return call(a.points, UpdateCronStatus, func() (*kubewire.CronJob, error) {
		return a.api.UpdateCronJobStatus(ctx, namespace, name, cronJob)
	})
}

func (a *pointCrons) GetCronJob(ctx context.Context, namespace, name string) (*kubewire.CronJob, error) {
	return call(a.points, GetCronJob, func() (*kubewire.CronJob, error) { return a.api.GetCronJob(ctx, namespace, name) })
}

func (a *pointCrons) GetRun(ctx context.Context, namespace, name string) (*kubewire.Job, error) {
	return call(a.points, GetRun, func() (*kubewire.Job, error) { return a.api.GetRun(ctx, namespace, name) })
}
