package explain_test

import (
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/explaintest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestNothingIsStuckUnnamed: at many moments of the recorded incidents and of the situations that were generated,
// whatever is stuck then is named by `failures`.
func TestNothingIsStuckUnnamed(t *testing.T) {
	const moments = 12
	stuck := 0
	for _, dir := range append(logs(t), generated(t)...) {
		whole := openRecorded(t, dir)
		for i := range moments {
			id, _, err := whole.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			src := until(t, id, whole.records[:(i+1)*len(whole.records)/moments])
			found, n, err := explaintest.Stuck(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				t.Errorf("%s, moment %d: %s", filepath.Base(dir), i, f)
			}
			stuck += n
		}
	}
	if stuck < 20 {
		t.Errorf("only %d were stuck at some moment", stuck)
	}
	t.Logf("%d were stuck", stuck)
}

// until is a log that ends with the last whole batch of those records.
func until(t *testing.T, id events.Identity, records []events.Record) history.Source {
	t.Helper()
	for len(records) > 0 && !records[len(records)-1].Last {
		records = records[:len(records)-1]
	}
	log := memlog.New(id)
	var batch events.Batch
	for _, r := range records {
		if batch.Records = append(batch.Records, r); r.Last {
			log.Append(batch, false)
			batch = events.Batch{}
		}
	}
	if _, err := log.Wait(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	return history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}
}
