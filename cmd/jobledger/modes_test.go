package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/boltlog"
)

// modes writes a log of three runs: one that observes the built-in controller (--manage=observe), one that runs
// delegated Jobs and observes the others (--manage=delegated --observe=others), one in place of the built-in controller
// (--manage=all).
//
//	old       fails in the first run, by the built-in controller; a user deletes its pod before
//	crossing  fails once in each run; in the last we decide that it fails
//	own       is delegated, and fails in the second run
//	last      is the built-in's by name, and fails in the last run, which is ours
type modes struct {
	*fakeCluster
	t     *testing.T
	dir   string
	known map[string]*fakeJob // by name
}

// run does something as one run of a controller with settings, after a pause. The lists of its start have all pods, and
// the Jobs that the settings cover.
func (m *modes) run(settings func(*events.Settings), do func()) {
	m.t.Helper()
	log, err := boltlog.Open(m.dir, smallFiles)
	if err != nil {
		m.t.Fatal(err)
	}
	world, now := projector.NewWorld(), began
	if log.Head().Sequence > 0 {
		if world, err = loop.Recover(m.t.Context(), log); err != nil {
			m.t.Fatal(err)
		}
		now = world.Now.Add(time.Minute)
	}
	s := events.DefaultSettings()
	settings(&s)
	c := startClusterIn(m.t, log, world, "", now, s)
	synced := c.inputs // the lists show what is there
	c.inputs = nil
	for _, name := range slices.Sorted(maps.Keys(m.known)) {
		{
			job := m.known[name]
			c.jobs[job.ref.UID] = job
			if job.seen.Version = c.next(); s.Records(job.seen.ManagedBy) {
				c.showJob(job)
			}
			for _, p := range c.all(job) {
				p.seen.Version = c.next()
				c.showPod(job, p)
			}
		}
	}
	for _, i := range synced {
		i.Observation.Facts.(*events.Synced).Versions[0] = c.version
	}
	c.inputs = append(c.inputs, synced...)
	m.fakeCluster = c
	c.settle()
	do()
	c.durable()
	if err := log.Close(); err != nil {
		m.t.Fatal(err)
	}
}

// all are a Job's pods whose objects are there, by name.
func (c *fakeCluster) all(job *fakeJob) []*fakePod {
	var out []*fakePod
	for _, p := range job.pods {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *fakePod) int { return strings.Compare(a.name, b.name) })
	return out
}

// add makes a Job of that name.
func (m *modes) add(name string, managedBy string, spec func(*events.JobSpec)) *fakeJob {
	job := m.addJob("prod", name, len(m.known)+1, spec)
	m.inputs = nil // it is shown as it is to be
	job.seen.ManagedBy, job.seen.Managed = managedBy, true
	job.seen.Version = m.next()
	m.showJob(job)
	m.known[name] = job
	m.settle()
	return job
}

// builtinPod is a pod that the built-in controller makes and that runs.
func (m *modes) builtinPod(job *fakeJob, name string) *fakePod {
	pod := &fakePod{name: name, node: "node-1", seen: events.PodSeen{
		UID: types.UID("uid-of-" + name), Version: m.next(), Phase: events.PodRunning, Created: m.now.Second(), Tracked: true,
		Owner: job.ref.UID, Selected: true, Index: events.NoIndex, Scheduled: true, Ready: true,
	}}
	job.pods[pod.seen.UID] = pod
	m.showPod(job, pod)
	m.settle()
	return pod
}

// builtinStatus is a status that the built-in controller writes.
func (m *modes) builtinStatus(job *fakeJob, failed int32, conditions ...events.JobCondition) {
	m.now = m.now.Add(time.Second)
	s := &events.JobStatus{Ready: events.Unset, Terminating: events.Unset, Failed: failed, StartTime: job.seen.Created, Conditions: conditions}
	job.seen.Version, job.seen.Status = m.next(), s
	m.showJob(job)
	m.settle()
}

// builtinDrop takes the finalizer off a pod.
func (m *modes) builtinDrop(job *fakeJob, pod *fakePod) {
	pod.seen.Tracked, pod.seen.Version = false, m.next()
	m.showPod(job, pod)
	m.settle()
}

// remove deletes a pod's object.
func (m *modes) remove(job *fakeJob, pod *fakePod) {
	delete(job.pods, pod.seen.UID)
	m.see(events.Observation{
		Job: job.ref, Facts: &events.PodGone{UID: pod.seen.UID, Version: m.next()},
		Evidence: events.Evidence{Namespace: job.ref.Namespace, Name: pod.name},
	})
	m.settle()
}

func (m *modes) failed() events.JobCondition {
	return events.JobCondition{
		Type: status.Failed, Status: "True", Reason: "BackoffLimitExceeded", Message: "Job has reached the specified backoff limit",
		Since: m.now.Second(), Probed: m.now.Second(),
	}
}

func limit(n int32) func(*events.JobSpec) {
	return func(s *events.JobSpec) { s.BackoffLimit = &n }
}

// write writes the log.
func (m *modes) write() {
	m.run(func(s *events.Settings) { s.Mode = events.ModeObserve }, func() {
		old, crossing := m.add("old", "", limit(0)), m.add("crossing", "", limit(2))
		pod := m.builtinPod(crossing, "crossing-1")
		m.finish(crossing, pod, 3, "")
		m.builtinStatus(crossing, 1)
		m.builtinDrop(crossing, pod)
		m.pass(15 * time.Second)
		pod = m.builtinPod(old, "old-1") // a user deletes it
		m.pass(4 * time.Second)
		grace := int64(0)
		pod.seen.Deleted, pod.seen.DeletionGracePeriodSeconds = m.now.Second(), &grace
		m.finish(old, pod, 143, "")
		m.builtinStatus(old, 1, m.failed())
		m.builtinDrop(old, pod)
		m.remove(old, pod)
	})
	m.run(func(s *events.Settings) { s.Mode, s.ObserveOthers = events.ModeDelegated, true }, func() {
		own := m.add("own", events.ManagedBy, limit(0))
		m.start(own)
		m.finish(own, m.pods(own)[0], 4, "")
		crossing := m.known["crossing"]
		pod := m.builtinPod(crossing, "crossing-2")
		m.pass(3 * time.Second)
		m.finish(crossing, pod, 3, "")
		m.builtinStatus(crossing, 2)
		m.builtinDrop(crossing, pod)
	})
	m.run(func(s *events.Settings) { s.Mode = events.ModeAll }, func() {
		m.pass(time.Minute) // its backoff
		crossing := m.known["crossing"]
		m.start(crossing)
		m.finish(crossing, m.pods(crossing)[0], 3, "")
		last := m.add("last", "", limit(0))
		m.start(last)
		m.finish(last, m.pods(last)[0], 5, "")
	})
}

// TestALogThatChangesItsMode: an answer about a Job names the controller that ran it then, not the one that runs Jobs
// now.
func TestALogThatChangesItsMode(t *testing.T) {
	m := &modes{t: t, dir: filepath.Join(t.TempDir(), "log"), known: map[string]*fakeJob{}}
	m.write()
	ask := func(args ...string) string {
		r := command(append(args, "--log", m.dir)...)
		if r.code != 0 {
			t.Errorf("%s: %s%s", strings.Join(args, " "), r.out, r.err)
		}
		return strings.Join(strings.Fields(r.out), " ") // lines may be broken anywhere
	}
	for _, row := range []struct {
		ask  string
		says []string
		not  string
	}{
		{ask: "verify", says: []string{"verify: "}},
		{ask: "replay", says: []string{", 0 divergences"}},
		{ask: "failures -A", says: []string{
			"STUCK 0 · FAILED 4 in 4 causes · gap", "prod/old 1 its only try was deleted by an API client (which one is unknown)", "prod/crossing 3 all 3 tries exited 3",
			"prod/own 1 its only try exited 4", "prod/last 1 its only try exited 5",
		}},
		{
			ask: "explain job/old -v", not: "Jobledger",
			says: []string{
				"1 failure > backoffLimit 0 (the last: old-1); its status says so (the Job is the built-in controller's), and rule backoffExceeded agrees",
				"old-1 on node-1: deleted while it ran by an API client; not by the built-in controller",
				"RULED OUT eviction or node loss, spec edit, deadline, unwatched time",
			},
		},
		{ask: "explain pod/old-1", says: []string{"ENDED after 5.5s by API client", "not by the built-in controller"}, not: "Jobledger"},
		{
			ask: "explain job/crossing -v", not: "its status says",
			says: []string{
				"3 failures > backoffLimit 2 (the last: crossing-", "rule backoffExceeded, stored",
				"run by Jobledger since 09:29:25, before by the built-in controller, observed",
			},
		},
		{ask: "explain job/crossing --at 09:28:23", says: []string{"RUNNING for 1m29s: 1 pod running"}, not: "run by Jobledger"},
		{
			ask:  "attempts job/crossing",
			says: []string{"crossing-1 node-1 09:26:53 1.5s itself failure 1 after 09:27:05 main 3", "crossing-2 node-1 09:28:19 4.5s itself failure 2 after 09:28:44 main 3", "3 tries"},
		},
		{ask: "explain job/own -v", says: []string{"rule backoffExceeded, stored", "no API refusal: the API server accepted"}, not: "built-in"},
		{ask: "explain job/last -v", says: []string{"rule backoffExceeded, stored", "no API refusal: the API server accepted"}, not: "built-in"},
	} {
		args := strings.Fields(row.ask)
		if strings.Contains(row.ask, "/") {
			args = append(args, "-n", "prod")
		}
		out := ask(args...)
		for _, words := range row.says {
			if !strings.Contains(out, words) {
				t.Errorf("%s does not say %q:\n%s", row.ask, words, out)
			}
		}
		if row.not != "" && strings.Contains(out, row.not) {
			t.Errorf("%s says %q:\n%s", row.ask, row.not, out)
		}
	}
}

// TestAJobThatIsNoLongerLookedAt: an observer's log goes on with delegated Jobs alone. From then on the built-in
// controller's Jobs are not watched, though their pods are. So no answer gives their present state, and nothing is
// decided about them.
func TestAJobThatIsNoLongerLookedAt(t *testing.T) {
	m := &modes{t: t, dir: filepath.Join(t.TempDir(), "log"), known: map[string]*fakeJob{}}
	m.run(func(s *events.Settings) { s.Mode = events.ModeObserve }, func() {
		runs, waits := m.add("runs", "", limit(0)), m.add("waits", "", limit(0))
		m.builtinPod(runs, "runs-1")
		m.pass(time.Minute)
		m.builtinStatus(waits, 0)
	})
	m.run(func(*events.Settings) {}, func() {
		m.pass(time.Hour)
		runs := m.known["runs"]
		m.finish(runs, m.pods(runs)[0], 3, "")
		m.pass(time.Hour)
	})
	for _, job := range []string{"runs", "waits"} {
		r := command("explain", "job/"+job, "-n", "prod", "--log", m.dir)
		out := strings.Join(strings.Fields(r.out), " ")
		const says = "UNKNOWN since 09:28:54: Jobledger has not looked at it since; the built-in controller runs it"
		if !strings.Contains(out, says) || strings.Contains(out, "WAITS FOR") {
			t.Errorf("explain job/%s says, want %q and no wait:\n%s%s", job, says, r.out, r.err)
		}
	}
	if r := command("failures", "-A", "--log", m.dir); !strings.Contains(r.out, "STUCK 0 · FAILED 0") {
		t.Errorf("failures says:\n%s%s", r.out, r.err)
	}
	if r := command("events", "--kind", "Decided", "--log", m.dir); strings.Contains(r.out, "Decided") {
		t.Errorf("something was decided:\n%s", r.out)
	}
}
