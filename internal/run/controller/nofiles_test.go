package controller

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// withoutFiles has what every log has, and nothing of files.
type withoutFiles struct{ store.Opened }

// TestALogWithoutFiles: what works on files has nothing to do there, and who wants old records to go is told that none
// do.
func TestALogWithoutFiles(t *testing.T) {
	log, err := open.Log(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	bare := withoutFiles{log}
	for name, is := range map[string]func(any) bool{
		"Filed":  func(l any) bool { _, ok := l.(store.Filed); return ok },
		"Tended": func(l any) bool { _, ok := l.(store.Tended); return ok },
		"Pruner": func(l any) bool { _, ok := l.(store.Pruner); return ok },
	} {
		if !is(log) || is(bare) {
			t.Errorf("%s: in files %t, without %t", name, is(log), is(bare))
		}
	}
	if files, err := store.FilesOf(bare)(); err != nil || len(files) > 0 {
		t.Errorf("it has files %v, %v", files, err)
	}
	make := func(keep store.Retention) (*retainer, error) {
		return newRetainer(keep, bare, slog.New(slog.DiscardHandler), &Health{}, prometheus.NewRegistry())
	}
	if _, err := make(store.Retention{MaxBytes: 1 << 30}); err == nil {
		t.Error("a largest size is taken for a log that lets nothing go")
	}
	r, err := make(store.Retention{})
	if err != nil {
		t.Fatal(err)
	}
	r.run(t.Context()) // returns: there is nothing to look at
	newScrubber(nil, slog.New(slog.DiscardHandler), prometheus.NewRegistry()).run(t.Context())
	newPacker(nil, 0, slog.New(slog.DiscardHandler), prometheus.NewRegistry()).run(t.Context())
	if _, _, err := (&PruneConfig{}).going(bare, nil); err == nil {
		t.Error("it has files to prune")
	}
}
