package crons

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/explaintest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
)

// TestWhatWasDueBeforeTheLogBegins: a CronJob is due for minutes before any controller watches. No answer calls its
// history complete, or tells of a controller before that.
func TestWhatWasDueBeforeTheLogBegins(t *testing.T) {
	for _, mode := range []events.Mode{events.ModeAll, events.ModeObserve} {
		t.Run(mode.String(), func(t *testing.T) {
			s := newScene(t)
			s.mode = mode
			s.add(func(spec *batchv1.CronJobSpec) { spec.ConcurrencyPolicy = batchv1.AllowConcurrent })
			s.until(on("22:20:10"))
			s.start()
			if mode == events.ModeObserve {
				s.until(on("22:20:20"))
				s.other.begin() // it starts 22:20, late
			}
			s.until(on("22:21:30"))
			src := history.Local{Log: s.log, Lists: joblist.New(joblist.Config{Log: s.log})}
			said, err := explaintest.CronAgrees(t.Context(), src, events.CronJobStream(s.uid), nil)
			s.must(err)
			for _, f := range said.Findings {
				t.Error(f)
			}
			a, text := s.explained(), strings.Builder{}
			for _, section := range a.Sections {
				for _, x := range section.Sentences {
					text.WriteString(section.Head + " " + x.Text + "\n")
				}
			}
			if a.Begun != "it had been due" {
				t.Errorf("what came before its first record is %q", a.Begun)
			}
			for _, not := range []string{"an unknown time", "good order"} {
				if strings.Contains(text.String(), not) {
					t.Errorf("it says %q:\n%s", not, text.String())
				}
			}
			if !strings.Contains(text.String(), "22:20:10") {
				t.Errorf("it does not say when it was watched first:\n%s", text.String())
			}
		})
	}
}
