package kube

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
)

// TestEventsOfCronJobs: actions for a CronJob are told in the words of the built-in controller, and failures with the
// API server's message.
func TestEventsOfCronJobs(t *testing.T) {
	ended := func(kind events.CommandKind, how events.Ending, class events.RefusalClass, change ...func(*events.CommandEnded)) events.Facts {
		f := &events.CommandEnded{Type: kind, Ending: how, Class: class}
		for _, c := range change {
			c(f)
		}
		return f
	}
	replacing := func(f *events.CommandEnded) { f.Replacing = true }
	for _, row := range []struct {
		sentence string
		facts    events.Facts
		want     []string
	}{
		{"a Job created", ended(events.CommandCreateJob, events.Done, 0), []string{"Normal SuccessfulCreate Created job nightly-1"}},
		{"a create refused for a quota", ended(events.CommandCreateJob, events.Refused, events.RefusedQuota), []string{"Warning FailedCreate Error creating job: the server's words"}},
		{"a create of unknown end", ended(events.CommandCreateJob, events.OutcomeUnknown, 0), []string{"Warning FailedCreate Error creating job: the server's words"}},
		{"a create in a namespace that goes", ended(events.CommandCreateJob, events.Refused, events.RefusedNamespaceTerminating), nil},
		{"a create of what is there", ended(events.CommandCreateJob, events.Refused, events.RefusedNameTaken), nil},
		{"a create of a template of before", ended(events.CommandCreateJob, events.Refused, events.RefusedTemplate), nil},
		{"a create that was withdrawn", ended(events.CommandCreateJob, events.Withdrawn, 0), nil},
		{"a Job deleted", ended(events.CommandDeleteRun, events.Done, 0), []string{"Normal SuccessfulDelete Deleted job nightly-1"}},
		{"a delete of what is gone", ended(events.CommandDeleteRun, events.Refused, events.RefusedNotFound), []string{"Warning FailedDelete Deleted job: the server's words"}},
		{"a Job to be replaced that cannot be read", ended(events.CommandReadRun, events.Refused, events.RefusedNotFound, replacing), []string{"Warning FailedGet Get job: the server's words"}},
		{"another Job that cannot be read", ended(events.CommandReadRun, events.Refused, events.RefusedNotFound), nil},
		{"a Job that is read", ended(events.CommandReadRun, events.Done, 0, replacing), nil},
		{"a status that conflicts", ended(events.CommandWriteCronStatus, events.Refused, events.RefusedConflict), nil},
		{"notices of a decision, in their order", &events.Decision{Steps: []events.Step{
			{}, {Cron: &events.CronStep{Notices: []events.Notice{{Reason: "SawCompletedJob", Message: "a"}, {Reason: "UnexpectedJob", Message: "b"}}}},
			{Cron: &events.CronStep{Notices: []events.Notice{{Reason: "JobAlreadyActive", Message: "c"}}}},
		}}, []string{"Normal SawCompletedJob a", "Warning UnexpectedJob b", "Normal JobAlreadyActive c"}},
	} {
		rec := events.Record{Facts: row.facts, Evidence: events.Evidence{Name: "nightly-1", Message: "the server's words"}}
		rec.Stream, rec.Kind = events.CronJobStream("uid-nightly"), events.KindCommandEnded
		if _, decides := row.facts.(*events.Decision); decides {
			rec.Kind = events.KindDecided
		}
		var got []string
		for _, e := range Of(&rec, Context{Job: events.JobRef{Namespace: "batch", Name: "nightly", UID: "uid-nightly"}}) {
			got = append(got, e.Type+" "+e.Reason+" "+e.Message)
			if !e.CronJob {
				t.Errorf("%s: it is no Event about a CronJob", row.sentence)
			}
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.sentence, got, row.want)
		}
	}
	would := events.Record{Facts: &events.Decision{Steps: []events.Step{{Cron: &events.CronStep{Notices: []events.Notice{{Reason: "x"}}}}}}}
	would.Stream, would.Kind = events.CronJobStream("uid-nightly"), events.KindWouldDecide
	if made := Of(&would, Context{}); made != nil {
		t.Errorf("what would have been decided gave rise to %+v", made)
	}
}

// TestEventsOfCronJobsAreAboutThem: source, reporting controller and object are the CronJob's.
func TestEventsOfCronJobsAreAboutThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		nightly := events.CronJobStream("uid-nightly")
		a.add(nightly, events.KindCronJobAdded, &events.CronJobSeen{Version: 1, Schedule: "@daily"}, events.Evidence{Namespace: "batch", Name: "nightly"})
		a.add(nightly, events.KindCommandEnded, &events.CommandEnded{Type: events.CommandCreateJob, Ending: events.Done}, events.Evidence{Namespace: "batch", Name: "nightly-1"})
		p, err := New(Config{Log: a.log, Client: s.client(), Mode: events.ModeAll, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if told := s.take(); !slices.Equal(told, []string{"SuccessfulCreate Created job nightly-1"}) {
			t.Errorf("told %q", told)
		}
		for _, e := range s.stored {
			o := e.InvolvedObject
			if e.Source.Component != "cronjob-controller" || e.ReportingController != "cronjob-controller" || e.Namespace != "batch" ||
				o.Kind != "CronJob" || o.APIVersion != "batch/v1" || o.Name != "nightly" || o.UID != "uid-nightly" {
				t.Errorf("the Event is %+v", e)
			}
		}
	})
}

// C-203: repeated warnings of a CronJob thin out. The first nine messages of a reason are sent as they are, and later
// ones are combined; after 25 there is one in 300 s. A warning with another reason is sent all the same.
func TestRepeatedWarningsOfACronJobThinOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		nightly := events.CronJobStream("uid-nightly")
		a.add(nightly, events.KindCronJobAdded, &events.CronJobSeen{Version: 1, Schedule: "@daily"}, events.Evidence{Namespace: "batch", Name: "nightly"})
		p := publisher(t, a.log, s, func(c *Config) { c.Mode = events.ModeAll })
		refused := func(n int) {
			a.add(nightly, events.KindCommandEnded, &events.CommandEnded{Type: events.CommandCreateJob, Ending: events.Refused, Class: events.RefusedQuota},
				events.Evidence{Namespace: "batch", Name: "nightly-1", Message: fmt.Sprintf("quota %d", n)})
		}
		for n := range 60 {
			refused(n)
		}
		a.add(nightly, events.KindCommandEnded, &events.CommandEnded{Type: events.CommandCreateJob, Ending: events.Done}, events.Evidence{Namespace: "batch", Name: "nightly-1"})
		catchUp(t, p)
		told := s.take()
		for n, text := range told[:9] {
			if text != fmt.Sprintf("FailedCreate Error creating job: quota %d", n) {
				t.Errorf("%d: told %q", n, text)
			}
		}
		const combined = "FailedCreate (combined from similar events): "
		if !strings.HasPrefix(told[9], combined) || len(told) != 11 || told[10] != "SuccessfulCreate Created job nightly-1" {
			t.Errorf("then it told %q", told[9:])
		}
		if s.calls != 9+1+1+1 { // the combined one is made, and the others that the bound of 25 lets through are counted by one patch
			t.Errorf("%d requests", s.calls)
		}
		time.Sleep(5 * time.Minute)
		for n := range 10 {
			refused(100 + n)
		}
		catchUp(t, p)
		if s.calls != 12+1 {
			t.Errorf("after five minutes %d requests", s.calls)
		}
	})
}
