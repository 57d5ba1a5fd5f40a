package explain_test

import (
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/internal/explain/explaintest"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/history/historytest"
	"github.com/jobledger/jobledger/internal/joblist"
)

// TestNoAnswerIsFalse asks the recorded incidents for all that they can tell.
func TestNoAnswerIsFalse(t *testing.T) {
	for _, dir := range logs(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) { neverFalse(t, openRecorded(t, dir)) })
	}
	for seed := range uint64(4) {
		t.Run("hard", func(t *testing.T) {
			log := historytest.Hard(t, seed)
			neverFalse(t, history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})})
		})
	}
}

func neverFalse(t *testing.T, src history.Source) {
	t.Helper()
	r, err := explaintest.Check(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Error(f)
	}
	if r.Sentences == 0 {
		t.Error("no answer says anything")
	}
	t.Logf("%d sentences of %d answers", r.Sentences, r.Answers)
}
