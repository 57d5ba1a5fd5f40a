package history_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestLiveIsWhatTheWholeLogSays: what is kept up to date from some record on is after each record what is read of the
// log as of it.
func TestLiveIsWhatTheWholeLogSays(t *testing.T) {
	for name, log := range map[string]*memlog.Log{"jobs": historytest.Hard(t, 4), "crons": historytest.HardCrons(t, 3)} {
		src := history.Local{Log: log}
		records := historytest.Records(t, log)
		whole := history.NewFold()
		jobs, crons := history.LiveJobs(src), history.LiveCronJobs(src)
		var one *history.Live
		var of events.Stream
		compared := map[string]int{}
		for i, r := range records {
			whole.Apply(&r)
			if i < len(records)/3 {
				continue
			}
			if one == nil && (r.Stream.Kind == events.StreamCronJob || r.Stream.Kind == events.StreamJob && name == "jobs") {
				of = r.Stream
				one = history.LiveJob(src, of)
			}
			for _, l := range []*history.Live{jobs, crons, one} {
				if l == nil {
					continue
				}
				changed, err := l.Take(t.Context(), &r)
				mine := map[*history.Live]bool{jobs: r.Stream.Kind == events.StreamJob, crons: r.Stream.Kind == events.StreamCronJob, one: r.Stream == of}[l]
				if err != nil || mine && !changed || changed && !mine && r.Stream != events.Controller {
					t.Fatalf("record %d of %s changes something: %t, %v", r.Sequence, r.Stream, changed, err)
				}
			}
			if s, ok := jobs.Summary(r.Stream); ok != (r.Stream.Kind == events.StreamJob) {
				t.Fatalf("record %d of %s sums up a Job: %t", r.Sequence, r.Stream, ok)
			} else if ok {
				same(t, fmt.Sprintf("%s at %d", s.Name, r.Sequence), history.SummaryOf(whole.Account(r.Stream)), s)
				compared["Summary"]++
			}
			if s, ok := crons.CronSummary(r.Stream); ok != (r.Stream.Kind == events.StreamCronJob) {
				t.Fatalf("record %d of %s sums up a CronJob: %t", r.Sequence, r.Stream, ok)
			} else if ok {
				want := history.CronSummaryOf(whole.CronAccount(r.Stream))
				same(t, fmt.Sprintf("%s at %d", s.Name, r.Sequence), want.State, s.State)
				same(t, fmt.Sprintf("%s at %d", s.Name, r.Sequence), want.LastSchedule, s.LastSchedule)
				compared["CronSummary"]++
			}
			if r.Stream != of || i%3 != 0 {
				continue
			}
			at := history.Point{Sequence: r.Sequence}
			if of.Kind == events.StreamJob {
				got, ok := one.Job(of, &r)
				want, err := history.JobAt(t.Context(), src, of, at)
				if err != nil || !ok {
					t.Fatal(ok, err)
				}
				same(t, "Job", want, got)
				compared["Job"]++
				continue
			}
			got, ok, err := one.CronJob(t.Context(), of, &r)
			want, failed := history.CronJobAt(t.Context(), src, of, at)
			if err = errors.Join(err, failed); err != nil || !ok {
				t.Fatal(ok, err)
			}
			if want.Gone { // what became of its Jobs is read from their own records
				want.Runs, got.Runs = nil, nil
			}
			same(t, "CronJob", want.State, got.State)
			same(t, "CronJob", want.Runs, got.Runs)
			same(t, "CronJob", want.First, got.First)
			compared["CronJob"]++
		}
		for _, what := range map[string][]string{"jobs": {"Summary", "Job"}, "crons": {"Summary", "CronSummary", "CronJob"}}[name] {
			if compared[what] < 5 {
				t.Errorf("%s: %d of %s were compared", name, compared[what], what)
			}
		}
		nobody := events.JobStream("nobody")
		if _, ok := one.Job(nobody, &records[0]); ok {
			t.Error("there is a Job of no record")
		}
		if _, ok, err := one.CronJob(t.Context(), events.CronJobStream("nobody"), &records[0]); ok || err != nil {
			t.Error("there is a CronJob of no record", err)
		}
	}
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(text(t, want), text(t, got)); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// TestPagesGoOn: each page ends where the next one begins, and what makes no sense is refused.
func TestPagesGoOn(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	src := history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})}
	jobs, err1 := src.Jobs(t.Context(), history.JobsQuery{})
	crons, err2 := src.CronJobs(t.Context(), history.CronJobsQuery{})
	if err := errors.Join(err1, err2); err != nil || len(jobs.Items) < 5 || len(crons.Items) < 3 || jobs.Continue != "" || crons.Continue != "" {
		t.Fatalf("%d Jobs, %d CronJobs, %v", len(jobs.Items), len(crons.Items), err)
	}
	var gotJobs []history.Summary
	for q := (history.JobsQuery{Limit: 2}); ; {
		page, err := src.Jobs(t.Context(), q)
		if gotJobs = append(gotJobs, page.Items...); err != nil || page.Continue == "" {
			same(t, "Jobs", jobs.Items, gotJobs)
			break
		}
		q.Continue = page.Continue
	}
	var gotCrons []history.CronSummary
	for q := (history.CronJobsQuery{Limit: 1}); ; {
		page, err := src.CronJobs(t.Context(), q)
		if gotCrons = append(gotCrons, page.Items...); err != nil || page.Continue == "" {
			same(t, "CronJobs", crons.Items, gotCrons)
			break
		}
		q.Continue = page.Continue
	}
	for _, text := range []string{"x", "0", "-1", "99999999999999999999", "past/x/u", "past/1", "past/1/"} {
		_, err1 := src.Jobs(t.Context(), history.JobsQuery{Continue: text})
		_, err2 := src.CronJobs(t.Context(), history.CronJobsQuery{Continue: text})
		if !errors.Is(err1, history.ErrQuery) || !errors.Is(err2, history.ErrQuery) {
			t.Errorf("%q is where a page of Jobs, or of CronJobs, ended: %v, %v", text, err1, err2)
		}
	}
	head := log.Head()
	for _, since := range []events.Time{1, events.Time(crons.Items[len(crons.Items)-1].Created), head.Time, head.Time + 1} {
		page, err := src.Jobs(t.Context(), history.JobsQuery{Since: since})
		cronPage, failed := src.CronJobs(t.Context(), history.CronJobsQuery{Since: since})
		if err := errors.Join(err, failed); err != nil || page.Items == nil && since <= head.Time || cronPage.Items == nil {
			t.Fatal(since, err)
		}
		if since > head.Time && len(page.Items)+len(cronPage.Items) > 0 || since == 1 && (len(page.Items) != len(jobs.Items) || len(cronPage.Items) != len(crons.Items)) {
			t.Errorf("since %d there are %d Jobs and %d CronJobs", since, len(page.Items), len(cronPage.Items))
		}
	}
	if _, err := (history.Local{Log: log}).Jobs(t.Context(), history.JobsQuery{}); err == nil {
		t.Error("there are Jobs without lists")
	}
	if _, err := (history.Local{Log: log}).CronJobs(t.Context(), history.CronJobsQuery{}); err == nil {
		t.Error("there are CronJobs without lists")
	}
}

// TestByWhichClock: now is by the controller's clock where one runs; a time behind the newest record, too.
func TestByWhichClock(t *testing.T) {
	log := historytest.Hard(t, 2)
	head := log.Head()
	streams, err := log.Find("default", "job-0")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name       string
		clock      time.Duration // after the newest record; 0 for none
		at         history.Point
		clockIs    string
		later      time.Duration // AsOf, after the newest record
		lastRecord bool
	}{
		{"no controller", 0, history.Point{}, history.ClockLog, 0, false},
		{"a controller", time.Minute, history.Point{}, history.ClockController, time.Minute, true},
		{"a controller whose clock was set back", -time.Minute, history.Point{}, history.ClockController, 0, true},
		{"a time between", time.Minute, history.Point{Time: head.Time + 1}, "", 1, false},
		{"a time to come", time.Minute, history.Point{Time: head.Time.Add(time.Hour)}, history.ClockController, time.Minute, true},
		{"a record", time.Minute, history.Point{Sequence: head.Sequence}, "", 0, false},
		{"a time after a record", time.Minute, history.Point{Sequence: head.Sequence, Time: head.Time + 5}, "", 5, false},
	} {
		src := history.Local{Log: log}
		if row.clock != 0 {
			src.Clock = func() events.Time { return head.Time.Add(row.clock) }
		}
		job, err := history.JobAt(t.Context(), src, streams[0], row.at)
		if err != nil {
			t.Fatal(row.name, err)
		}
		if job.Clock != row.clockIs || events.Time(job.AsOf.Time) != head.Time.Add(row.later) || (job.LastRecord != 0) != row.lastRecord {
			t.Errorf("%s: as of %d after the newest record, by the clock %q, beside %d", row.name, events.Time(job.AsOf.Time).Sub(head.Time), job.Clock, job.LastRecord)
		}
	}
}

// only is wrong with one record.
func only(bad events.Sequence, err error) func(events.Sequence) error {
	return func(at events.Sequence) error {
		if at == bad {
			return err
		}
		return nil
	}
}

// TestAStateBesideDamage: whichever record is damaged, or cannot be read this time, a state is what the whole log
// gives, as of an earlier record where it says so, or there is the error.
func TestAStateBesideDamage(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	records := historytest.Records(t, log)
	crons, err := history.FindCronJobs(t.Context(), history.Local{Log: log}, "default", "cron-1")
	if err != nil || len(crons) == 0 {
		t.Fatal(crons, err)
	}
	s := crons[0]
	var own []events.Sequence
	for _, r := range records {
		if r.Stream == s || r.Stream == events.Controller {
			own = append(own, r.Sequence)
		}
	}
	partial, failed, whole := 0, 0, 0
	for i, at := range own {
		if i%5 != 0 && i > 3 {
			continue
		}
		point := history.Point{Sequence: own[min(i+6, len(own)-1)]}
		newest, unread := history.CronJobAt(t.Context(), history.Local{Log: log}, s, point)
		if errors.Is(unread, history.ErrNoCronJob) {
			continue
		}
		if unread != nil {
			t.Fatal(unread)
		}
		for _, bad := range []error{historytest.ErrRead, &store.CorruptError{Path: "x", At: at, Next: at + 1}} {
			src := history.Local{Log: &historytest.Failing{Reader: log, Bad: only(at, bad)}}
			job, err := history.CronJobAt(t.Context(), src, s, point)
			if err != nil && !errors.Is(err, historytest.ErrRead) && !errors.Is(err, store.ErrCorrupt) {
				t.Fatal(err)
			}
			if err == nil {
				whole++
				same(t, fmt.Sprintf("with record %d that is not needed", at), newest, job)
				continue
			}
			if job.UID == "" {
				failed++
				continue
			}
			want, unread := history.CronJobAt(t.Context(), history.Local{Log: log}, s, history.Point{Sequence: events.Sequence(job.AsOf.Sequence)})
			if unread != nil {
				t.Fatal(unread)
			}
			if want.State != job.State || want.Last != job.Last || !slices.EqualFunc(want.Runs, job.Runs, func(a, b history.Run) bool { return a.Name == b.Name }) {
				t.Errorf("with record %d damaged, as of %d it is %s with %d Jobs, want %s with %d", at, job.AsOf.Sequence, job.State, len(job.Runs), want.State, len(want.Runs))
			}
			partial++
		}
	}
	if partial+failed < 10 || whole == 0 {
		t.Errorf("%d states beside damage, %d errors, %d whole states", partial, failed, whole)
	}
}

// TestAJobIsReadOnce: what is kept of it is not read again with its next record.
func TestAJobIsReadOnce(t *testing.T) {
	f := &historytest.Failing{Reader: historytest.Hard(t, 4)}
	l, first := history.LiveJobs(history.Local{Log: f}), events.Stream{}
	reads := 0
	for _, r := range historytest.Records(t, historytest.Hard(t, 4)) {
		if r.Kind == events.KindJobAdded && first.ID == "" {
			first = r.Stream
		}
		if r.Stream != first || r.Kind == events.KindJobDeleted || r.Kind == events.KindJobRetired {
			continue
		}
		if _, err := l.Take(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
		if _, ok := l.Summary(first); !ok {
			t.Error("it has no summary")
		}
		now := 0
		for _, all := range f.Reads {
			now += len(all)
		}
		if reads != 0 && now > reads {
			t.Fatalf("record %d: it was read again", r.Sequence)
		}
		reads = now
	}
}
