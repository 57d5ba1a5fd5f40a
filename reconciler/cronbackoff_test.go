package reconciler_test

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/rules"
)

// TestTheBackoffOfACronJobHasACap: the waits after errors are 5 ms, 10 ms and so on, and from the nineteenth error on
// 1000 s, whatever else falls due meanwhile. A Job that was made begins the series anew (C-166, C-190, C-191).
func TestTheBackoffOfACronJobHasACap(t *testing.T) {
	const most = 1000 * time.Second
	x := newTriggered()
	x.put(events.KindCronJobAdded, &events.CronJobSeen{
		Version: 1, Schedule: "*/5 * * * *", Policy: "Allow", Created: x.now.Add(-time.Hour), LastSchedule: x.now.Add(-5 * time.Minute),
	})
	fail := func() (wait time.Duration) {
		t.Helper()
		id, command := x.decide()
		if _, ok := command.(*events.CreateJob); !ok {
			t.Fatalf("the controller wants %T", command)
		}
		x.put(events.KindCommandEnded, &events.CommandEnded{Command: id, Ending: events.Refused, Class: events.RefusedQuota, Type: events.CommandCreateJob})
		if _, command := x.decide(); command != nil {
			t.Fatalf("right after the error the controller wants %T", command)
		}
		wake := rules.Decide(x.world.CronJob(triggeredStream)).Wake
		wait = wake.Sub(x.now)
		for _, early := range []time.Duration{wait / 2, wait - time.Nanosecond} {
			if d := rules.DecideAt(x.world.CronJob(triggeredStream), x.now.Add(early)); len(d.Decision.Commands()) > 0 {
				t.Fatalf("%s after the error, of %s, the controller does something", early, wait)
			}
		}
		x.now = wake
		x.put(events.KindTimerFired, &events.TimerFired{})
		return wait
	}
	for k := range 24 {
		want := most
		if k < 18 { // 5 ms · 2^18 are 1310 s
			want = 5 * time.Millisecond << k
		}
		if wait := fail(); wait != want {
			t.Fatalf("after error %d it waits %s, want %s", k+1, wait, want)
		}
	}
	id, command := x.decide()
	create, ok := command.(*events.CreateJob)
	if !ok {
		t.Fatalf("the controller wants %T", command)
	}
	x.put(events.KindRunSeen, &events.RunSeen{Job: "uid-run", Name: create.Name, Version: 2, Created: x.now, Due: create.Due})
	x.put(events.KindCommandEnded, &events.CommandEnded{
		Command: id, Ending: events.Done, UID: "uid-run", Version: 2, Written: x.now, Type: events.CommandCreateJob, Due: create.Due,
	})
	id, command = x.decide()
	if _, ok := command.(*events.WriteCronStatus); !ok {
		t.Fatalf("the controller wants %T", command)
	}
	x.put(events.KindCommandEnded, &events.CommandEnded{Command: id, Ending: events.Done, UID: "uid-nightly", Version: 3, Type: events.CommandWriteCronStatus})
	if _, command = x.decide(); command != nil {
		t.Fatalf("the controller wants %T", command)
	}
	x.now = rules.Decide(x.world.CronJob(triggeredStream)).Wake
	x.put(events.KindTimerFired, &events.TimerFired{})
	if wait := fail(); wait != 5*time.Millisecond {
		t.Errorf("after a Job was made the first error waits %s", wait)
	}
}

// TestAnErrorAfterABackoffBeginsAnother: a create is refused. A status write fails at the moment at which the create's
// backoff is over. The next create is tried at once; when it is refused, too, the next one waits (C-190).
func TestAnErrorAfterABackoffBeginsAnother(t *testing.T) {
	x := newTriggered()
	x.put(events.KindRunSeen, &events.RunSeen{
		Job: "uid-run", Name: "nightly-hand", Version: 2, Created: x.now, Manual: true, Result: events.ResultComplete, Succeeded: true, Completed: x.now,
	})
	x.put(events.KindCronJobAdded, &events.CronJobSeen{
		Version: 1, Schedule: "*/5 * * * *", Policy: "Allow", Created: x.now.Add(-time.Hour), LastSchedule: x.now.Add(-5 * time.Minute),
	})
	refuse := func(kind events.CommandKind) {
		t.Helper()
		id, command := x.decide()
		if command == nil || command.Traits().Kind != kind {
			t.Fatalf("the controller wants %T", command)
		}
		x.now = x.now.Add(10 * time.Millisecond)
		x.put(events.KindCommandEnded, &events.CommandEnded{Command: id, Ending: events.Refused, Class: events.RefusedServer, Type: kind})
	}
	refuse(events.CommandCreateJob)
	refuse(events.CommandWriteCronStatus)
	refuse(events.CommandCreateJob)
	switch _, command := x.decide(); command.(type) {
	case nil, *events.ReadCronJob, *events.WriteCronStatus:
	default:
		t.Errorf("right after an error the controller wants %T", command)
	}
	if until := x.world.CronJob(triggeredStream).Retry().Until; until.Sub(x.now) != 10*time.Millisecond {
		t.Errorf("the next try is %s after the second error", until.Sub(x.now))
	}
}
