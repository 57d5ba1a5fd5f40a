package explain_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/internal/explain/explaintest"
)

// TestEachCitedRecordHoldsTheValue alters what the cited records hold: each sentence that says it must change.
func TestEachCitedRecordHoldsTheValue(t *testing.T) {
	oneOf := 6
	if os.Getenv("JOBLEDGER_LONG") != "" {
		oneOf = 1
	}
	for _, dir := range logs(t) {
		if ofCronJobs(dir) > 0 {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			r, err := explaintest.Cited(t.Context(), openRecorded(t, dir), oneOf)
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
		})
	}
}
