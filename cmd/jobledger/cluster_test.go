package main

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
)

// fakeCluster is a Kubernetes that does what a test asks, at the time the test asks for it. The real loop can write a
// log with it. Nothing in it depends on the machine, so the log has the same bytes every time.
type fakeCluster struct {
	t       testing.TB
	log     store.Log
	loop    *loop.Loop
	now     events.Time
	version uint64
	salt    uint64
	jobs    map[types.UID]*fakeJob
	names   map[events.CommandID]events.Task // commands that wait for their ending
	inputs  []loop.Input
	refuse  *events.TaskResult     // how the next create ends, when it is not to succeed
	hold    bool                   // tasks stay in flight
	other   func(events.Task) bool // ends a command that is about no Job, and returns true; false for another command
}

type fakeJob struct {
	ref  events.JobRef
	seen events.JobSeen
	spec events.JobSpec
	pods map[types.UID]*fakePod

	cron events.JobRef // that controls it; zero for none
	due  events.Time   // for which that made it
	by   string        // the field manager that made it, of one without a due time
}

type fakePod struct {
	name string
	seen events.PodSeen
	node string
}

var began = events.At(time.Date(2026, 3, 14, 9, 26, 53, 589_000_000, time.UTC))

// newCluster starts a controller on a log that is empty.
func newCluster(t testing.TB, log store.Log) *fakeCluster { return newKeyedCluster(t, log, "") }

// newKeyedCluster is newCluster for a log whose key has that ID.
func newKeyedCluster(t testing.TB, log store.Log, key string) *fakeCluster {
	t.Helper()
	return startCluster(t, log, projector.NewWorld(), key, began)
}

// startCluster starts a controller on the world of a recovered log. The test calls settle.
func startCluster(t testing.TB, log store.Log, world *projector.World, key string, now events.Time) *fakeCluster {
	t.Helper()
	return startClusterIn(t, log, world, key, now, events.DefaultSettings())
}

// startClusterIn is startCluster with settings.
func startClusterIn(t testing.TB, log store.Log, world *projector.World, key string, now events.Time, settings events.Settings) *fakeCluster {
	t.Helper()
	c := &fakeCluster{
		t: t, log: log, now: now, version: 100 + uint64(world.Head)*1000, jobs: map[types.UID]*fakeJob{}, names: map[events.CommandID]events.Task{},
	}
	c.loop = loop.New(loop.Config{
		Log: log, World: world, Settings: settings, Program: "v0.0.0-test", ZoneData: "2026a", Key: key,
		Salt: func() (s events.Salt) {
			c.salt++
			binary.BigEndian.PutUint64(s[:], c.salt)
			return s
		},
	})
	if err := c.loop.Start(c.now); err != nil {
		t.Fatal(err)
	}
	c.see(events.Observation{Facts: &events.Synced{Resources: []events.Resource{events.Jobs}, Versions: []uint64{c.version}}})
	c.see(events.Observation{Facts: &events.Synced{Resources: []events.Resource{events.Pods}, Versions: []uint64{c.version}}})
	return c
}

func (c *fakeCluster) see(o events.Observation) {
	c.inputs = append(c.inputs, loop.Input{Observation: &o})
}

func (c *fakeCluster) next() uint64 { c.version++; return c.version }

// settle makes turns until nothing is left to do now.
func (c *fakeCluster) settle() {
	c.t.Helper()
	for range 1000 {
		c.now = c.now.Add(3 * time.Millisecond)
		inputs := c.inputs
		c.inputs = nil
		n, err := c.loop.Turn(c.now, inputs)
		if err != nil || n != len(inputs) {
			c.t.Fatalf("turn took %d of %d inputs: %v", n, len(inputs), err)
		}
		tasks, _ := c.loop.Durable(c.durable())
		asks, _ := c.loop.Asks()
		for _, task := range append(tasks, asks...) {
			c.names[task.Name] = task
		}
		if !c.hold {
			c.carryOut()
		}
		if wake := c.loop.Wake(); len(c.inputs) == 0 && (wake == 0 || wake > c.now) {
			return
		}
	}
	c.t.Fatal("the loop does not come to rest")
}

// durable waits until all that was appended is durable.
func (c *fakeCluster) durable() events.Sequence {
	head := c.loop.World().Head
	for {
		at := c.log.Head().Sequence
		if at >= head {
			return at
		}
		if _, err := c.log.Wait(c.t.Context(), at); err != nil {
			c.t.Fatal(err)
		}
	}
}

// pass lets time go by, so that waits are served.
func (c *fakeCluster) pass(d time.Duration) {
	end := c.now.Add(d)
	for wake := c.loop.Wake(); wake != 0 && wake <= end; wake = c.loop.Wake() {
		c.now = max(c.now, wake)
		c.settle()
	}
	c.now = end
	c.settle()
}

// carryOut ends every command in its order.
func (c *fakeCluster) carryOut() {
	for _, name := range slices.SortedFunc(maps.Keys(c.names), func(a, b events.CommandID) int {
		return int(int64(a.Decided)-int64(b.Decided))*1000 + int(a.Place) - int(b.Place)
	}) {
		task := c.names[name]
		delete(c.names, name)
		c.end(task)
	}
}

func (c *fakeCluster) end(task events.Task) {
	if c.other != nil && c.other(task) {
		return
	}
	job := c.jobs[task.Job.UID]
	r := events.TaskResult{
		Stream:   task.Stream,
		Ended:    events.CommandEnded{Command: task.Name, Ending: events.Done, Sent: true, Type: task.Command.Traits().Kind},
		Evidence: events.Evidence{Namespace: task.Job.Namespace, Name: task.Pod.Name},
	}
	switch command := task.Command.(type) {
	case *events.CreatePod:
		r.Evidence.Name = c.log.Identity().PodName(task.Job.UID, prefix(job, command), command.Ordinal)
		if c.refuse != nil {
			r.Ended, r.Evidence.Message = c.refuse.Ended, c.refuse.Evidence.Message
			r.Ended.Command, r.Ended.Type = task.Name, task.Command.Traits().Kind
			break
		}
		pod := c.newPod(job, command, r.Evidence.Name)
		r.Ended.UID, r.Ended.Version = pod.seen.UID, pod.seen.Version
		defer c.showPod(job, pod)
	case *events.DropFinalizer:
		pod := job.pods[command.Pod]
		pod.seen.Tracked, pod.seen.Version = false, c.next()
		r.Ended.UID, r.Ended.Version = command.Pod, pod.seen.Version
		defer c.showPod(job, pod)
	case *events.DeletePod:
		pod := job.pods[command.Pod]
		delete(job.pods, command.Pod)
		r.Ended.UID = command.Pod
		defer c.see(events.Observation{
			Job: job.ref, Facts: &events.PodGone{UID: command.Pod, Version: c.next()},
			Evidence: events.Evidence{Namespace: job.ref.Namespace, Name: pod.name},
		})
	case *events.WriteStatus:
		job.seen.Version, job.seen.Status = c.next(), task.Status
		r.Ended.UID, r.Ended.Version, r.Evidence.Name = job.ref.UID, job.seen.Version, job.ref.Name
		defer c.showJob(job)
	default:
		c.t.Fatalf("the cluster does not know %T", command)
	}
	c.inputs = append(c.inputs, loop.Input{Result: &r})
}

func prefix(job *fakeJob, command *events.CreatePod) string {
	if command.Index == events.NoIndex {
		return job.ref.Name + "-"
	}
	return fmt.Sprintf("%s-%d-", job.ref.Name, command.Index)
}

// addJob makes a Job; change sets what is special in its spec.
func (c *fakeCluster) addJob(namespace, name string, number int, change func(*events.JobSpec)) *fakeJob {
	n := func(v int32) *int32 { return &v }
	job := &fakeJob{
		ref:  events.JobRef{Namespace: namespace, Name: name, UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", number))},
		pods: map[types.UID]*fakePod{},
		spec: events.JobSpec{
			Hash: "spec-" + name, Parallelism: n(1), Completions: n(1), CompletionMode: "NonIndexed", BackoffLimit: n(6),
			RestartPolicy: "Never", Template: "template-" + name,
		},
	}
	change(&job.spec)
	job.seen = events.JobSeen{
		Version: c.next(), Generation: 1, Created: c.now.Second(), Managed: true, ManagedBy: events.ManagedBy,
		Spec: job.spec.Hash, Status: &events.JobStatus{Ready: events.Unset, Terminating: events.Unset},
	}
	c.jobs[job.ref.UID] = job
	c.showJob(job)
	return job
}

func (c *fakeCluster) showJob(job *fakeJob) {
	c.see(c.observed(job))
}

// observed returns the observation of a Job.
func (c *fakeCluster) observed(job *fakeJob) events.Observation {
	seen, spec := job.seen, job.spec
	template := []byte(`{"spec":{"containers":[{"name":"main","image":"example.com/work:1"}]}}`)
	o := events.Observation{
		Job: job.ref, Facts: &seen, Spec: &spec, Template: template, TemplateSize: len(template),
		Evidence: events.Evidence{Namespace: job.ref.Namespace, Name: job.ref.Name},
	}
	if job.cron != (events.JobRef{}) {
		o.CronJob, o.Run = job.cron.UID, job.runSeen()
		o.Evidence.Origin = &events.Origin{Kind: "CronJob", Name: job.cron.Name, UID: job.cron.UID}
		if job.by != "" {
			o.Editors = []events.Editor{{Edit: events.Edit{Manager: job.by, Operation: "Update", Time: job.seen.Created}}}
		}
	}
	return o
}

func (c *fakeCluster) deleteJob(job *fakeJob) {
	c.see(events.Observation{
		Job: job.ref, Facts: &events.JobGone{Version: c.next()},
		Evidence: events.Evidence{Namespace: job.ref.Namespace, Name: job.ref.Name},
	})
}

func (c *fakeCluster) newPod(job *fakeJob, command *events.CreatePod, name string) *fakePod {
	id := types.UID(fmt.Sprintf("%s%04d", strings.TrimSuffix(string(job.ref.UID), "0000")[:32], command.Ordinal))
	pod := &fakePod{name: name, seen: events.PodSeen{
		UID: id, Version: c.next(), Phase: events.PodPending, Created: c.now.Second(), Tracked: true, Owner: job.ref.UID,
		Selected: true, Index: command.Index, Ordinal: command.Ordinal,
	}}
	job.pods[id] = pod
	return pod
}

func (c *fakeCluster) showPod(job *fakeJob, pod *fakePod, containers ...events.ContainerEnd) {
	seen := pod.seen
	c.see(events.Observation{Job: job.ref, Facts: &seen, Evidence: events.Evidence{
		Namespace: job.ref.Namespace, Name: pod.name, Node: pod.node, Containers: containers,
	}})
}

// pods returns a Job's pods that have not ended, by ordinal.
func (c *fakeCluster) pods(job *fakeJob) []*fakePod {
	var out []*fakePod
	for _, p := range job.pods {
		if !p.seen.Phase.Terminal() {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *fakePod) int { return int(a.seen.Ordinal) - int(b.seen.Ordinal) })
	return out
}

// start lets all pods of a Job run.
func (c *fakeCluster) start(job *fakeJob) {
	c.now = c.now.Add(400 * time.Millisecond)
	for _, pod := range c.pods(job) {
		pod.node = "node-1"
		pod.seen.Phase, pod.seen.Scheduled, pod.seen.Ready, pod.seen.ReadySince = events.PodRunning, true, true, c.now.Second()
		pod.seen.Version = c.next()
		c.showPod(job, pod)
	}
	c.settle()
}

// finish ends one pod with that exit code and message.
func (c *fakeCluster) finish(job *fakeJob, pod *fakePod, code int32, message string) {
	c.now = c.now.Add(1500 * time.Millisecond)
	pod.seen.Phase, pod.seen.Ready, pod.seen.ReadySince = events.PodSucceeded, false, 0
	var ends []events.ContainerEnd
	if code != 0 {
		pod.seen.Phase = events.PodFailed
		pod.seen.Exits = []events.ContainerExit{{Name: "main", Code: code}}
		ends = []events.ContainerEnd{{Name: "main", ExitCode: code, Reason: "Error", Message: message}}
	}
	pod.seen.Finished, pod.seen.Version = c.now.Second(), c.next()
	c.showPod(job, pod, ends...)
	c.settle()
}
