package failpoint

import (
	"context"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/reconciler/executor"
)

func testCronJob() *kubewire.CronJob {
	return &kubewire.CronJob{CronJob: batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo", UID: testUID, ResourceVersion: "10"},
	}}
}

func TestCallsForCronJobsPassBeforeAndAfterTheirEffect(t *testing.T) {
	calls := map[string]func(executor.CronAPI) error{
		CreateJob: func(a executor.CronAPI) error { _, err := a.CreateJob(t.Context(), "", kubewire.Body{}); return err },
		DeleteRun: func(a executor.CronAPI) error { return a.DeleteRun(t.Context(), "", "", "") },
		UpdateCronStatus: func(a executor.CronAPI) error {
			_, err := a.UpdateCronJobStatus(t.Context(), "", "", kubewire.Body{})
			return err
		},
		GetCronJob: func(a executor.CronAPI) error { _, err := a.GetCronJob(t.Context(), "", ""); return err },
		GetRun:     func(a executor.CronAPI) error { _, err := a.GetRun(t.Context(), "", ""); return err },
	}
	checkPoints(t, calls, func(refused error) (executor.CronAPI, *int) {
		server := &fakeCrons{err: refused}
		return server, &server.calls
	}, (*Points).Crons)
}

// fakeCrons does all that it is asked for.
type fakeCrons struct {
	calls int
	err   error
}

func (f *fakeCrons) answer() error {
	f.calls++
	return f.err
}

func (f *fakeCrons) CreateJob(context.Context, string, kubewire.Body) (*kubewire.Job, error) {
	return madeJob(), f.answer()
}

func (f *fakeCrons) DeleteRun(context.Context, string, string, types.UID) error { return f.answer() }

func (f *fakeCrons) UpdateCronJobStatus(context.Context, string, string, kubewire.Body) (*kubewire.CronJob, error) {
	return testCronJob(), f.answer()
}

func (f *fakeCrons) GetCronJob(context.Context, string, string) (*kubewire.CronJob, error) {
	return testCronJob(), f.answer()
}

func (f *fakeCrons) GetRun(context.Context, string, string) (*kubewire.Job, error) {
	return madeJob(), f.answer()
}

func madeJob() *kubewire.Job { return &kubewire.Job{ObjectMeta: testJob().ObjectMeta} }
