package status

import (
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/indexset"
)

// Condition types of a Job.
const (
	Complete           = "Complete"
	Failed             = "Failed"
	FailureTarget      = "FailureTarget"
	SuccessCriteriaMet = "SuccessCriteriaMet"
	Suspended          = "Suspended"
)

// Status is a Job's status with parsed index sets. Ready and Terminating are events.Unset if absent.
type Status struct {
	Active, Ready, Terminating int32
	Succeeded, Failed          int32
	Completed, FailedIndexes   indexset.Set
	HasFailedIndexes           bool
	HasUncounted               bool
	UncountedSucceeded         []types.UID
	UncountedFailed            []types.UID
	StartTime, CompletionTime  events.Time
	Conditions                 []events.JobCondition
}

// New returns the status of a new Job.
func New() Status { return Status{Ready: events.Unset, Terminating: events.Unset} }

// Of converts the status that an observation shows. It keeps indexes at or above spec.completions.
func Of(s *events.JobStatus) Status {
	out := Status{
		Active: s.Active, Ready: s.Ready, Terminating: s.Terminating, Succeeded: s.Succeeded, Failed: s.Failed,
		Completed:          indexset.Parse(s.CompletedIndexes, math.MaxInt32),
		HasUncounted:       s.HasUncounted,
		UncountedSucceeded: slices.Clone(s.UncountedSucceeded),
		UncountedFailed:    slices.Clone(s.UncountedFailed),
		StartTime:          s.StartTime, CompletionTime: s.CompletionTime,
		Conditions: slices.Clone(s.Conditions),
	}
	if s.FailedIndexes != nil {
		out.HasFailedIndexes = true
		out.FailedIndexes = indexset.Parse(*s.FailedIndexes, math.MaxInt32)
	}
	return out
}

// Record converts the status to the form that records have.
func (s *Status) Record() *events.JobStatus {
	out := &events.JobStatus{
		Active: s.Active, Ready: s.Ready, Terminating: s.Terminating, Succeeded: s.Succeeded, Failed: s.Failed,
		CompletedIndexes:   s.Completed.Text(),
		HasUncounted:       s.HasUncounted,
		UncountedSucceeded: slices.Clone(s.UncountedSucceeded),
		UncountedFailed:    slices.Clone(s.UncountedFailed),
		StartTime:          s.StartTime, CompletionTime: s.CompletionTime,
		Conditions: slices.Clone(s.Conditions),
	}
	if s.HasFailedIndexes {
		text := s.FailedIndexes.Text()
		out.FailedIndexes = &text
	}
	return out
}

// Equal reports whether an observed status equals s.
func (s *Status) Equal(o *events.JobStatus) bool {
	return s.Active == o.Active && s.Ready == o.Ready && s.Terminating == o.Terminating &&
		s.Succeeded == o.Succeeded && s.Failed == o.Failed &&
		s.HasUncounted == o.HasUncounted && s.HasFailedIndexes == (o.FailedIndexes != nil) &&
		s.StartTime == o.StartTime && s.CompletionTime == o.CompletionTime &&
		slices.Equal(s.UncountedSucceeded, o.UncountedSucceeded) && slices.Equal(s.UncountedFailed, o.UncountedFailed) &&
		slices.Equal(s.Conditions, o.Conditions) &&
		s.Completed.Text() == o.CompletedIndexes &&
		(o.FailedIndexes == nil || s.FailedIndexes.Text() == *o.FailedIndexes)
}

// Clone returns an independent copy.
func (s *Status) Clone() Status {
	c := *s
	c.Completed, c.FailedIndexes = s.Completed.Clone(), s.FailedIndexes.Clone()
	c.UncountedSucceeded, c.UncountedFailed = slices.Clone(s.UncountedSucceeded), slices.Clone(s.UncountedFailed)
	c.Conditions = slices.Clone(s.Conditions)
	return c
}

// With returns the status after a change; s is unchanged.
func (s *Status) With(c *events.StatusChange) Status {
	out := s.Clone()
	out.Change(c)
	return out
}

// Change applies the change c, such as one of our status writes, to s.
func (s *Status) Change(c *events.StatusChange) {
	set(&s.Active, c.Active)
	set(&s.Ready, c.Ready)
	set(&s.Terminating, c.Terminating)
	set(&s.Succeeded, c.Succeeded)
	set(&s.Failed, c.Failed)
	if c.InitUncounted {
		s.HasUncounted = true
	}
	if len(c.Counted) > 0 {
		gone := make(map[types.UID]bool, len(c.Counted))
		for _, uid := range c.Counted {
			gone[uid] = true
		}
		counted := func(uid types.UID) bool { return gone[uid] }
		s.UncountedSucceeded = slices.DeleteFunc(s.UncountedSucceeded, counted)
		s.UncountedFailed = slices.DeleteFunc(s.UncountedFailed, counted)
	}
	s.UncountedSucceeded = append(s.UncountedSucceeded, c.AddSucceeded...)
	s.UncountedFailed = append(s.UncountedFailed, c.AddFailed...)
	if c.TrimTo != nil {
		s.Completed.Trim(*c.TrimTo)
		s.FailedIndexes.Trim(*c.TrimTo)
	}
	addText(&s.Completed, c.CompleteIndexes)
	if c.SetFailedIndexes {
		s.HasFailedIndexes = true
	}
	addText(&s.FailedIndexes, c.FailIndexes)
	if c.ClearFailedIndexes {
		s.HasFailedIndexes, s.FailedIndexes = false, indexset.Set{}
	}
	if c.ClearStartTime {
		s.StartTime = 0
	}
	if c.StartTime != 0 {
		s.StartTime = c.StartTime
	}
	if c.CompletionTime != 0 {
		s.CompletionTime = c.CompletionTime
	}
	for _, cond := range c.Conditions {
		s.setCondition(cond)
	}
}

func set(field *int32, value *int32) {
	if value != nil {
		*field = *value
	}
}

func addText(s *indexset.Set, text string) {
	if text != "" {
		more := indexset.Parse(text, math.MaxInt32)
		s.AddAll(&more)
	}
}

// setCondition replaces the condition of that type or appends it; each type occurs once (J-044).
func (s *Status) setCondition(c events.JobCondition) {
	for i := range s.Conditions {
		if s.Conditions[i].Type == c.Type {
			s.Conditions[i] = c
			return
		}
	}
	s.Conditions = append(s.Conditions, c)
}

// Condition returns the condition of that type, with any status; nil for none.
func (s *Status) Condition(kind string) *events.JobCondition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			return &s.Conditions[i]
		}
	}
	return nil
}

// True reports whether the condition of that type has status True.
func (s *Status) True(kind string) bool {
	c := s.Condition(kind)
	return c != nil && c.Status == "True"
}

// SaysEnd reports whether a condition says how the Job has ended, or will end.
func SaysEnd(conditions []events.JobCondition) bool {
	return slices.ContainsFunc(conditions, func(c events.JobCondition) bool {
		switch c.Type {
		case SuccessCriteriaMet, FailureTarget, Complete, Failed:
			return true
		}
		return false
	})
}

// Finished reports whether the status has Complete or Failed.
func (s *Status) Finished() bool { return s.True(Complete) || s.True(Failed) }
