package integration

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/controlplane"
)

// TestSilenceAfterTheLastJob: after the last Job has finished, no record is appended and no Job or Pod is written for
// half a minute, or a minute with JOBLEDGER_LONG.
func TestSilenceAfterTheLastJob(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	period := 30 * time.Second
	if long {
		period = time.Minute
	}
	w := newWorld(t)
	c := w.run("")
	w.create(newJob("good", completions(5), parallelism(2)))
	w.create(newJob("bad", backoffLimit(0), outcome(controlplane.OutcomeFail)))
	w.create(newJob("deleted", outcome(controlplane.OutcomeRun)))
	w.eventually("the Job that will be deleted runs", func() (bool, error) { return w.runs("deleted") == 1, nil })
	w.delete("deleted")
	w.ends("good", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 5})
	w.ends("bad", result{condition: batchv1.JobFailed, reason: "BackoffLimitExceeded", failed: 1})
	w.eventually("the pods of the deleted Job are gone", func() (bool, error) { return len(w.pods("deleted")) == 0, nil })
	w.logSays("nothing is left to do for both Jobs that end", func() (bool, error) {
		ended, err := c.Records(t.Context(), "--kind", "JobRetired")
		return len(ended) == 2, err
	})
	quiet := w.settled(c)
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(w.written(nil))
	w.holds("silence", period, func() error {
		now, err := c.Head(t.Context())
		if err == nil && now != head {
			err = fmt.Errorf("the log grew from record %d to %d", head, now)
		}
		return err
	})
	if after := fmt.Sprint(w.written(nil)); after != before {
		t.Errorf("writes went on, from %s to %s", before, after)
	}
	if now := boltOf(t, c.Log()); now != quiet {
		t.Errorf("the log was written though it did not grow: %+v, then %+v", quiet, now)
	}
}
