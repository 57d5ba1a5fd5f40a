package projector

import "github.com/jobledger/jobledger/events"

// Terms are the fields of a Job's spec about the number and the indexes of its pods, in the form that decisions use.
type Terms struct {
	Indexed   bool // pods have completion indexes
	WorkQueue bool // no fixed number of completions
	PerIndex  bool // each index has its own backoffLimit
	// FailedOnly: a pod is replaced, and counts as failed, only once its phase is Failed (J-024).
	FailedOnly  bool
	Completions int32 // number of indexes of an Indexed Job; 0 if unset
	Parallelism int32 // limit of running pods; 1 if unset
	// MayLower: the number of succeeded indexes in the status may decrease. The API server allows that only if
	// completions equals parallelism (J-212). Otherwise the number stays as it is until it may decrease (J-236).
	MayLower bool
}

// termsOf returns the Terms of a spec; nil stands for a Job that has not been seen.
func termsOf(spec *events.JobSpec) Terms {
	t := Terms{Parallelism: 1}
	if spec == nil {
		return t
	}
	t.Indexed = spec.CompletionMode == "Indexed"
	t.WorkQueue = spec.Completions == nil
	t.PerIndex = t.Indexed && spec.BackoffLimitPerIndex != nil
	t.FailedOnly = spec.PodFailurePolicy != "" || spec.PodReplacementPolicy == "Failed"
	if spec.Completions != nil {
		t.Completions = *spec.Completions
	}
	if spec.Parallelism != nil {
		t.Parallelism = *spec.Parallelism
	}
	t.MayLower = t.Completions == t.Parallelism
	return t
}
