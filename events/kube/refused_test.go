package kube

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
)

// refused adds the record of a refusal with the server's words.
func (a *appender) refused(decided events.Sequence, class events.RefusalClass, words string) {
	a.t.Helper()
	a.add(demoStream, events.KindCommandEnded, &events.CommandEnded{
		Command: events.CommandID{Decided: decided}, Ending: events.Refused, Class: class,
	}, events.Evidence{Namespace: "default", Name: "demo-x", Message: words})
}

// TestARefusalThatGoesOnIsToldAgain: each record of the refusal leads to an Event, in a new process, too. So does its
// end (J-194, J-058).
func TestARefusalThatGoesOnIsToldAgain(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a, s := newAppender(t), newServer()
			p := publisher(t, a.log, s)
			step := func() {
				if restarted {
					p = publisher(t, a.log, s)
				}
				catchUp(t, p)
			}
			create := a.decide(&events.CreatePod{Ordinal: 1})
			a.refused(create, events.RefusedQuota, "exceeded quota: used 1")
			step()
			time.Sleep(30 * time.Minute)
			a.refused(create, events.RefusedQuota, "exceeded quota: used 2")
			step()
			a.refused(create, events.RefusedNamespaceTerminating, "is being terminated")
			step()
			a.end(create, 0, events.Done, "demo-x")
			step()
			expect(t, s,
				"FailedCreate Error creating: exceeded quota: used 1", "FailedCreate Error creating: exceeded quota: used 2",
				"SuccessfulCreate Created pod: demo-x")
		})
	}
}

// TestAnUnknownCompletionModeIsTold: at each look at such a Job (J-010), also when its spec was stored before this
// process began to read.
func TestAnUnknownCompletionModeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		p := publisher(t, a.log, s)
		at := a.add(demoStream, events.KindSpecStored, &events.JobSpec{Hash: "s", CompletionMode: "Scattered"}, events.Evidence{})
		a.add(demoStream, events.KindJobChanged, &events.JobSeen{Version: 2, Managed: true, ManagedBy: events.ManagedBy, Spec: "s", SpecAt: at}, jobEvidence)
		catchUp(t, p)
		const says = "UnknownCompletionMode Skipped Job sync because completion mode is unknown"
		expect(t, s, says)
		a.add(demoStream, events.KindJobChanged, &events.JobSeen{Version: 3, Spec: "s", SpecAt: at}, jobEvidence) // not ours
		a.add(demoStream, events.KindJobChanged, &events.JobSeen{Version: 4, Managed: true, ManagedBy: events.ManagedBy, Spec: "h", SpecAt: 2}, jobEvidence)
		a.add(demoStream, events.KindJobChanged, &events.JobSeen{Version: 5, Managed: true, ManagedBy: events.ManagedBy, Spec: "s", SpecAt: at}, jobEvidence)
		catchUp(t, publisher(t, a.log, s))
		expect(t, s, says)
		other := events.JobStream("observed") // another controller runs it, and tells its users
		a.add(other, events.KindJobAdded, &events.JobSeen{Version: 6, Managed: true, Spec: "s", SpecAt: at}, jobEvidence)
		catchUp(t, publisher(t, a.log, s))
		expect(t, s)
	})
}

// TestTooManySucceededAreFoundInTheStoredStatus: the write that completes the Job need not change the number of
// succeeded pods (J-194, J-167).
func TestTooManySucceededAreFoundInTheStoredStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := newAppender(t), newServer()
		counted := a.decide(&events.WriteStatus{Change: events.StatusChange{Succeeded: new(int32(2))}})
		a.end(counted, 0, events.Done, "demo")
		lost := a.decide(&events.WriteStatus{Change: events.StatusChange{Succeeded: new(int32(1))}})
		a.refused(lost, events.RefusedConflict, "the object has been modified")
		finish := status(cond("Complete", "True"))
		finish.Change.CompletionTime = 1
		a.end(a.decide(finish), 0, events.Done, "demo")
		catchUp(t, publisher(t, a.log, s))
		expect(t, s, "TooManySucceededPods Too many succeeded pods running after completion count reached", "Completed Job completed")
	})
}
