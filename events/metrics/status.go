package metrics

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// confirmed counts what one of our status writes has changed, after it was stored (J-198, J-199, J-202).
func (c *Consumer) confirmed(j *job, change *events.StatusChange) {
	grown := j.published
	set(&grown.succeeded, change.Succeeded)
	set(&grown.failed, change.Failed)
	if change.ClearFailedIndexes {
		grown.failedIndexes = 0
	}
	grown.failedIndexes += count(change.FailIndexes)
	done := grown.succeeded - j.published.succeeded
	if j.mode() == indexed {
		// Count the newly completed indexes: the growth of succeeded would be too low if the same write also removes
		// completed indexes
		done = count(change.CompleteIndexes)
	}
	c.grow(j, &grown, done)
	if len(change.AddFailed) > 0 {
		j.failures = true
	}
	c.concluded(j, change.Conditions)
}

// statusSeen handles an observed status that we may not have written: of a write with an unknown outcome, or of another
// writer. If found is true (the Job was just met, or another controller runs it), nothing is counted: the status only
// becomes the base from which later growth is counted.
func (c *Consumer) statusSeen(j *job, s *events.JobStatus, found bool) {
	seen := j.published
	seen.succeeded, seen.failed, seen.failedIndexes = s.Succeeded, s.Failed, 0
	if s.FailedIndexes != nil {
		seen.failedIndexes = count(*s.FailedIndexes)
	}
	if len(s.UncountedFailed) > 0 {
		j.failures = true
	}
	if !found {
		c.grow(j, &seen, seen.succeeded-j.published.succeeded)
		c.concluded(j, s.Conditions)
		return
	}
	seen.ending, seen.finished = ending(s.Conditions) != nil, terminal(s.Conditions) != nil
	j.published = seen
	j.failures = j.failures || seen.failed > 0
}

// grow counts by how much the published counters have grown, and makes them the new base. A counter that was lowered
// (J-211) was already counted at its higher value. The first call creates the time series, with 0.
func (c *Consumer) grow(j *job, to *shown, done int32) {
	m, mode := c.metrics, j.mode()
	done = max(done, 0)
	m.podsFinished.WithLabelValues(mode, succeeded).Add(float64(done))
	m.podsFinished.WithLabelValues(mode, failed).Add(float64(max(to.failed-j.published.failed, 0)))
	if mode == indexed {
		m.indexesFinished.WithLabelValues(succeeded, j.limit()).Add(float64(done))
		if n := to.failedIndexes - j.published.failedIndexes; n > 0 && j.spec.perIndex {
			m.indexesFinished.WithLabelValues(failed, perIndex).Add(float64(n))
		}
	}
	j.published.succeeded, j.published.failed, j.published.failedIndexes = to.succeeded, to.failed, to.failedIndexes
	j.failures = j.failures || to.failed > 0
}

// concluded counts the end of the Job when its status first has a condition that says how it ends (J-198).
func (c *Consumer) concluded(j *job, conditions []events.JobCondition) {
	if ending(conditions) != nil {
		j.published.ending = true
	}
	end := terminal(conditions)
	if end == nil || j.published.finished {
		return
	}
	j.published.finished = true
	result := succeeded
	if end.Type == status.Failed {
		result = failed
	}
	c.metrics.jobsFinished.WithLabelValues(j.mode(), result, c.metrics.reasons.of(end.Reason)).Inc()
}

// terminal returns the condition Complete or Failed with status True; nil for none.
func terminal(conditions []events.JobCondition) *events.JobCondition {
	return holding(conditions, status.Complete, status.Failed)
}

// ending returns a condition with status True that says how the Job has ended or will end; nil for none.
func ending(conditions []events.JobCondition) *events.JobCondition {
	return holding(conditions, status.Complete, status.Failed, status.FailureTarget, status.SuccessCriteriaMet)
}

func holding(conditions []events.JobCondition, kinds ...string) *events.JobCondition {
	for i := range conditions {
		for _, kind := range kinds {
			if conditions[i].Type == kind && conditions[i].Status == "True" {
				return &conditions[i]
			}
		}
	}
	return nil
}

func set(field *int32, value *int32) {
	if value != nil {
		*field = *value
	}
}
