package explain_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/explain/explaintest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
)

// TestEachCitedRecordHoldsTheValue alters what the cited records hold: each sentence that says it must change.
func TestEachCitedRecordHoldsTheValue(t *testing.T) {
	oneOf, seeds := 6, uint64(1)
	if effort.IsLong() {
		oneOf, seeds = 1, 20
	}
	for _, dir := range logs(t) {
		of := oneOf
		if ofCronJobs(dir) > 0 {
			of = 1 // they are few
		}
		t.Run(filepath.Base(dir), func(t *testing.T) { eachCited(t, openRecorded(t, dir), of) })
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("crons-%d", seed), func(t *testing.T) {
			log := historytest.HardCrons(t, seed)
			eachCited(t, history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}, min(oneOf, 3))
		})
	}
}

func eachCited(t *testing.T, src history.Source, oneOf int) {
	t.Helper()
	r, err := explaintest.Cited(t.Context(), src, oneOf)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Error(f)
	}
	if r.Sentences < 50 {
		t.Errorf("%d values were altered: this tests little", r.Sentences)
	}
	t.Logf("%d values of %d answers", r.Sentences, r.Answers)
}
