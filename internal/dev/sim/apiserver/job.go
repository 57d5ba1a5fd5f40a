package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// createJob stores a new Job, with defaults, its generated selector, an empty status and generation 1.
func (s *Server) createJob(r request, in *batchv1.Job) (*batchv1.Job, error) {
	job := wireJob(in)
	job.Status = batchv1.JobStatus{}
	prepare := func() {
		defaultJob(job)
		generateSelector(job)
	}
	if err := s.create(r, job, prepare, func() field.ErrorList { return validateJob(job) }); err != nil {
		return nil, err
	}
	return job.DeepCopy(), nil
}

// create stores a new object, after prepare has completed it and validate has accepted it. If it has no name, create
// generates one from generateName, and draws again if that name exists.
func (s *Server) create(r request, o Object, prepare func(), validate func() field.ErrorList) error {
	kind, generated := KindOf(o), o.GetName() == "" && o.GetGenerateName() != ""
	if err := s.admitInto(kind, o.GetNamespace(), o.GetName()); err != nil {
		return err
	}
	if o.GetResourceVersion() != "" {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: "resourceVersion should not be set on objects to be created",
		}} // like the real server: code 500, without a reason
	}
	if generated {
		o.SetName(s.generateName(o.GetGenerateName()))
	}
	o.SetUID(s.newUID())
	o.SetCreationTimestamp(s.now())
	o.SetDeletionTimestamp(nil)
	o.SetDeletionGracePeriodSeconds(nil)
	o.SetGeneration(1)
	o.SetManagedFields(nil)
	prepare()
	if errs := validate(); len(errs) > 0 {
		return apierrors.NewInvalid(kind.groupKind(), o.GetName(), errs)
	}
	for try := 0; ; try++ {
		if _, taken := s.tables[kind].live[keyOf(o)]; !taken {
			break
		}
		if !generated || try == generateNameRetries {
			return apierrors.NewAlreadyExists(kind.resource(), o.GetName())
		}
		o.SetName(s.generateName(o.GetGenerateName()))
	}
	s.commit(r, nil, o)
	return nil
}

// updateJob replaces metadata and spec of a Job, and ignores the status that was sent. A changed spec raises the
// generation.
func (s *Server) updateJob(r request, in *batchv1.Job) (*batchv1.Job, error) {
	stored, job, err := s.beginUpdate(in)
	if err != nil {
		return nil, err
	}
	job.Status = *stored.Status.DeepCopy()
	defaultJob(job)
	job.Generation = stored.Generation
	if !equality.Semantic.DeepEqual(job.Spec, stored.Spec) {
		job.Generation++
	}
	if errs := validateJobUpdate(stored, job); len(errs) > 0 {
		return nil, apierrors.NewInvalid(Jobs.groupKind(), job.Name, errs)
	}
	return s.update(r, stored, job).(*batchv1.Job).DeepCopy(), nil
}

// updateJobStatus replaces status and metadata of a Job, and ignores the spec that was sent (J-207).
func (s *Server) updateJobStatus(r request, in *batchv1.Job) (*batchv1.Job, error) {
	stored, job, err := s.beginUpdate(in)
	if err != nil {
		return nil, err
	}
	job.Spec = *stored.Spec.DeepCopy()
	job.Generation = stored.Generation
	if errs := validateStatusUpdate(stored, job); len(errs) > 0 {
		return nil, apierrors.NewInvalid(Jobs.groupKind(), job.Name, errs)
	}
	return s.update(r, stored, job).(*batchv1.Job).DeepCopy(), nil
}

// errModified is the text of the 409 answer to an update with an old resource version.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// beginUpdate returns the stored Job and a completed copy of the sent one. It refuses an update without a resource
// version. A real server accepts that, but J-206 requires controllers to send the version that they read, and no other
// clients update Jobs here.
func (s *Server) beginUpdate(in *batchv1.Job) (stored, job *batchv1.Job, err error) {
	job = wireJob(in)
	o, err := s.replaces(Jobs, job)
	if err != nil {
		return nil, nil, err
	}
	return o.(*batchv1.Job), job, nil
}

// replaces returns the stored object that an update replaces, and fills in fields that a client may leave out. If the
// sent object has another UID or resource version, it returns a conflict.
func (s *Server) replaces(k Kind, sent Object) (stored Object, err error) {
	stored, err = s.get(k, keyOf(sent))
	if err != nil {
		return nil, err
	}
	if uid := sent.GetUID(); uid != "" && uid != stored.GetUID() {
		return nil, uidConflict(k, sent.GetName(), uid, stored.GetUID())
	}
	if version := sent.GetResourceVersion(); version != "" && version != stored.GetResourceVersion() {
		return nil, apierrors.NewConflict(k.resource(), sent.GetName(), errModified)
	}
	keepSystemFields(stored, sent)
	return stored, nil
}

func uidConflict(k Kind, name string, sent, stored types.UID) error {
	return apierrors.NewConflict(k.resource(), name,
		errText(fmt.Sprintf("Precondition failed: UID in precondition: %v, UID in object meta: %v", sent, stored)))
}

// keepSystemFields copies into the sent object what a client may omit in an update, or cannot change.
func keepSystemFields(stored, sent Object) {
	if sent.GetUID() == "" {
		sent.SetUID(stored.GetUID())
	}
	sent.SetCreationTimestamp(stored.GetCreationTimestamp())
	if sent.GetDeletionTimestamp() == nil {
		sent.SetDeletionTimestamp(stored.GetDeletionTimestamp())
	}
	if sent.GetDeletionGracePeriodSeconds() == nil {
		sent.SetDeletionGracePeriodSeconds(stored.GetDeletionGracePeriodSeconds())
	}
	sent.SetManagedFields(nil)
}

// JobFinished reports whether a Job has the condition Complete or Failed with status True.
func JobFinished(job *batchv1.Job) bool {
	return conditionTrue(&job.Status, batchv1.JobComplete) || conditionTrue(&job.Status, batchv1.JobFailed)
}

func conditionTrue(status *batchv1.JobStatus, kind batchv1.JobConditionType) bool {
	return hasCondition(status, kind, corev1.ConditionTrue)
}

func conditionFalse(status *batchv1.JobStatus, kind batchv1.JobConditionType) bool {
	return hasCondition(status, kind, corev1.ConditionFalse)
}

func hasCondition(status *batchv1.JobStatus, kind batchv1.JobConditionType, value corev1.ConditionStatus) bool {
	return slices.ContainsFunc(status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind && c.Status == value })
}

// Selects reports whether the Job's selector matches the labels; a Job without a selector selects nothing.
func Selects(job *batchv1.Job, podLabels map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	return err == nil && selector.Matches(labelSet(podLabels))
}
