package wholeapi

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// CronServer is an API server whose methods take and return decoded objects. The methods are those of executor.CronAPI.
type CronServer interface {
	CreateJob(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error)
	DeleteRun(ctx context.Context, namespace, name string, uid types.UID) error
	UpdateCronJobStatus(ctx context.Context, cronJob *batchv1.CronJob) (*batchv1.CronJob, error)
	GetCronJob(ctx context.Context, namespace, name string) (*batchv1.CronJob, error)
	GetRun(ctx context.Context, namespace, name string) (*batchv1.Job, error)
}

// Crons implements executor.CronAPI: it decodes and encodes objects, and passes the calls to a CronServer.
type Crons struct{ CronServer }

// CronsOf returns an executor.CronAPI that passes its calls to a server.
func CronsOf(s CronServer) Crons { return Crons{s} }

// CreateJob decodes the Job, creates it, and returns the stored Job encoded.
func (c Crons) CreateJob(ctx context.Context, namespace string, job kubewire.Body) (*kubewire.Job, error) {
	whole, err := decoded[*batchv1.Job](job)
	if err != nil {
		return nil, err
	}
	if whole.Namespace != namespace {
		return nil, fmt.Errorf("a Job of namespace %q is to be created in %q", whole.Namespace, namespace)
	}
	created, err := c.CronServer.CreateJob(ctx, whole)
	if err != nil {
		return nil, err
	}
	return kubewire.Jobs.Of(created)
}

// UpdateCronJobStatus decodes the CronJob, writes its status, and returns the stored CronJob encoded.
func (c Crons) UpdateCronJobStatus(ctx context.Context, namespace, name string, cronJob kubewire.Body) (*kubewire.CronJob, error) {
	whole, err := decoded[*batchv1.CronJob](cronJob)
	if err != nil {
		return nil, err
	}
	if whole.Namespace != namespace || whole.Name != name {
		return nil, fmt.Errorf("the status of %s/%s is written to %s/%s", whole.Namespace, whole.Name, namespace, name)
	}
	after, err := c.CronServer.UpdateCronJobStatus(ctx, whole)
	if err != nil {
		return nil, err
	}
	return kubewire.CronJobs.Of(after)
}

// GetCronJob reads a CronJob, and returns it encoded.
func (c Crons) GetCronJob(ctx context.Context, namespace, name string) (*kubewire.CronJob, error) {
	cronJob, err := c.CronServer.GetCronJob(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return kubewire.CronJobs.Of(cronJob)
}

// GetRun reads a Job of a CronJob, and returns it encoded.
func (c Crons) GetRun(ctx context.Context, namespace, name string) (*kubewire.Job, error) {
	job, err := c.CronServer.GetRun(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return kubewire.Jobs.Of(job)
}

// decoder decodes Jobs and CronJobs. client-go's scheme has all types of Kubernetes, and brings client-go along.
var decoder = func() runtime.Decoder {
	scheme := runtime.NewScheme()
	if err := batchv1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	return serializer.NewCodecFactory(scheme).UniversalDeserializer()
}()

// decoded decodes the object in the body of a request.
func decoded[O runtime.Object](b kubewire.Body) (o O, err error) {
	read, _, err := decoder.Decode(b.Bytes, nil, nil)
	if err != nil {
		return o, fmt.Errorf("decode what is to be written: %w", err)
	}
	o, ok := read.(O)
	if !ok {
		return o, fmt.Errorf("a %T is to be written", read)
	}
	o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return o, nil
}
