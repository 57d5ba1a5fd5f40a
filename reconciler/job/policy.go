package job

import (
	"fmt"

	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/reconciler"
)

// tooManyFailedIndexes: the Job fails when more than spec.maxFailedIndexes indexes have failed (J-123).
func tooManyFailedIndexes(p *plan) *end {
	limit := p.job.Spec.MaxFailedIndexes
	if limit == nil || p.job.FailedIndexes().Len() <= *limit {
		return nil
	}
	return failure(reconciler.MaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
}

// indexesFailed: the Job fails when every index has ended and at least one failed. All other indexes run first (J-124).
func indexesFailed(p *plan) *end {
	j := p.job
	if j.FailedIndexes().Len() == 0 || j.FailedIndexes().Len()+j.SucceededCount() < j.Completions {
		return nil
	}
	return failure(reconciler.FailedIndexes, "Job has failed indexes")
}

// successRuleMet: the Job succeeds when a rule of the successPolicy is met; the first such rule counts (J-138, J-140).
// A failure takes precedence, even one that a pod being deleted may still cause.
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
