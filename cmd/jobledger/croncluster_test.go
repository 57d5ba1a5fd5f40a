package main

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/zones"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
)

// cronCluster is a fakeCluster with CronJobs, which the loop runs.
type cronCluster struct {
	*fakeCluster
	crons   []*fakeCron
	refused *events.TaskResult // how the next creates of Jobs end, when they are not to succeed
	made    int                // Jobs
	number  int                // CronJobs
}

type fakeCron struct {
	ref  events.JobRef
	seen events.CronJobSeen
	runs []*fakeJob // that exist, in the order in which they were made
	spec func(*events.JobSpec)
	all  int
}

// newCronCluster starts a controller that runs CronJobs on a log that is empty.
func newCronCluster(t testing.TB, log store.Log, now events.Time) *cronCluster {
	t.Helper()
	c := &cronCluster{fakeCluster: &fakeCluster{
		t: t, log: log, now: now, version: 100, jobs: map[types.UID]*fakeJob{}, names: map[events.CommandID]events.Task{},
	}}
	c.other = c.endCron
	c.boot(projector.NewWorld())
	return c
}

// boot makes a loop on the world of the recovered log, and lists the objects.
func (c *cronCluster) boot(world *projector.World) {
	c.t.Helper()
	settings := events.DefaultSettings()
	settings.Mode, settings.CronJobs = events.ModeAll, true
	clear(c.names)
	c.inputs = nil
	c.loop = loop.New(loop.Config{
		Log: c.log, World: world, Settings: settings, Program: "v0.0.0-test", ZoneData: "2026a",
		Salt: func() (s events.Salt) { c.salt++; s[0], s[1] = byte(c.salt), byte(c.salt>>8); return s },
	})
	if err := c.loop.Start(c.now); err != nil {
		c.t.Fatal(err)
	}
	for _, k := range c.crons {
		for _, j := range k.runs {
			c.showJob(j)
		}
	}
	c.see(events.Observation{Facts: &events.Synced{Resources: []events.Resource{events.Jobs}, Versions: []uint64{c.version}}})
	for _, k := range c.crons {
		for _, j := range k.runs {
			for _, p := range c.pods(j) {
				c.showPod(j, p)
			}
		}
	}
	c.see(events.Observation{Facts: &events.Synced{Resources: []events.Resource{events.Pods}, Versions: []uint64{c.version}}})
	for _, k := range c.crons {
		c.showCron(k)
	}
	c.see(events.Observation{Facts: &events.Synced{Resources: []events.Resource{events.CronJobs}, Versions: []uint64{c.version}}})
	c.settle()
}

// away lets time pass while the controller is down.
func (c *cronCluster) away(d time.Duration) {
	c.t.Helper()
	c.durable()
	world, err := loop.Recover(context.Background(), c.log)
	if err != nil {
		c.t.Fatal(err)
	}
	c.now = c.now.Add(d)
	c.boot(world)
}

// until lets time pass until t.
func (c *cronCluster) until(t time.Time) {
	c.t.Helper()
	c.pass(events.At(t).Sub(c.now))
}

// addCron makes a CronJob; change sets what is special of it.
func (c *cronCluster) addCron(namespace, name, schedule, zone string, change func(*events.CronJobSeen)) *fakeCron {
	c.t.Helper()
	k := &fakeCron{
		ref:  events.JobRef{Namespace: namespace, Name: name, UID: types.UID(fmt.Sprintf("0f0e0d0c-0000-4000-8000-%012x", 0xc20a+c.number))},
		spec: func(s *events.JobSpec) { s.BackoffLimit = new(int32(0)) },
		seen: events.CronJobSeen{
			Generation: 1, Created: c.now.Second(), Schedule: schedule, Policy: "Allow", Template: "template-" + name, Redacted: "redacted-" + name,
			KeepSucceeded: new(int32(3)), KeepFailed: new(int32(1)),
		},
	}
	if zone != "" {
		k.seen.TimeZone = &zone
	}
	change(&k.seen)
	c.crons, c.number = append(c.crons, k), c.number+1
	c.change(k, "kubectl-client-side-apply", func(*events.CronJobSeen) {})
	return k
}

// change changes a CronJob, as a user does with that field manager.
func (c *cronCluster) change(k *fakeCron, manager string, change func(*events.CronJobSeen)) {
	c.t.Helper()
	before := k.seen
	change(&k.seen)
	fields := before.Differs(&k.seen)
	c.showCron(k, events.Editor{Edit: events.Edit{Manager: manager, Operation: "Update", Time: c.now.Second()}, Fields: fields})
	c.settle()
}

func (c *cronCluster) showCron(k *fakeCron, editors ...events.Editor) {
	k.seen.Version = c.next()
	seen := k.seen
	seen.Active = slices.Clone(seen.Active)
	o := events.Observation{
		Job: k.ref, Facts: &seen, Evidence: events.Evidence{Namespace: k.ref.Namespace, Name: k.ref.Name}, Editors: editors,
		Template: []byte(`{"spec":{}}`), TemplateSize: 11,
	}
	if k.seen.TimeZone != nil {
		if r, ok := zones.Find(*k.seen.TimeZone); ok {
			k.seen.Zones = []events.ZoneName{{Name: r.Name, Hash: r.Hash}}
			seen.Zones = k.seen.Zones
			o.Zones = []events.ZoneRules{{Name: r.Name, Hash: r.Hash, TZif: r.TZif}}
		}
	}
	c.see(o)
}

// deleteCron deletes a CronJob and its Jobs.
func (c *cronCluster) deleteCron(k *fakeCron) {
	c.t.Helper()
	c.crons = slices.DeleteFunc(c.crons, func(o *fakeCron) bool { return o == k })
	c.see(events.Observation{
		Job: k.ref, Facts: &events.CronJobGone{Version: c.next()}, Evidence: events.Evidence{Namespace: k.ref.Namespace, Name: k.ref.Name},
	})
	for _, j := range k.runs {
		c.deleteJob(j)
	}
	c.settle()
}

// newRun makes a Job of a CronJob. Without a due time it was made by hand, with that field manager, or by a trigger.
func (c *cronCluster) newRun(k *fakeCron, name string, due events.Time, by string) *fakeJob {
	c.made++
	k.all++
	job := &fakeJob{
		ref:  events.JobRef{Namespace: k.ref.Namespace, Name: name, UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%08d0000", c.made))},
		pods: map[types.UID]*fakePod{},
		spec: events.JobSpec{
			Hash: "spec-" + name, Parallelism: new(int32(1)), Completions: new(int32(1)), CompletionMode: "NonIndexed",
			RestartPolicy: "Never", Template: k.seen.Template,
		},
		cron: k.ref, due: due, by: by,
	}
	k.spec(&job.spec)
	job.seen = events.JobSeen{
		Version: c.next(), Generation: 1, Created: c.now.Second(), Managed: true, Spec: job.spec.Hash,
		Status: &events.JobStatus{Ready: events.Unset, Terminating: events.Unset},
	}
	c.jobs[job.ref.UID] = job
	k.runs = append(k.runs, job)
	c.showJob(job)
	return job
}

// byHand makes a Job of a CronJob as a user does with 'kubectl create job --from'.
func (c *cronCluster) byHand(k *fakeCron, name string) {
	c.t.Helper()
	c.newRun(k, name, 0, "kubectl-create")
	c.settle()
}

// running is the newest Job of a CronJob.
func (c *cronCluster) running(k *fakeCron) *fakeJob {
	c.t.Helper()
	if len(k.runs) == 0 {
		c.t.Fatalf("no Job of %s exists", k.ref.Name)
	}
	return k.runs[len(k.runs)-1]
}

// run lets the newest Job of a CronJob run for so long and end with that exit code.
func (c *cronCluster) run(k *fakeCron, d time.Duration, code int32, message string) {
	c.t.Helper()
	job := c.running(k)
	c.start(job)
	c.pass(d)
	c.finish(job, c.pods(job)[0], code, message)
	c.pass(2 * time.Second)
}

// endCron ends a command about a CronJob. It returns false for another command.
func (c *cronCluster) endCron(task events.Task) bool {
	i := slices.IndexFunc(c.crons, func(k *fakeCron) bool { return k.ref.UID == task.Job.UID })
	if i < 0 {
		return false
	}
	k := c.crons[i]
	r := events.TaskResult{
		Stream: task.Stream, Ended: events.CommandEnded{Command: task.Name, Ending: events.Done, Sent: true, Type: task.Command.Traits().Kind},
		Evidence: events.Evidence{Namespace: task.Job.Namespace, Name: events.RunNameOf(task.Command)},
	}
	find := func(name string) *fakeJob {
		for _, j := range k.runs {
			if j.ref.Name == name {
				return j
			}
		}
		return nil
	}
	switch command := task.Command.(type) {
	case *events.CreateJob:
		if c.refused != nil {
			r.Ended.Ending, r.Ended.Class = c.refused.Ended.Ending, c.refused.Ended.Class
			r.Evidence.Message = fmt.Sprintf(c.refused.Evidence.Message, command.Name)
			break
		}
		by := ""
		if command.Due == 0 {
			by = "jobledger"
		}
		job := c.newRun(k, command.Name, command.Due, by)
		r.Ended.UID, r.Ended.Version, r.Ended.Written = job.ref.UID, job.seen.Version, job.seen.Created
	case *events.DeleteRun:
		job := find(command.Name)
		k.runs = slices.DeleteFunc(k.runs, func(j *fakeJob) bool { return j == job })
		c.deleteJob(job)
		r.Ended.UID = command.Job
	case *events.ReadRun:
		job := find(command.Name)
		if job == nil {
			r.Ended.Ending, r.Ended.Class = events.Refused, events.RefusedNotFound
			break
		}
		r.Observations = []events.Observation{c.observed(job)}
		r.Ended.UID, r.Ended.Version = job.ref.UID, job.seen.Version
	case *events.WriteCronStatus:
		k.seen.Active, k.seen.LastSchedule, k.seen.LastSuccess = command.Active, command.LastSchedule, command.LastSuccess
		c.showCron(k)
		r.Ended.UID, r.Ended.Version = k.ref.UID, k.seen.Version
	case *events.ReadCronJob:
		c.showCron(k)
		r.Ended.UID, r.Ended.Version = k.ref.UID, k.seen.Version
	default:
		return false
	}
	c.inputs = append(c.inputs, loop.Input{Result: &r})
	return true
}

// runSeen returns the facts of a Job for its CronJob.
func (j *fakeJob) runSeen() *events.RunSeen {
	r := &events.RunSeen{
		Job: j.ref.UID, Name: j.ref.Name, Version: j.seen.Version, Created: j.seen.Created, Started: j.seen.Status.StartTime,
		Completed: j.seen.Status.CompletionTime, Due: j.due, Manual: j.due == 0,
	}
	for _, condition := range j.seen.Status.Conditions {
		switch {
		case condition.Status != "True":
		case condition.Type == "Complete":
			r.Result, r.Succeeded = events.ResultComplete, true
		case condition.Type == "Failed":
			r.Result = events.ResultFailed
		}
	}
	return r
}
