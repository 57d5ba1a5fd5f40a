package explain_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/history"
)

// mostAblated is of how many points of a CronJob's life the answer is asked without its records.
const mostAblated = 8

// toldElsewhere are records that others can take the place of: a Job's own stream says what its CronJob's says of it,
// and what became of a due time under another controller can be computed from the Jobs that came.
var toldElsewhere = map[events.Kind]bool{events.KindRunSeen: true, events.KindTicksObserved: true}

// TestNoSentenceOfACronJobOutlivesItsRecords is TestNoSentenceOutlivesItsRecords for CronJobs, as of points of their
// lives. Of twenty sentences one may have two records that each prove it.
func TestNoSentenceOfACronJobOutlivesItsRecords(t *testing.T) {
	for _, dir := range logs(t) {
		if ofCronJobs(dir) == 0 {
			continue
		}
		src := openRecorded(t, dir)
		sentences, twice := 0, []string(nil)
		crons, points := streams(src.records, events.StreamCronJob, mostAblated)
		for _, s := range crons {
			for _, at := range points[s] {
				p := history.Point{Sequence: at}
				answer := cronAnswer(t, src, s, p)
				for _, cited := range citations(answer) {
					r := src.records[cited-uint64(src.records[0].Sequence)]
					if toldElsewhere[r.Kind] || r.Sequence == at { // it is asked as of that one
						continue
					}
					src.without = map[events.Sequence]bool{events.Sequence(cited): true}
					now := cronAnswer(t, src, s, p)
					src.without = nil
					if now == nil {
						continue
					}
					for _, x := range citing(answer, cited) {
						sentences++
						if slices.ContainsFunc(all(now),
							func(y explain.Sentence) bool { return y.Text == x.Text && within(y.Records, x.Records) }) {
							twice = append(twice, fmt.Sprintf("%s at %d without record %d still says %q", nameOf(src, s), at, cited, x.Text))
						}
					}
				}
			}
		}
		if sentences < 20 || len(twice)*20 > sentences {
			t.Errorf("%s: %d of %d sentences stand without a record that they cite:\n%s", filepath.Base(dir), len(twice),
				sentences, strings.Join(twice, "\n"))
		}
	}
}

// cronAnswer is the answer about a CronJob; nil where there is none.
func cronAnswer(t *testing.T, src history.Source, s events.Stream, p history.Point) *explain.Answer {
	t.Helper()
	c, err := cron.Read(t.Context(), src, s, p)
	if errors.Is(err, history.ErrNoCronJob) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	a := c.Answer()
	return &a
}

// cronLookalikes are symptoms of CronJobs with two causes: as they were recorded, and the same records as they would be
// with another cause.
var cronLookalikes = []struct {
	name, log, cron string
	is              string // a phrase of an answer
	change          func(r *events.Record)
	becomes         string
}{
	{"held back by its Job, or by nothing", "cronjobs-observed", "report",
		"report-29925861 had not ended, and the policy is Forbid",
		cronSpec(func(f *events.CronJobSeen) { f.Policy = "Allow" }), "why is not known"},
	{"suspended, or held back by nothing", "cronjobs-observed", "ingest", "the CronJob was suspended from",
		cronSpec(func(f *events.CronJobSeen) { f.Suspend = false }), "why is not known"},
	{"suspended by somebody, or it is not known by whom", "cronjobs-observed", "ingest", "(field manager kubectl-patch)",
		func(r *events.Record) { r.Evidence.Edit = nil }, "the CronJob was suspended from 24 Nov 20:21:08 to"},
	{"suspended by one, or by another", "cronjobs-run", "ingest", "(field manager kubectl-patch)", func(r *events.Record) {
		if e := r.Evidence.Edit; e != nil {
			r.Evidence.Edit = &events.Edit{Manager: "argocd", Operation: e.Operation, Time: e.Time}
		}
	}, "(field manager argocd)"},
	{"its Job runs, or its zone has no rules", "cronjobs-run", "report", "has run for 1m (policy Forbid)",
		decision(func(s *events.Step) {
			if s.Cron != nil && s.Cron.Ledger != nil && s.Cron.Ledger.Open != 0 {
				cron, ledger := *s.Cron, *s.Cron.Ledger
				ledger.Hold = events.HeldBadZone
				cron.Ledger, s.Cron = &ledger, &cron
			}
		}), "zone"},
	{"its Jobs succeeded, or they failed", "cronjobs-run", "ingest", "HEALTHY: its last 2 due times started",
		cronRun(func(f *events.RunSeen) {
			if f.Result != events.ResultNone {
				f.Result, f.Succeeded = events.ResultFailed, false
			}
		}), "FAILING"},
}

// TestLookalikesOfCronJobsAreToldApart: the same symptom with another cause gets another answer, and each the right
// one.
func TestLookalikesOfCronJobsAreToldApart(t *testing.T) {
	open := map[string]*recorded{}
	for _, dir := range logs(t) {
		open[filepath.Base(dir)] = openRecorded(t, dir)
	}
	for _, l := range cronLookalikes {
		t.Run(l.name, func(t *testing.T) {
			src := open[l.log]
			if text := wholeLife(t, src, l.cron); !strings.Contains(text, l.is) || strings.Contains(text, l.becomes) {
				t.Errorf("as recorded: want %q, and not %q, in\n%s", l.is, l.becomes, text)
			}
			if text := wholeLife(t, src.changed(l.change), l.cron); strings.Contains(text, l.is) ||
				!strings.Contains(text, l.becomes) {
				t.Errorf("with the other cause: want %q, and not %q, in\n%s", l.becomes, l.is, text)
			}
		})
	}
}

// wholeLife is all that is said of a CronJob, as of each of its records.
func wholeLife(t *testing.T, src *recorded, name string) string {
	t.Helper()
	var b strings.Builder
	crons, points := streams(src.records, events.StreamCronJob, len(src.records))
	for _, s := range crons {
		if !strings.HasSuffix(nameOf(src, s), name) {
			continue
		}
		for _, at := range points[s] {
			if a := cronAnswer(t, src, s, history.Point{Sequence: at}); a != nil {
				for _, x := range all(a) {
					fmt.Fprintln(&b, x.Text)
				}
			}
		}
	}
	return b.String()
}
