package reconciler_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/rules"
)

// running is an Indexed Job of n pods that all run. Its status is published.
type running struct {
	world *projector.World
	job   *projector.Job
	seq   events.Sequence
	now   events.Time
	pods  []*events.PodSeen
}

func newRunning(n int32) *running {
	r := &running{world: projector.NewWorld(), now: 1e18}
	settings := events.DefaultSettings()
	settings.Mode = events.ModeAll
	r.apply(events.Controller, events.KindControllerStarted, &events.ControllerStarted{RulesVersion: 1, Settings: settings})
	limit := int32(6)
	stream := events.JobStream("job")
	r.apply(stream, events.KindSpecStored, &events.JobSpec{
		Hash: "h", Parallelism: &n, Completions: &n, CompletionMode: "Indexed", BackoffLimit: &limit, Template: "t",
	})
	zero := int32(0)
	status := &events.JobStatus{Active: n, Ready: zero, Terminating: zero, HasUncounted: true, StartTime: r.now.Second()}
	r.apply(stream, events.KindJobAdded, &events.JobSeen{Version: 1, Managed: true, Spec: "h", SpecAt: r.seq, Status: status})
	for i := range n {
		pod := &events.PodSeen{
			UID: types.UID(fmt.Sprintf("pod-%d", i)), Version: uint64(i) + 2, Phase: events.PodRunning, Created: r.now,
			Tracked: true, Owner: "job", Selected: true, Index: i, Ordinal: uint64(i) + 1, Scheduled: true,
		}
		r.pods = append(r.pods, pod)
		r.apply(stream, events.KindPodAdded, pod)
	}
	r.job = r.world.Job(stream)
	return r
}

func (r *running) apply(stream events.Stream, kind events.Kind, facts events.Facts) {
	r.seq++
	r.world.Apply(&events.Record{
		Header: events.Header{Sequence: r.seq, Time: r.now, Stream: stream, Kind: kind}, Facts: facts,
	})
}

// event is one more observation: a pod becomes ready, or stops being ready, and the Job is decided.
func (r *running) event(i int) {
	pod := *r.pods[i%len(r.pods)]
	pod.Version += uint64(1_000_000 + i)
	pod.Ready = i%2 == 0
	r.apply(r.job.Stream, events.KindPodChanged, &pod)
	rules.Decide(r.job)
}

// TestAnEventCostsTheSameInALargeJob counts allocations, which do not depend on the machine (design §3).
func TestAnEventCostsTheSameInALargeJob(t *testing.T) {
	cost := func(n int32) float64 {
		r := newRunning(n)
		i := 0
		return testing.AllocsPerRun(200, func() { r.event(i); i++ })
	}
	small, large := cost(10), cost(100_000)
	t.Logf("allocations for one event: %v among 10 pods, %v among 100,000", small, large)
	if small > 2 {
		t.Errorf("one event costs %v allocations, the limit is 2", small)
	}
	if large > small+1 {
		t.Errorf("one event costs %v allocations among 100,000 pods, %v among 10", large, small)
	}
}

// TestAnEventCostsTheSameWhileAnIndexIsCrowded: one index has two pods, and one of them cannot be removed for now. They
// are found without a look at the other indexes (J-071).
func TestAnEventCostsTheSameWhileAnIndexIsCrowded(t *testing.T) {
	cost := func(n int32) float64 {
		r := newRunning(n)
		twin := *r.pods[0]
		twin.UID, twin.Version, twin.Ordinal = "twin", 500_000, uint64(n)+1
		r.apply(r.job.Stream, events.KindPodAdded, &twin)
		d := rules.Decide(r.job)
		if len(d.Steps) != 1 || d.Steps[0].Rule != "removeDuplicates" {
			t.Fatalf("two pods of one index are decided upon as %+v", d.Steps)
		}
		r.apply(r.job.Stream, events.KindDecided, &d.Decision)
		r.apply(r.job.Stream, events.KindCommandEnded, &events.CommandEnded{
			Command: events.CommandID{Decided: r.seq}, Ending: events.Refused, Class: events.RefusedForbidden, Sent: true,
		})
		if len(r.job.Crowded()) != 1 || len(r.job.AllRetrying()) != 1 {
			t.Fatalf("crowded %v, retrying %v", r.job.Crowded(), r.job.AllRetrying())
		}
		i := 1
		return testing.AllocsPerRun(200, func() { r.event(i); i++ })
	}
	small, large := cost(10), cost(20_000)
	t.Logf("allocations for one event: %v among 10 pods, %v among 20,000", small, large)
	if large > small+1 {
		t.Errorf("one event costs %v allocations among 20,000 pods, %v among 10", large, small)
	}
}

func BenchmarkEvent(b *testing.B) {
	for _, n := range []int32{10, 1_000, 100_000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			r := newRunning(n)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r.event(i)
			}
		})
	}
}

// TestAnEventCostsLittleAmongManyJobsOfACronJob: with the policy Allow, Jobs that do not end pile up. An event looks at
// each of them once: with 50 times as many it costs about 50 times as much, not 2,500 times.
func TestAnEventCostsLittleAmongManyJobsOfACronJob(t *testing.T) {
	cost := func(n int) time.Duration {
		r := newPiledUp(n)
		least := time.Hour
		for round := range 3 { // in processor time: others use the machine, too
			begin := sidebyside.Processor()
			for i := range 20 {
				r.event(round*20 + i)
			}
			least = min(least, (sidebyside.Processor()-begin)/20)
		}
		return least
	}
	few, many := cost(200), cost(10_000)
	t.Logf("an event costs %s among 200 Jobs, %s among 10,000", few, many)
	if many > 400*few {
		t.Errorf("an event costs %s among 200 Jobs, and %s among 10,000", few, many)
	}
}

// piledUp is a CronJob with Jobs that all run and are in the list of active ones.
type piledUp struct {
	running
	cronJob *projector.CronJob
	seen    events.CronJobSeen
	runs    []*events.RunSeen
}

func newPiledUp(n int) *piledUp {
	r := &piledUp{running: running{world: projector.NewWorld(), now: 1e18}}
	settings := events.DefaultSettings()
	settings.Mode, settings.CronJobs = events.ModeAll, true
	r.apply(events.Controller, events.KindControllerStarted, &events.ControllerStarted{RulesVersion: 1, Settings: settings})
	r.seen = events.CronJobSeen{Version: 1, Created: r.now, LastSchedule: r.now, Schedule: "@daily", Policy: "Allow", Template: "t"}
	for i := range n {
		run := &events.RunSeen{Job: types.UID(fmt.Sprintf("run-%d", i)), Name: fmt.Sprintf("demo-%d", i), Version: 1, Created: r.now, Started: r.now}
		r.runs = append(r.runs, run)
		r.seen.Active = append(r.seen.Active, events.RunName{UID: run.Job, Name: run.Name, Version: 1})
	}
	stream := events.CronJobStream("cron")
	r.apply(stream, events.KindCronJobAdded, &r.seen)
	for _, run := range r.runs {
		r.apply(stream, events.KindRunSeen, run)
	}
	r.cronJob = r.world.CronJob(stream)
	return r
}

// event is one more observation of a Job, and one of the CronJob.
func (r *piledUp) event(i int) {
	run := *r.runs[i%len(r.runs)]
	run.Version += uint64(1_000_000 + i)
	r.apply(r.cronJob.Stream, events.KindRunSeen, &run)
	rules.Decide(r.cronJob)
	r.seen.Version++
	seen := r.seen
	r.apply(r.cronJob.Stream, events.KindCronJobChanged, &seen)
	rules.Decide(r.cronJob)
}

// ending is a Job with pods that end one after another while its commands are answered.
type ending struct {
	*running
	sent    []events.CommandEnded
	version uint64
	writes  int
}

// decide makes a decision and records it.
func (e *ending) decide() {
	d := rules.Decide(e.job)
	if !d.Commands() {
		return
	}
	e.apply(e.job.Stream, events.KindDecided, &d.Decision)
	for place, c := range d.Decision.Commands() {
		t := events.Task{Name: events.CommandID{Decided: e.seq, Place: uint32(place)}, Command: c}
		done := t.Ended(events.Done)
		e.version++
		done.Version, done.Sent = e.version, true
		e.sent = append(e.sent, done)
		if done.Type == events.CommandWriteStatus {
			e.writes++
		}
	}
}

// answer ends the oldest command.
func (e *ending) answer() {
	done := e.sent[0]
	e.sent = e.sent[1:]
	e.apply(e.job.Stream, events.KindCommandEnded, &done)
	e.decide()
}

// TestTheEndOfALargeJob: all pods of an Indexed Job end. Until the Job is finished, the allocations of an event do not
// grow with the number of pods, and the status is written now and then.
func TestTheEndOfALargeJob(t *testing.T) {
	end := func(n int32) (bytes float64, writes int) {
		e := &ending{running: newRunning(n), version: 10_000_000}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range e.pods {
			over := *e.pods[i*7919%len(e.pods)] // their indexes are scattered
			over.Version, over.Phase, over.Finished = uint64(1_000_000+i), events.PodSucceeded, e.now
			e.apply(e.job.Stream, events.KindPodChanged, &over)
			e.decide()
			for len(e.sent) > 0 {
				e.answer()
			}
		}
		runtime.ReadMemStats(&after)
		if e.job.Phase() != projector.PhaseFinished || e.job.Tally().Held > 0 {
			t.Fatalf("the Job of %d pods is not at its end: phase %v, %+v", n, e.job.Phase(), e.job.Tally())
		}
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(n), e.writes
	}
	few, fewWrites := end(1_000)
	many, manyWrites := end(20_000)
	t.Logf("%.0f bytes for each of 1,000 pods and %d writes, %.0f for each of 20,000 and %d writes", few, fewWrites, many, manyWrites)
	if many > 1.5*few {
		t.Errorf("the end of a pod allocates %.0f bytes among 20,000, and %.0f among 1,000", many, few)
	}
	if most := 20_000/200 + 100; manyWrites > most {
		t.Errorf("%d writes of the status at the end of 20,000 pods, the limit is %d", manyWrites, most)
	}
}
