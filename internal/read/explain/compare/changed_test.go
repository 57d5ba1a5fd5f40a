package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/differs"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestWhatChangedSinceTheLastSuccess: fields of the spec, and what admission did; as many as an answer shows, and the
// rest with -v; or what is known of two templates that look alike.
func TestWhatChangedSinceTheLastSuccess(t *testing.T) {
	spec := func(change func(*events.JobSpec)) *events.JobSpec {
		s := &events.JobSpec{Key: "k", Template: "t", BackoffLimit: new(int32(1)), Parallelism: new(int32(1)),
			Completions:           new(int32(1)),
			ActiveDeadlineSeconds: new(int64(1)), TTLSecondsAfterFinished: new(int32(1)), BackoffLimitPerIndex: new(int32(1))}
		if change != nil {
			change(s)
		}
		return s
	}
	other := func(n int) func(*events.JobSpec) {
		return func(s *events.JobSpec) {
			for i, field := range []func(){
				func() { s.BackoffLimit = new(int32(2)) }, func() { s.Parallelism = new(int32(2)) }, func() { s.Completions = new(int32(2)) },
				func() { s.ActiveDeadlineSeconds = new(int64(2)) }, func() { s.BackoffLimitPerIndex = new(int32(2)) },
			} {
				if i < n {
					field()
				}
			}
		}
	}
	const since = "since the last success (before, 28 May 20:27:20; of 4 earlier runs with CronJob demo 3 succeeded): "
	const same = "nothing: spec and pod template are the same"
	for _, row := range []struct {
		name     string
		now      *events.JobSpec
		admitted []string
		change   func(*Jobs)
		want     string
		also     int // fields that stand with -v alone
		from     string
	}{
		{"nothing", spec(nil), nil, nil, same + "; it took 30s then", 0, "[3 9]"},
		{"a value that is not kept", spec(func(s *events.JobSpec) { s.Template = "u" }), nil, nil,
			"a value that is not kept in the log: of env, command, arguments or annotations; it took 30s then", 0, "[3 9]"},
		{"by another key", spec(func(s *events.JobSpec) { s.Key = "l" }), nil, nil,
			"nothing that is recorded; values of env, commands and arguments cannot be compared; it took 30s then", 0, "[3 9]"},
		{"of an unknown template", spec(nil), nil,
			func(c *Jobs) { c.runs.last.spec = spec(func(s *events.JobSpec) { s.Template = "" }) },
			"nothing that is recorded; values of env, commands and arguments cannot be compared; it took 30s then", 0, "[3 9]"},
		{"the spec of then is not kept", spec(nil), nil, func(c *Jobs) { c.runs.last.spec = nil },
			"unknown: the spec of then is no longer kept; it took 30s then", 0, "[3 9]"},
		{"a field", spec(other(1)), nil, nil, "backoffLimit: 1 → 2; it took 30s then", 0, "[3 9]"},
		{"as many as are shown", spec(other(differs.MostDifferences)), nil, nil, "", 0, "[3 9]"},
		{"one more", spec(other(differs.MostDifferences + 1)), nil, nil, "", 1, "[3 9]"},
		{"admission", spec(nil), []string{"tolerations"}, nil,
			"admission changes more of its pods: tolerations changed (nothing is recorded of then); it took 30s then", 0, "[3 9 12]"},
		{"admission, as then", spec(nil), []string{"tolerations"},
			func(c *Jobs) { c.runs.last.admitted = []string{"tolerations"} }, same + "; it took 30s then", 0, "[3 9]"},
		{"admission, less than then", spec(nil), nil, func(c *Jobs) { c.runs.last.admitted = []string{"tolerations"} },
			"admission changes less of its pods: no longer tolerations changed; it took 30s then", 0, "[3 9 12]"},
		{"when it started is not known", spec(nil), nil, func(c *Jobs) { c.runs.last.sum.Started = 0 }, same, 0, "[3 9]"},
		{"its kubelet's clock was behind", spec(nil), nil,
			func(c *Jobs) { c.runs.last.sum.Started = whentest.Recorded(40.1) }, same, 0, "[3 9]"},
		{"it took no time", spec(nil), nil, func(c *Jobs) { c.runs.last.sum.Started = whentest.Recorded(40) },
			same + "; it took 0s then", 0, "[3 9]"},
	} {
		c := &Jobs{Case: &jobcase.Case{Spec: row.now, Added: whentest.Seen(9, 90), AdmittedAt: whentest.Seen(12, 95),
			Admitted: row.admitted,
			Misses:   &explain.Misses{}, Src: &whentest.Log{}}}
		c.runs = &runs{what: "CronJob demo", succeeded: 3, failed: 1,
			last: &peer{spec: spec(nil), marks: []explain.Mark{whentest.Seen(3, 30)}, sum: history.Summary{
				Name: "before", Started: whentest.Recorded(10), Finished: whentest.Recorded(40)}}}
		if row.change != nil {
			row.change(c)
		}
		all := c.sinceSuccess()
		text, is := strings.CutPrefix(all[0].Text, since)
		if fmt.Sprint(all[0].Records) != row.from || !is || row.want != "" && text != row.want {
			t.Errorf("%s: %q by %v, want %q by %s", row.name, all[0].Text, all[0].Records, row.want, row.from)
		}
		if row.want == "" && strings.Count(text, " → ") != differs.MostDifferences {
			t.Errorf("%s: %q", row.name, text)
		}
		also := 0
		for _, s := range all[1:] {
			if also += strings.Count(s.Text, " → "); !s.Detail || !strings.HasPrefix(s.Text, "also: ") {
				t.Errorf("%s: %+v", row.name, s)
			}
		}
		if also != row.also {
			t.Errorf("%s: %d more fields, want %d", row.name, also, row.also)
		}
	}
}

// TestWithoutAnEarlierSuccess: how many failed before, or that there was no earlier run; nothing of runs that were not
// looked at, or of a Job whose first records are not kept.
func TestWithoutAnEarlierSuccess(t *testing.T) {
	for _, row := range []struct {
		runs   *runs
		added  explain.Mark
		want   string
		detail bool
	}{
		{&runs{what: "the same name", failed: 2}, whentest.Seen(9, 9),
			"no earlier run with the same name succeeded: 2 failed, as far as the log tells", false},
		{&runs{what: "the same name"}, whentest.Seen(9, 9), "the log has no earlier run with the same name", true},
		{nil, whentest.Seen(9, 9), "", false}, {&runs{what: "the same name"}, explain.Mark{}, "", false},
	} {
		c := &Jobs{Case: &jobcase.Case{Added: row.added}, runs: row.runs}
		all := c.sinceSuccess()
		if (len(all) == 0) != (row.want == "") || len(all) > 0 &&
			(all[0].Text != row.want || all[0].Detail != row.detail || len(all) > 1) {
			t.Errorf("%+v: %+v", row, all)
		}
	}
}
