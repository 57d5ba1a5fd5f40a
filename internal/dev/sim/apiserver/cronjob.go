package apiserver

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Numeric defaults of the CronJob API.
const (
	defaultKeepSucceeded = 3
	defaultKeepFailed    = 1
)

// CronJob returns the stored CronJob; nil if there is none.
func (s *Server) CronJob(namespace, name string) *batchv1.CronJob {
	return lookup[*batchv1.CronJob](s, CronJobs, Key{namespace, name})
}

// AllCronJobs returns copies of all CronJobs, sorted by namespace and name.
func (s *Server) AllCronJobs() []*batchv1.CronJob { return all[*batchv1.CronJob](s, CronJobs) }

// GetCronJob reads a CronJob from the server, not from a cache.
func (c *Client) GetCronJob(ctx context.Context, namespace, name string) (*batchv1.CronJob, error) {
	call := Call{Verb: "get", Kind: CronJobs, Namespace: namespace, Name: name}
	return perform(ctx, c, call, func(request) (*batchv1.CronJob, error) {
		if cronJob := c.server.CronJob(namespace, name); cronJob != nil {
			return cronJob, nil
		}
		return nil, apierrors.NewNotFound(CronJobs.resource(), name)
	})
}

// CreateCronJob creates a CronJob and returns it as stored.
func (c *Client) CreateCronJob(ctx context.Context, in *batchv1.CronJob) (*batchv1.CronJob, error) {
	in = in.DeepCopy()
	call := Call{Verb: "create", Kind: CronJobs, Namespace: in.Namespace, Name: in.Name}
	return perform(ctx, c, call, func(r request) (*batchv1.CronJob, error) { return c.server.createCronJob(r, in) })
}

// UpdateCronJob replaces a CronJob's metadata and spec. If in has a resource version, it must be the stored one.
func (c *Client) UpdateCronJob(ctx context.Context, in *batchv1.CronJob) (*batchv1.CronJob, error) {
	in = in.DeepCopy()
	call := Call{Verb: "update", Kind: CronJobs, Namespace: in.Namespace, Name: in.Name, UID: in.UID}
	return perform(ctx, c, call, func(r request) (*batchv1.CronJob, error) { return c.server.updateCronJob(r, in) })
}

// UpdateCronJobStatus replaces a CronJob's status (PUT cronjobs/status). If in has a resource version, it must be the
// stored one.
func (c *Client) UpdateCronJobStatus(ctx context.Context, in *batchv1.CronJob) (*batchv1.CronJob, error) {
	in = in.DeepCopy()
	call := Call{Verb: "update", Subresource: "status", Kind: CronJobs, Namespace: in.Namespace, Name: in.Name, UID: in.UID}
	return perform(ctx, c, call, func(r request) (*batchv1.CronJob, error) { return c.server.updateCronJobStatus(r, in) })
}

// DeleteCronJob deletes a CronJob with the given propagation; uid is a precondition unless empty.
func (c *Client) DeleteCronJob(ctx context.Context, namespace, name string, uid types.UID, policy metav1.DeletionPropagation) error {
	return c.Delete(ctx, CronJobs, namespace, name, DeleteOptions{UID: uid, Propagation: policy})
}

// DeleteRun deletes a Job, and its pods in the background; uid is a precondition unless empty.
func (c *Client) DeleteRun(ctx context.Context, namespace, name string, uid types.UID) error {
	return c.DeleteJob(ctx, namespace, name, uid, metav1.DeletePropagationBackground)
}

// GetRun reads a Job of a CronJob. It is the same as [Client.GetJob], under the name that a controller of CronJobs
// uses.
func (c *Client) GetRun(ctx context.Context, namespace, name string) (*batchv1.Job, error) {
	return c.GetJob(ctx, namespace, name)
}

// createCronJob stores a new CronJob, with defaults, an empty status and generation 1 (C-010).
func (s *Server) createCronJob(r request, in *batchv1.CronJob) (*batchv1.CronJob, error) {
	cronJob := wireCronJob(in)
	cronJob.Status = batchv1.CronJobStatus{}
	validate := func() field.ErrorList { return validateCronJob(cronJob) }
	if err := s.create(r, cronJob, func() { defaultCronJob(cronJob) }, validate); err != nil {
		return nil, err
	}
	return cronJob.DeepCopy(), nil
}

// updateCronJob replaces metadata and spec of a CronJob; the status sent is ignored. A changed spec raises the
// generation (C-010).
func (s *Server) updateCronJob(r request, in *batchv1.CronJob) (*batchv1.CronJob, error) {
	stored, cronJob, err := s.beginCronUpdate(in)
	if err != nil {
		return nil, err
	}
	cronJob.Status = *stored.Status.DeepCopy()
	defaultCronJob(cronJob)
	if !equality.Semantic.DeepEqual(cronJob.Spec, stored.Spec) {
		cronJob.Generation++
	}
	if errs := validateCronJobUpdate(stored, cronJob); len(errs) > 0 {
		return nil, apierrors.NewInvalid(CronJobs.groupKind(), cronJob.Name, errs)
	}
	return s.update(r, stored, cronJob).(*batchv1.CronJob).DeepCopy(), nil
}

// updateCronJobStatus replaces the status of a CronJob without validating it; the spec sent is ignored (C-010).
func (s *Server) updateCronJobStatus(r request, in *batchv1.CronJob) (*batchv1.CronJob, error) {
	stored, cronJob, err := s.beginCronUpdate(in)
	if err != nil {
		return nil, err
	}
	cronJob.Spec = *stored.Spec.DeepCopy()
	return s.update(r, stored, cronJob).(*batchv1.CronJob).DeepCopy(), nil
}

func (s *Server) beginCronUpdate(in *batchv1.CronJob) (stored, cronJob *batchv1.CronJob, err error) {
	cronJob = wireCronJob(in)
	o, err := s.replaces(CronJobs, cronJob)
	if err != nil {
		return nil, nil, err
	}
	cronJob.Generation = o.GetGeneration()
	return o.(*batchv1.CronJob), cronJob, nil
}

// defaultCronJob sets the defaults of batch/v1 (C-002). The job template gets the defaults of a pod template; the other
// defaults are set when a Job is created from it.
func defaultCronJob(cronJob *batchv1.CronJob) {
	spec := &cronJob.Spec
	if spec.ConcurrencyPolicy == "" {
		spec.ConcurrencyPolicy = batchv1.AllowConcurrent
	}
	setDefault(&spec.Suspend, false)
	setDefault(&spec.SuccessfulJobsHistoryLimit, defaultKeepSucceeded)
	setDefault(&spec.FailedJobsHistoryLimit, defaultKeepFailed)
	defaultPodSpec(&spec.JobTemplate.Spec.Template.Spec)
}

func wireCronJob(in *batchv1.CronJob) *batchv1.CronJob { return wire(in, &batchv1.CronJob{}) }
