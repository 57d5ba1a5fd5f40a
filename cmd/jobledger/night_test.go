package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
)

// night writes the log of one night that begins at 22:00 of 14 March 2026:
//
//	team-a/stuck     from the beginning: the API server refuses its pods, and nothing more is heard of it
//	cron-hist/purge-N  every 10 minutes a run of the CronJob purge, which exits 4, seven times
//	team-b/oldest    failed at the beginning
//	team-b/import    two lives: the first failed, the second succeeded
//	team-c/job-N     after all of them 20 Jobs that succeed
//	team-c/twice     succeeds after a container was started again
func night(t testing.TB, log store.Log) {
	c := newCluster(t, log)
	c.now = events.At(time.Date(2026, 3, 14, 22, 0, 0, 0, time.UTC))
	c.settle()
	n := 100
	add := func(namespace, name string, origin *events.Origin) *fakeJob {
		n++
		zero := int32(0)
		job := c.addJob(namespace, name, n, func(s *events.JobSpec) { s.BackoffLimit = &zero })
		c.inputs[len(c.inputs)-1].Observation.Evidence.Origin = origin
		c.settle()
		return job
	}
	ends := func(job *fakeJob, code int32, says string) {
		c.start(job)
		c.finish(job, c.pods(job)[0], code, says)
		c.settle()
	}
	c.other = func(task events.Task) bool {
		if task.Job.Name != "stuck" || task.Command.Traits().Kind != events.CommandCreatePod {
			return false
		}
		c.inputs = append(c.inputs, loop.Input{Result: &events.TaskResult{
			Stream:   task.Stream,
			Ended:    events.CommandEnded{Command: task.Name, Ending: events.Refused, Class: events.RefusedForbidden, Sent: true, Type: task.Command.Traits().Kind},
			Evidence: events.Evidence{Namespace: task.Job.Namespace, Message: `pods "stuck-x" is forbidden: violates PodSecurity "restricted"`},
		}})
		return true
	}
	add("team-a", "stuck", nil)
	ends(add("team-b", "oldest", nil), 1, "")
	ends(add("team-b", "import", nil), 7, "")
	purge := &events.Origin{Kind: "CronJob", Name: "purge", UID: "00000000-0000-4000-8000-0000000000cc"}
	for i := range 7 {
		c.now = events.At(time.Date(2026, 3, 14, 22, 16+10*i, 0, 0, time.UTC))
		ends(add("cron-hist", fmt.Sprintf("purge-2956%04d", 1216+10*i), purge), 4, "")
	}
	ends(add("team-b", "import", nil), 0, "")
	for i := range 20 {
		ends(add("team-c", fmt.Sprintf("job-%d", i), nil), 0, "")
	}
	twice := add("team-c", "twice", nil)
	c.start(twice)
	pod := c.pods(twice)[0]
	pod.seen.Version, pod.seen.Restarts, pod.seen.MaxRestarts = c.next(), 2, 2
	c.showPod(twice, pod)
	c.settle()
	c.finish(twice, pod, 0, "")
	c.settle()
	c.durable()
}
