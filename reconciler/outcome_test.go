package reconciler_test

import (
	"testing"

	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/job"
)

// J-133: the built-in controller may fail a Job for a pod that it removed as surplus. We would not fail the Job for it.
// When we observe, that pod still explains the Job's end.
func TestFailJobOfTheBuiltInIsExplainedByAPodThatIsNotCounted(t *testing.T) {
	s := newSituation(t, `job parallelism=2 completions=9 policy=FailJob:NotIn:1
pod a Failed exit=143 untracked deleting
pod b Running`)
	j := s.fold()
	if _, _, ours := j.FailJobMatch(); ours {
		t.Error("we would fail the Job for a pod that is not counted")
	}
	if !job.Explains(j, s.now, true, reconciler.PodFailurePolicy) {
		t.Error("nothing explains that the Job failed by its policy")
	}
	if job.Explains(j, s.now, true, reconciler.BackoffLimitExceeded) {
		t.Error("a pod that is not counted explains that the Job failed for its limit")
	}
}
