package explain_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestHeldByAStranger: somebody takes the owner reference off the Job that a CronJob with policy Forbid runs. Its end
// is not seen then, and the list of active Jobs keeps it (C-110), so it is no use to wait for that end.
func TestHeldByAStranger(t *testing.T) {
	for _, dir := range logs(t) {
		if ofCronJobs(dir+"/") == 0 && !strings.Contains(dir, "cronjobs-") {
			continue
		}
		src := openRecorded(t, dir)
		var of events.Stream
		var run types.UID
		var left, ended *events.Record
		for i := range src.records {
			r := &src.records[i]
			f, ok := r.Facts.(*events.RunSeen)
			switch {
			case !ok || r.Evidence.Namespace != "" && r.Evidence.Namespace != "cron-forbidden" || !strings.HasPrefix(f.Name, "report-"):
			case run == "":
				of, run = r.Stream, f.Job
			case f.Job == run && left == nil:
				left = r
			case f.Job == run && f.Result != events.ResultNone && ended == nil:
				ended = r
			}
		}
		if left == nil || ended == nil {
			t.Fatalf("%s: the Job of report is not seen three times", dir)
		}
		name := left.Facts.(*events.RunSeen).Name
		left.Facts = &events.RunGone{Job: run, Version: left.Facts.(*events.RunSeen).Version, Left: true}
		left.Kind = events.KindRunGone
		c, err := cron.Read(t.Context(), src, of, history.Point{Sequence: ended.Sequence - 1})
		if err != nil {
			t.Fatal(err)
		}
		a := c.Answer()
		text := a.Verdict.Text
		for _, s := range a.Sections {
			if s.Head == "WAITS FOR" {
				text += "\n" + s.Sentences[0].Text
			}
		}
		for _, want := range []string{"HELD BACK", name + ", in status.active, is not its own since ", name + " to be deleted, or taken out of status.active"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the answer does not say %q:\n%s", dir, want, text)
			}
		}
	}
}

// TestHeldByAJobOfLongAgo: the Job that holds the next one back began before what is read of its CronJob. It is not
// called a stranger.
func TestHeldByAJobOfLongAgo(t *testing.T) {
	src := cronJobsRun(t)
	var of events.Stream
	var held events.Sequence
	src.without = map[events.Sequence]bool{}
	for i := range src.records {
		r := &src.records[i]
		f, ok := r.Facts.(*events.RunSeen)
		if !ok || !strings.HasPrefix(f.Name, "report-") || held != 0 {
			continue
		}
		if of, src.without[r.Sequence] = r.Stream, true; f.Result != events.ResultNone {
			held = r.Sequence - 1
		}
	}
	c, err := cron.Read(t.Context(), src, of, history.Point{Sequence: held})
	if err != nil {
		t.Fatal(err)
	}
	if a := c.Answer(); !strings.HasPrefix(a.Verdict.Text, "HELD BACK") || strings.Contains(a.Verdict.Text, "not its own") {
		t.Errorf("the answer says %q", a.Verdict.Text)
	}
}
