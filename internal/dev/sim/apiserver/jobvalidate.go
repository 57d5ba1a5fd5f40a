package apiserver

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits of the Job API.
const (
	maxParallelismIndexed = 100000
	maxManagedByLength    = 63
)

func labelSet(l map[string]string) labels.Set { return labels.Set(l) }

// validateJob returns the errors for which the API server would refuse a new Job. It checks the fields that a test may
// get wrong by accident.
func validateJob(job *batchv1.Job) field.ErrorList {
	errs := apivalidation.ValidateObjectMeta(&job.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	spec := field.NewPath("spec")
	if !Selects(job, job.Spec.Template.Labels) {
		errs = append(errs, field.Invalid(spec.Child("template", "metadata", "labels"), job.Spec.Template.Labels, "`selector` does not match template `labels`"))
	}
	errs = append(errs, validateCounts(&job.Spec, spec)...)
	errs = append(errs, validateMode(job, spec)...)
	errs = append(errs, validateTemplate(&job.Spec, spec.Child("template", "spec"))...)
	if job.Spec.ManagedBy != nil {
		errs = append(errs, validateManagedBy(*job.Spec.ManagedBy, spec.Child("managedBy"))...)
	}
	return errs
}

func validateCounts(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, count := range []struct {
		name  string
		value *int32
	}{
		{"parallelism", s.Parallelism},
		{"completions", s.Completions},
		{"backoffLimit", s.BackoffLimit},
		{"backoffLimitPerIndex", s.BackoffLimitPerIndex},
		{"maxFailedIndexes", s.MaxFailedIndexes},
		{"ttlSecondsAfterFinished", s.TTLSecondsAfterFinished},
	} {
		if count.value != nil {
			errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*count.value), path.Child(count.name))...)
		}
	}
	if s.ActiveDeadlineSeconds != nil {
		errs = append(errs, apivalidation.ValidateNonnegativeField(*s.ActiveDeadlineSeconds, path.Child("activeDeadlineSeconds"))...)
	}
	return errs
}

func validateMode(job *batchv1.Job, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	s := &job.Spec
	if isIndexed(s) {
		if s.Completions == nil {
			return append(errs, field.Required(path.Child("completions"), "when completion mode is Indexed"))
		}
		if *s.Parallelism > maxParallelismIndexed {
			errs = append(errs, field.Invalid(path.Child("parallelism"), *s.Parallelism, fmt.Sprintf("must be less than or equal to %d when completion mode is Indexed", maxParallelismIndexed)))
		}
		if host := fmt.Sprintf("%s-%d", job.Name, max(*s.Completions, 1)-1); len(validation.IsDNS1123Label(host)) > 0 {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), job.Name, "will not be able to create pods with the hostname: "+host))
		}
	} else {
		if s.BackoffLimitPerIndex != nil {
			errs = append(errs, field.Invalid(path.Child("backoffLimitPerIndex"), *s.BackoffLimitPerIndex, "requires indexed completion mode"))
		}
		if s.SuccessPolicy != nil {
			errs = append(errs, field.Invalid(path.Child("successPolicy"), s.SuccessPolicy, "requires indexed completion mode"))
		}
	}
	if s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Required(path.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
	}
	return errs
}

func validateTemplate(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	policy := s.Template.Spec.RestartPolicy
	switch {
	case policy != corev1.RestartPolicyNever && policy != corev1.RestartPolicyOnFailure:
		errs = append(errs, field.NotSupported(path.Child("restartPolicy"), policy, []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}))
	case s.PodFailurePolicy != nil && policy != corev1.RestartPolicyNever:
		errs = append(errs, field.Invalid(path.Child("restartPolicy"), policy, "only \"Never\" is supported when podFailurePolicy is specified"))
	}
	if s.PodFailurePolicy != nil && s.PodReplacementPolicy != nil && *s.PodReplacementPolicy != batchv1.Failed {
		errs = append(errs, field.NotSupported(field.NewPath("spec", "podReplacementPolicy"), *s.PodReplacementPolicy, []batchv1.PodReplacementPolicy{batchv1.Failed}))
	}
	return append(errs, validateContainers(&s.Template.Spec, path)...)
}

func validateContainers(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), ""))
	}
	var seen []string
	for i, c := range s.Containers {
		at := path.Child("containers").Index(i).Child("name")
		for _, msg := range validation.IsDNS1123Label(c.Name) {
			errs = append(errs, field.Invalid(at, c.Name, msg))
		}
		if slices.Contains(seen, c.Name) {
			errs = append(errs, field.Duplicate(at, c.Name))
		}
		seen = append(seen, c.Name)
	}
	return errs
}

func validateManagedBy(name string, path *field.Path) field.ErrorList {
	errs := validation.IsDomainPrefixedPath(path, name)
	if len(name) > maxManagedByLength {
		errs = append(errs, field.TooLongMaxLength(path, name, maxManagedByLength))
	}
	return errs
}

// validateJobUpdate returns an error for each changed field that is immutable (J-013).
func validateJobUpdate(stored, job *batchv1.Job) field.ErrorList {
	errs := apivalidation.ValidateObjectMetaUpdate(&job.ObjectMeta, &stored.ObjectMeta, field.NewPath("metadata"))
	path, old, s := field.NewPath("spec"), &stored.Spec, &job.Spec
	for _, fixed := range []struct {
		name     string
		old, new any
	}{
		{"selector", old.Selector, s.Selector},
		{"completionMode", old.CompletionMode, s.CompletionMode},
		{"podFailurePolicy", old.PodFailurePolicy, s.PodFailurePolicy},
		{"backoffLimitPerIndex", old.BackoffLimitPerIndex, s.BackoffLimitPerIndex},
		{"managedBy", old.ManagedBy, s.ManagedBy},
		{"successPolicy", old.SuccessPolicy, s.SuccessPolicy},
	} {
		errs = append(errs, apivalidation.ValidateImmutableField(fixed.new, fixed.old, path.Child(fixed.name))...)
	}
	errs = append(errs, validateCounts(s, path)...)
	errs = append(errs, validateCompletionsChange(old, s, path.Child("completions"))...)
	return append(errs, validateTemplateChange(stored, job, path.Child("template"))...)
}

// validateCompletionsChange checks that completions change only in Indexed Jobs, and only together with parallelism.
func validateCompletionsChange(old, s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	if equality.Semantic.DeepEqual(old.Completions, s.Completions) {
		return nil
	}
	if !isIndexed(s) || s.Completions == nil {
		return field.ErrorList{field.Invalid(path, s.Completions, apivalidation.FieldImmutableErrorMsg)}
	}
	if *s.Completions != *s.Parallelism || equality.Semantic.DeepEqual(old.Parallelism, s.Parallelism) {
		return field.ErrorList{field.Invalid(path, *s.Completions, "can only be modified in tandem with spec.parallelism")}
	}
	return nil
}

// validateTemplateChange checks that the template stays the same, except for scheduling directives, labels, annotations
// and resources of a suspended Job without pods (J-157).
func validateTemplateChange(stored, job *batchv1.Job, path *field.Path) field.ErrorList {
	old, changed := stored.Spec.Template.DeepCopy(), job.Spec.Template.DeepCopy()
	if mayEditTemplate(stored) {
		path = path.Child("spec")
		old.Labels, old.Annotations = changed.Labels, changed.Annotations
		old.Spec.NodeSelector, old.Spec.Affinity = changed.Spec.NodeSelector, changed.Spec.Affinity
		old.Spec.Tolerations, old.Spec.SchedulingGates = changed.Spec.Tolerations, changed.Spec.SchedulingGates
		for i := range min(len(old.Spec.Containers), len(changed.Spec.Containers)) {
			old.Spec.Containers[i].Resources = changed.Spec.Containers[i].Resources
		}
	}
	return apivalidation.ValidateImmutableField(changed, old, path)
}

func mayEditTemplate(stored *batchv1.Job) bool {
	return stored.Spec.Suspend != nil && *stored.Spec.Suspend && stored.Status.Active == 0 &&
		(stored.Status.StartTime == nil || conditionTrue(&stored.Status, batchv1.JobSuspended))
}

func isIndexed(s *batchv1.JobSpec) bool {
	return s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion
}
