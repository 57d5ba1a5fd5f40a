package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// flooded is the log of a morning in which the namespace batch was over its budget from the beginning. The controller
// was killed a minute after its last record of that.
func flooded(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "log")
	log, err := boltlog.Open(dir, store.Options{LogID: testLogID})
	if err != nil {
		t.Fatal(err)
	}
	morning(t, log)
	var previous, first events.Record
	for r, err := range log.ReadStream(t.Context(), events.Controller, 0, store.Forward) {
		if err != nil {
			t.Fatal(err)
		}
		if previous = r; first.Sequence == 0 {
			first = r
		}
	}
	head := log.Head()
	said := events.Record{
		Header: events.Header{
			Sequence: head.Sequence + 1, Time: head.Time.Add(time.Second), Stream: events.Controller, Previous: previous.Sequence,
			Kind: events.KindPassedOver, Last: true,
		},
		Facts: &events.PassedOver{
			Since: first.Time, Versions: 3013, Open: true, Went: []events.ObjectsWent{{Resource: events.ObjectPod, Objects: 1234}},
		},
		Evidence: events.Evidence{Namespace: "batch"},
	}
	log.Append(events.Batch{Records: []events.Record{said}}, true)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestWhatWasPassedOverIsSaid: a namespace was over its budget of log, so answers may miss something. Each such answer
// says so, for people and for programs, and none claims to be complete. Answers about other namespaces do not mention
// it.
func TestWhatWasPassedOverIsSaid(t *testing.T) {
	dir := flooded(t)
	for _, row := range []struct{ ask, says, json string }{
		{"explain job/hopeless -n batch -v", "namespace batch was over its budget of log. 1234 pods came and went without a record (3013 versions); what was passed over since", `"passedOver"`},
		{"explain job/hopeless -n batch", "NOT ALL IS RECORDED", `"uncountedSince"`},
		{"explain pod/hopeless-lk6b8 -n batch -v", "PASSED OVER from", `"passedOver"`},
		{"explain job/steps -n batch -v", "PASSED OVER from", `"passedOver"`},
		{"attempts job/hopeless -n batch", "not all is recorded", "not all is recorded"},
		{"timeline job/hopeless -n batch", "not all is recorded from", `"passedOver"`},
		{"failures -n batch", "not all is recorded of namespace batch", `"passedOver"`},
		{"failures", "not all is recorded of namespace batch", `"passedOver"`},
		{"events job/hopeless -n batch", "note: not all is recorded from", `"passedOver"`},
		{"events -n batch", "note: not all is recorded from", `"passedOver"`},
		{"events --tail 3", "note: not all is recorded from", `"passedOver"`},
		{"get job/steps -n batch", "namespace batch is over its budget of log since", `"passedOver"`},
		{"get jobs -n batch", "note: namespace batch is over its budget of log since", `"passedOver"`},
		{"get jobs -A", "note: namespace batch is over its budget of log since", `"passedOver"`},
		{"get jobs -A --sort-by .name", "note: namespace batch is over its budget of log since", `"passedOver"`},

		{"explain job/demo -n default -v", "history complete", `"sections"`},
		{"attempts job/demo -n default", "", ""},
		{"timeline job/demo -n default", "", ""},
		{"failures -n default", "", ""},
		{"events -n default", "", ""},
		{"get jobs -n default", "", ""},
		{"get job/demo -n default", "", ""},
	} {
		text, document := spokenOf(t, dir, row.ask), spokenOf(t, dir, row.ask+" -o json")
		for form, got := range map[string]string{"text": text, "json": document} {
			want := row.says
			if form == "json" {
				want = row.json
			}
			spoken := strings.Contains(got, "budget") || strings.Contains(got, "passedOver")
			switch of := strings.Contains(row.ask, "default"); {
			case !strings.Contains(strings.Join(strings.Fields(got), " "), want):
				t.Errorf("%s, as %s, does not say %q:\n%s", row.ask, form, want, got)
			case of && spoken:
				t.Errorf("%s, as %s, tells of another namespace:\n%s", row.ask, form, got)
			case !of && strings.Contains(got, "history complete"):
				t.Errorf("%s, as %s, claims to be complete:\n%s", row.ask, form, got)
			case !of && strings.Contains(got, "RULED OUT"):
				t.Errorf("%s, as %s, rules something out:\n%s", row.ask, form, got)
			}
		}
	}
}

// floodedCrons writes, by hand, the log of the CronJob batch/nightly, which another controller runs, and of the CronJob
// default/hourly. By the records, neither was started at 09:15. The namespace batch was over its budget from 09:00 on,
// and 7 versions of nightly have no record.
func floodedCrons(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "log")
	log, err := boltlog.Open(dir, store.Options{LogID: testLogID})
	if err != nil {
		t.Fatal(err)
	}
	w := &cronWriter{log: log, last: map[events.Stream]events.Sequence{}}
	settings := events.DefaultSettings()
	settings.CronJobs = true
	w.add(quarter(0), events.Controller, events.KindLogCreated, &events.LogCreated{LogID: testLogID, Epoch: 1, Format: events.Format}, events.Evidence{})
	w.add(quarter(0), events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: settings}, events.Evidence{})
	crons := []events.JobRef{{Namespace: "batch", Name: "nightly", UID: "a"}, {Namespace: "default", Name: "hourly", UID: "b"}}
	for _, c := range crons {
		seen := &events.CronJobSeen{Version: 5, Created: quarter(0), Schedule: "15 * * * *", Policy: "Allow", Template: "t", Redacted: "r", LastSchedule: quarter(8)}
		w.add(quarter(1), events.CronJobStream(c.UID), events.KindCronJobAdded, seen, events.Evidence{Namespace: c.Namespace, Name: c.Name})
	}
	over := events.Evidence{Namespace: "batch"}
	w.add(quarter(9).Add(-15*time.Minute), events.Controller, events.KindPassedOver, &events.PassedOver{Since: quarter(9).Add(-15 * time.Minute), Open: true}, over)
	for _, c := range crons {
		skipped := events.Tick{First: quarter(9), Last: quarter(9), Fate: events.TickSkipped, Into: quarter(10), Observed: true}
		step := events.Step{Stage: "start", Cron: &events.CronStep{Ticks: []events.Tick{skipped}, Ledger: &events.TickLedger{Through: quarter(9), Schedule: "15 * * * *"}}}
		e := events.Evidence{Namespace: c.Namespace}
		if c.Namespace == "batch" {
			e.PassedOver = 7
		}
		w.add(quarter(10).Add(time.Second), events.CronJobStream(c.UID), events.KindTicksObserved, &events.Decision{Steps: []events.Step{step}}, e)
	}
	w.add(quarter(10).Add(time.Minute), events.Controller, events.KindPassedOver, &events.PassedOver{
		Since: quarter(9).Add(-15 * time.Minute), Versions: 3013, Open: true, Went: []events.ObjectsWent{{Resource: events.ObjectJob, Objects: 12}},
	}, over)
	if w.err != nil {
		t.Fatal(w.err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestWhatWasPassedOverOfCronJobsIsSaid: a Job may have come and gone without a record. No answer about due times
// claims that nothing ran then.
func TestWhatWasPassedOverOfCronJobsIsSaid(t *testing.T) {
	dir := floodedCrons(t)
	for _, row := range []struct {
		ask  string
		says []string
		json []string
	}{
		{
			"ticks cronjob/nightly -n batch",
			[]string{"note: not all is recorded from 2026-03-02 09:00:00.000Z on: namespace batch was over its budget of log. 12 jobs came and went",
				"note: 7 versions of the CronJob and its Jobs not recorded", "note: a due time without a Job may have had one then"},
			[]string{`"passedOver"`, `"unrecordedVersions": 7`},
		},
		{
			"ticks cronjob/nightly -n batch --missed --since 2026-03-02T09:10",
			[]string{"note: not all is recorded from 2026-03-02 09:00:00.000Z on", "note: a due time without a Job may have had one then"},
			[]string{`"passedOver"`},
		},
		{
			"why-not cronjob/nightly 2026-03-02T09:15 -n batch",
			[]string{"not started by the controller that runs it", "PASSED OVER from 2026-03-02 09:00:00 and it still is: namespace batch was over its budget",
				"7 versions of the CronJob and its Jobs were seen and not recorded", "so a Job may have come and gone then without a record"},
			[]string{`"passedOver"`, `"unrecordedVersions": 7`},
		},
		{"why-not cronjob/nightly 2026-03-02T09:20 -n batch", []string{"no due time", "so a Job may have come and gone then without a record"}, []string{`"passedOver"`}},
		{"explain cronjob/nightly -n batch -v", []string{"NOT ALL IS RECORDED: over the log's budget", "PASSED OVER from 2 Mar 09:00:00"}, []string{`"passedOver"`}},
		{"get cronjob/nightly -n batch", []string{"namespace batch is over its budget of log since"}, []string{`"passedOver"`}},
		{"get cronjobs -n batch", []string{"note: namespace batch is over its budget of log since"}, []string{`"passedOver"`}},
		{"get cronjobs -A", []string{"note: namespace batch is over its budget of log since"}, []string{`"passedOver"`}},

		{"ticks cronjob/hourly -n default", []string{"not started"}, nil},
		{"why-not cronjob/hourly 2026-03-02T09:15 -n default", []string{"not started by the controller that runs it"}, nil},
		{"why-not cronjob/hourly 2026-03-05T09:15 -n default", nil, nil},
		{"why-not cronjob/nightly 2026-03-02T05:20 -n batch", []string{"no due time"}, nil},
		{"why-not cronjob/nightly 2026-03-05T09:15 -n batch", []string{"nothing was decided about it yet"}, nil},
		{"explain cronjob/hourly -n default -v", nil, nil},
		{"get cronjob/hourly -n default", nil, nil},
		{"get cronjobs -n default", nil, nil},
	} {
		text, document := strings.Join(strings.Fields(spokenOf(t, dir, row.ask)), " "), spokenOf(t, dir, row.ask+" -o json")
		for _, want := range row.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", row.ask, want, text)
			}
		}
		for _, want := range row.json {
			if !strings.Contains(document, want) {
				t.Errorf("%s -o json does not say %q:\n%s", row.ask, want, document)
			}
		}
		for _, never := range []string{"budget", "passedOver", "unrecordedVersions", "may have"} {
			if row.json == nil && strings.Contains(text+document, never) {
				t.Errorf("%s says %q:\n%s\n%s", row.ask, never, text, document)
			}
		}
	}
}

// spokenOf returns the output of a command, on both streams.
func spokenOf(t *testing.T, dir, args string) string {
	t.Helper()
	var out bytes.Buffer
	c := &cli.CLI{Out: &out, Err: &out, Getenv: func(string) string { return "" }}
	if status := execute(t.Context(), c, append([]string{"jobledger"}, append(strings.Fields(args), "--log", dir)...)); status != 0 {
		t.Fatalf("%s: exit %d: %s", args, status, &out)
	}
	return out.String()
}
