package failures

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestNamesOfWork: the owner's, or what the name is made of, or the name.
func TestNamesOfWork(t *testing.T) {
	for _, row := range []struct {
		name   string
		origin *events.Origin
		work   string
	}{
		{"etl", nil, "ns/etl"},
		{"etl", &events.Origin{Traceparent: "x"}, "ns/etl"},
		{"etl-12", nil, "ns/etl-12"},
		{"etl-x7k2p", &events.Origin{GenerateName: "etl-"}, "ns/etl-"},
		{"etl-29", &events.Origin{Kind: "CronJob", Name: "etl"}, "ns/CronJob/etl"},
		{"etl-29", &events.Origin{Kind: "Workflow", Name: "etl"}, "ns/Workflow/etl"},
	} {
		c := &jobcase.Case{Origin: row.origin}
		if c.Job.Name, c.Job.Namespace = row.name, "ns"; work(c) != row.work {
			t.Errorf("%+v: %s", row, work(c))
		}
	}
}

// TestAListStandsInOrder: what is stuck first, what is alike together, the newest first; and how many are alike.
func TestAListStandsInOrder(t *testing.T) {
	x := func(sort, name, cause, same, work string, since float64) Trouble {
		return Trouble{Sort: sort, Kind: kindJob, Namespace: "ns", Name: name, Cause: cause, same: same, Work: work,
			Since: whentest.Recorded(since), Lineage: "CronJob " + work}
	}
	f := &finding{Failures: Failures{Items: []Trouble{
		x(SortSurvived, "s", "c1", "", "w", 90), x(SortFailed, "old", "c1", "l1", "w1", 10), x(SortFailed, "b", "c2", "l",
			"w2", 30), x(SortFailed, "new", "c1", "l2", "w1", 40),
		x(SortFailed, "mid", "c1", "l1", "w1", 20), x(SortFailed, "far", "c1", "l1", "w3", 5), x(SortStuck, "stuck", "c3", "",
			"w4", 1),
		{Sort: SortStuck, Kind: kindCronJob, Namespace: "ns", Name: "cron", Cause: "c3", Since: whentest.Recorded(2)},
		x(SortFailed, "c", "c2", "l", "w0", 30),
	}}}
	all := f.sorted()
	var names, causes []string
	for i := range all.Items {
		names = append(names, fmt.Sprintf("%s+%d", all.Items[i].Name, all.Items[i].Also))
	}
	if got, want := strings.Join(names, " "), "cron+0 stuck+0 new+3 mid+3 old+3 far+3 c+1 b+1 s+0"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	for _, c := range all.Causes {
		text := fmt.Sprintf("%s %d@%d %s-%s:", c.Sort, c.Jobs, c.Item, events.Time(c.First).Sub(whentest.Sec(0)),
			events.Time(c.Last).Sub(whentest.Sec(0)))
		for _, w := range c.Works {
			text += fmt.Sprintf(" %s/%s %d", w.Kind, w.Name, w.Jobs)
		}
		causes = append(causes, text)
	}
	want := []string{
		"stuck 1@0 2s-2s: CronJob/cron 1", "stuck 1@1 1s-1s: /stuck 1", "failed 1@2 40s-40s: /new 1",
		"failed 3@3 5s-20s: CronJob/w1 2 /far 1",
		"failed 2@6 30s-30s: /c 1 /b 1", "survived 1@8 1m30s-1m30s: /s 1",
	}
	if !slices.Equal(causes, want) {
		t.Errorf("causes\n%s\nwant\n%s", strings.Join(causes, "\n"), strings.Join(want, "\n"))
	}
}

// TestTroubleThatOnlyTheListTells: of a Job that failed or succeeded, as far as is known; of others nothing is said.
func TestTroubleThatOnlyTheListTells(t *testing.T) {
	for state, want := range map[history.State]string{
		history.StateFailed: SortFailed, history.StateFailing: SortFailed, history.StateComplete: SortSurvived,
		history.StateRunning: "", history.StateFinished: "",
	} {
		s := &history.Summary{Namespace: "ns", Name: "j", State: state, Counts: history.Counts{Failed: 2, Succeeded: 1}}
		whole, damaged := untold(s, 0), untold(s, 7)
		if whole.Sort != want || want == "" && damaged.Kind != "" {
			t.Errorf("%s: %+v", state, whole)
		}
		if want != "" && (whole.Why != "cannot be told: the log has no records of it" ||
			damaged.Why != "cannot be told: damaged at 7" || whole.Tries != 3 || whole.Work != "ns/j") {
			t.Errorf("%s: %+v, %+v", state, whole, damaged)
		}
	}
	for name, row := range map[string]struct {
		q    Query
		t    Trouble
		want bool
	}{
		"none":                      {Query{}, Trouble{}, false},
		"it survived":               {Query{}, Trouble{Sort: SortSurvived}, false},
		"it survived, as is wanted": {Query{Survived: true}, Trouble{Sort: SortSurvived}, true},
		"before": {Query{Since: whentest.Sec(10)}, Trouble{Sort: SortFailed, Since: whentest.Recorded(9)},
			false},
		"at the bound": {Query{Since: whentest.Sec(10)}, Trouble{Sort: SortFailed, Since: whentest.Recorded(10)},
			true},
		"stuck before": {Query{Since: whentest.Sec(10)}, Trouble{Sort: SortStuck, Since: whentest.Recorded(9)},
			true},
		"until then": {Query{Until: whentest.Sec(10)}, Trouble{Sort: SortStuck, Since: whentest.Recorded(10)},
			true},
		"later": {Query{Until: whentest.Sec(10)}, Trouble{Sort: SortStuck, Since: whentest.Recorded(11)},
			false},
	} {
		f := &finding{q: &row.q}
		if f.take(row.t); (len(f.Items) == 1) != row.want {
			t.Errorf("%s: %v", name, f.Items)
		}
	}
}
