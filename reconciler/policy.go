package reconciler

import (
	"fmt"

	"github.com/jobledger/jobledger/internal/subject/status"
)

// tooManyFailedIndexes: spec.maxFailedIndexes (J-123).
func tooManyFailedIndexes(p *plan) *end {
	limit := p.job.Spec.MaxFailedIndexes
	if limit == nil || p.job.FailedIndexes().Len() <= *limit {
		return nil
	}
	return failure(MaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
}

// indexesFailed: the Job fails once every index has ended and some failed: it runs all others first (J-124).
func indexesFailed(p *plan) *end {
	j := p.job
	if j.FailedIndexes().Len() == 0 || j.FailedIndexes().Len()+j.SucceededCount() < j.Completions {
		return nil
	}
	return failure(FailedIndexes, "Job has failed indexes")
}

// successRuleMet: the first rule of the successPolicy that is met (J-138, J-140). A failure goes before, also that of a
// pod which has been deleted by now and may still end by itself.
func successRuleMet(p *plan) *end {
	rule, met := p.job.SuccessRuleMet()
	if !met || p.mayFail() {
		return nil
	}
	return &end{
		interim: status.SuccessCriteriaMet, terminal: status.Complete,
		reason: SuccessPolicy, message: fmt.Sprintf("Matched rules at index %d", rule),
	}
}
