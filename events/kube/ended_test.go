package kube

import (
	"testing"
	"testing/synctest"

	"github.com/jobledger/jobledger/events"
)

// TestWhatEndedIsTold: a process sends the Event whether it has read the decisions or begins behind them (J-194).
func TestWhatEndedIsTold(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a, s := newAppender(t), newServer()
			p := publisher(t, a.log, s)
			finish := status(cond("Complete", "True"))
			commands := []events.Command{
				&events.CreatePod{Ordinal: 1}, &events.DeletePod{Pod: "uid-2"}, &events.CreateWorkload{MinCount: 2},
				&events.DropFinalizer{Pod: "uid-3"}, &events.ReadJob{}, finish, &events.WriteStatus{},
			}
			at := a.decide(commands...)
			catchUp(t, p)
			for place, c := range commands {
				task := events.Task{Name: events.CommandID{Decided: at, Place: uint32(place)}, Command: c}
				for _, ending := range []events.Ending{events.OutcomeUnknown, events.Done} {
					ended := task.Ended(ending)
					words := ""
					if ending == events.OutcomeUnknown {
						words = "time-out"
					}
					a.add(demoStream, events.KindCommandEnded, &ended, events.Evidence{Namespace: "default", Name: "demo-x", Message: words})
					if restarted {
						p = publisher(t, a.log, s)
					}
					catchUp(t, p)
				}
			}
			expect(t, s,
				"FailedCreate Error creating: time-out", "SuccessfulCreate Created pod: demo-x",
				"FailedDelete Error deleting: time-out", "SuccessfulDelete Deleted pod: demo-x",
				"FailedWorkloadCreate Failed to create Workload for Job demo: time-out",
				"WorkloadCreated Created Workload demo-x for Job demo", "Completed Job completed")
		})
	}
}
