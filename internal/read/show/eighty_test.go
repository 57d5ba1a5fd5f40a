package show

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/plan"
)

// eighty are lists whose rows are too long for 80 columns, and what of each must be read all the same.
var eighty = []struct {
	name  string
	write func(*Page) error
	says  []string
	rows  int // lines, where a row is one line
}{
	{"get jobs", func(p *Page) error {
		return writeJobs(p, []history.Summary{{
			Namespace: "payments", Name: "settlement-29300280", State: history.StateFailed, Gone: true, Started: 1, Finished: 3_000_000_000,
			Counts: history.Counts{Succeeded: 12, Failed: 3, Completions: 100},
		}})
	}, []string{"payments", "settlement-29300280", "Failed, deleted", "1970-01-01 00:00:00Z", "3s"}, 2},
	{"get jobs --why", func(p *Page) error {
		t := p.JobsWhy()
		t.Row(&history.Summary{Namespace: "payments", Name: "settlement-29300280", Why: &history.Why{Text: longWhy}})
		return t.Flush()
	}, []string{longWhy}, 2},
	{"failures", func(p *Page) error {
		return p.Failures(&failures.Failures{Items: []failures.Trouble{{
			Sort: failures.SortFailed, Since: 1, Namespace: "payments", Name: "settlement-29300280", Tries: 7, Why: longWhy,
		}}, Causes: []failures.Cause{{Sort: failures.SortFailed, Jobs: 70, First: 1, Last: 2, Works: []failures.Work{{Namespace: "payments", Name: "settlement", Kind: "CronJob", Jobs: 70}}}}, Looked: 1})
	}, []string{"payments/settlement (CronJob)", " 70 ", longWhy}, 4},
	{"attempts", func(p *Page) error {
		index := int32(12)
		return p.Attempts([]attempts.Attempt{{
			Index: &index, Try: 3, Pod: "settlement-29300280-12-x7f2q", Node: "ip-10-0-113-207.eu-central-1.compute.internal", Started: 1, Ran: "3m12s",
			EndedBy: try.ByEviction, Counted: try.CountedFailed, Failure: 3, Next: 3_000_000_000,
			Exits: []attempts.Exit{{Container: "main", Code: 137, Reason: "OOMKilled"}, {Container: "istio-proxy", Code: 143, Reason: "Error"}},
		}, {Index: &index, Try: 4, Pod: "settlement-29300280-12-bcdfg", How: longWhy}}, "2 tries")
	}, []string{string(try.ByEviction), "failure 3", "main 137 (OOMKilled), istio-proxy 143", "waits: " + longWhy}, 6},
	{"plan", func(p *Page) error {
		return p.Plan(&plan.Plan{Jobs: 3, Differ: 2, PodsMissing: 1, Owners: []plan.Owner{{
			Namespace: "payments", Kind: "CronJob", Name: "settlement", Jobs: 3, RunBy: "kubernetes.io/job-controller", Step: "set spec.jobTemplate.spec.managedBy",
			Differences: []plan.Difference{{Reason: "BackoffLimitExceeded", Jobs: 1, Record: 310}, {Reason: "PodsAreTooMany", Jobs: 2, Record: 311}},
			PodsMissing: []plan.Difference{{Reason: "MorePodsWanted", Jobs: 1, Record: 7}},
		}}})
	}, []string{
		"2 Jobs would have been decided otherwise", "of 1 Job pods did not come", "set spec.jobTemplate.spec.managedBy",
		"otherwise: BackoffLimitExceeded of 1 Job #310, PodsAreTooMany of 2 Jobs #311", "pods that did not come: MorePodsWanted of 1 Job #7",
	}, 6},
}

const longWhy = "activeDeadlineSeconds 3600 passed while its pod could not pull mirror.corp/stock:1.0 (ImagePullBackOff, 58 min); the last words of the " +
	"kubelet: Back-off pulling image: not found"

// TestEightyColumnsLoseNoCause: on a terminal of 80 columns no line is longer, and what a list says stands there to its
// end. In a pipe a row is one line, unless the user asked for a width.
func TestEightyColumnsLoseNoCause(t *testing.T) {
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	for _, list := range eighty {
		for _, page := range []Page{{Width: 80}, {Width: 100, Whole: true}, {Width: 80, Whole: true, Asked: true}} {
			t.Run(fmt.Sprintf("%s, whole=%t, asked=%t", list.name, page.Whole, page.Asked), func(t *testing.T) {
				text, widest := written(t, page, list.write)
				if !page.Whole && widest > 80 {
					t.Errorf("a line has %d columns:\n%s", widest, text)
				}
				for _, says := range list.says {
					if !strings.Contains(words(text), words(says)) {
						t.Errorf("%q is not all there:\n%s", says, text)
					}
				}
				if lines := strings.Count(text, "\n"); page.Whole && !page.Asked && lines > list.rows+2 { // a head may take several lines
					t.Errorf("%d lines, want %d:\n%s", lines, list.rows, text)
				}
			})
		}
	}
}
