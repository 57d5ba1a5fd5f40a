package projector

import "github.com/jobledger/jobledger/events"

// Terms are what a Job's spec says of its pods, read once when the Job gets the spec.
type Terms struct {
	Indexed   bool // pods have completion indexes
	WorkQueue bool // there is no fixed number of completions
	PerIndex  bool // each index has a backoffLimit of its own
	// FailedOnly: a pod is replaced, and counted, only once it has reached phase Failed (J-024).
	FailedOnly  bool
	Completions int32 // how many indexes an Indexed Job has; 0 for a Job without completions
	Parallelism int32 // how many pods may run at once; 1 when the spec does not say
	// MayLower: the API server lets the number of succeeded indexes go down. It does so only for Jobs whose completions
	// and parallelism are equal (J-212). For others the number stays until it may (J-236).
	MayLower bool
}

// termsOf reads a spec; nil is that of a Job which has not been seen.
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
