package job

import (
	"fmt"

	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/reconciler"
)

// tooManyFailedIndexes compares with spec.maxFailedIndexes (J-123).
func tooManyFailedIndexes(p *plan) *end {
	limit := p.job.Spec.MaxFailedIndexes
	if limit == nil || p.job.FailedIndexes().Len() <= *limit {
		return nil
	}
	return failure(reconciler.MaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
}

// indexesFailed fails the Job once every index has ended and at least one failed; all other indexes run first (J-124).
func indexesFailed(p *plan) *end {
	j := p.job
	if j.FailedIndexes().Len() == 0 || j.FailedIndexes().Len()+j.SucceededCount() < j.Completions {
		return nil
	}
	return failure(reconciler.FailedIndexes, "Job has failed indexes")
}

// successRuleMet finds the first rule of the successPolicy that is met (J-138, J-140). A failure takes precedence,
// also one that a pod under deletion may still cause.
func successRuleMet(p *plan) *end {
	rule, met := p.job.SuccessRuleMet()
	if !met || p.mayFail() {
		return nil
	}
	return &end{
		interim: status.SuccessCriteriaMet, terminal: status.Complete,
		reason: reconciler.SuccessPolicy, message: fmt.Sprintf("Matched rules at index %d", rule),
	}
}
