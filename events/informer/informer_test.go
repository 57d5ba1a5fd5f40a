package informer

import (
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/observation"
)

type starter = func(change ...func(*Config)) (*Informer, *recorder)

// relist waits, in virtual time, for the reflectors' pause before they list again.
func relist() { time.Sleep(time.Minute); synctest.Wait() }

func TestStartTellsObjectsAndThenThatTheyAreAll(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		job := testJob("a")
		c.set(job)                                                          // 1
		c.set(testPod("a-1", of(job), finalizer(events.TrackingFinalizer))) // 2
		_, r := start()
		expect(t, r.take(),
			"job a v1",
			"synced [jobs] at [2]",
			"pod a-1 v2 of a tracked selected",
			"synced [pods] at [2]")
		if got := c.asked(t); !slices.Equal(got, []string{"jobs@", "pods@"}) {
			t.Errorf("lists %q: the first must be of the newest state", got)
		}
	})
}

// The list of pods is sent before the answer to that of Jobs has come, and is reported after it.
func TestListsAreReadAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		job := testJob("a")
		c.set(job)                                                          // 1
		c.set(testPod("a-1", of(job), finalizer(events.TrackingFinalizer))) // 2
		c.hold("jobs")
		_, r := startInformer(t, c.streaming())
		expect(t, r.take())
		if got := c.asked(t); !slices.Equal(got, []string{"jobs@", "pods@"}) {
			t.Errorf("lists %q while that of Jobs does not end", got)
		}
		c.release()
		expect(t, r.take(), "job a v1", "synced [jobs] at [2]", "pod a-1 v2 of a tracked selected", "synced [pods] at [2]")
	})
}

// One list waits for another that never comes. The informer can end all the same.
func TestAListThatWaitsEndsWithTheInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.set(testPod("a-1"))
		c.hold("jobs")
		_, r := startInformer(t, c.streaming()) // ends it with the test
		expect(t, r.take())
	})
}

// A status may have counted a pod. It is never seen beside an older version of that pod: pods are listed again.
func TestNoPodIsOlderThanItsJobAtAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		job := testJob("a")
		pod := testPod("a-1", of(job), finalizer(events.TrackingFinalizer), phase(corev1.PodSucceeded))
		c.set(job) // 1
		c.set(pod) // 2
		c.hold("jobs")
		_, r := startInformer(t, c.streaming())
		expect(t, r.take())
		c.cut("pods") // what has come of them is all that comes
		pod.Finalizers = nil
		c.set(pod) // 3
		job.Status.Succeeded = 1
		c.set(job) // 4
		c.release()
		expect(t, r.take(), "job a v4", "synced [jobs] at [4]", "pod a-1 v3 of a Succeeded selected", "synced [pods] at [4]")
		if got := c.asked(t); !slices.Equal(got, []string{"jobs@", "pods@", "pods@"}) {
			t.Errorf("lists %q", got)
		}
	})
}

func TestWatchTellsChangesAndDeletions(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		_, r := start()
		r.take()
		job := testJob("a")
		pod := testPod("a-1", of(job), finalizer(events.TrackingFinalizer))
		c.set(job)
		synctest.Wait() // the two resources are watched side by side
		c.set(pod)
		expect(t, r.take(), "job a v1", "pod a-1 v2 of a tracked selected")
		phase(corev1.PodSucceeded)(pod)
		c.set(pod)
		expect(t, r.take(), "pod a-1 v3 of a Succeeded tracked selected")
		c.remove(pod)
		synctest.Wait()
		c.remove(job)
		expect(t, r.take(), "pod uid-a-1 gone v4 of a", "job a gone v5")
	})
}

func TestRelistTellsWhatWasMissed(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		job, other := testJob("a"), testJob("b")
		kept, lost := testPod("a-1", of(job)), testPod("a-2", of(job))
		c.set(job)   // 1
		c.set(other) // 2
		c.set(kept)  // 3
		c.set(lost)  // 4
		_, r := start()
		r.take()

		c.expire("pods")
		c.remove(lost) // 5
		c.set(testPod("a-3", of(job)))
		relist()
		expect(t, r.take(),
			"listing [pods]: relist, seen [4]",
			"pod a-1 v3 of a selected",
			"pod a-3 v6 of a selected",
			"pod uid-a-2 gone v6 missed of a",
			"synced [pods] at [6]")

		c.expire("jobs")
		c.remove(other) // 7
		relist()
		expect(t, r.take(),
			"listing [jobs]: relist, seen [4]",
			"job a v1",
			"job b gone v7 missed",
			"synced [jobs] at [7]")
	})
}

func TestLostWatchThatCanBeResumedIsNoRelist(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		_, r := start()
		r.take()
		c.set(testJob("a"))
		expect(t, r.take(), "job a v1")
		time.Sleep(time.Minute)
		c.cut("jobs")
		c.set(testJob("b"))
		relist()
		expect(t, r.take(), "job b v2")
	})
}

func TestWatchThatCannotBeResumedIsARelist(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		c.set(testJob("a")) // 1
		_, r := start()
		r.take()
		c.set(testPod("other")) // 2
		c.compact()
		time.Sleep(time.Minute)
		c.cut("jobs") // the watch from 1 is answered with 410 Gone
		relist()
		expect(t, r.take(), "listing [jobs]: relist, seen [1]", "job a v1", "synced [jobs] at [2]")
	})
}

func TestListThatLagsIsAskedForAgain(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster()
			client := c.streaming()
			if !streaming {
				client = c.client()
			}
			job := testJob("a")
			c.set(job) // 1
			behind := c.snapshot()
			_, r := startInformer(t, client)
			job.Spec.Suspend = new(true)
			c.set(job) // 2
			c.set(testJob("b"))
			r.take()

			c.fallBehind(behind)
			c.expire("jobs")
			relist()
			relist()
			expect(t, r.take(), "listing [jobs]: relist, seen [3]", "job a v2", "job b v3", "synced [jobs] at [3]")
			if got := c.asked(t); got[len(got)-1] != "jobs@" || !slices.Contains(got, "jobs@3") {
				t.Errorf("lists %q: the one not older than 3 lagged, and the last must be of the newest state", got)
			}
		})
	}
}

func TestStreamedListIsSeenLikeAnyOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		job := testJob("a")
		c.set(job)
		c.set(testPod("a-1", of(job), finalizer(events.TrackingFinalizer)))
		_, r := startInformer(t, c.streaming())
		expect(t, r.take(),
			"job a v1",
			"synced [jobs] at [2]",
			"pod a-1 v2 of a tracked selected",
			"synced [pods] at [2]")
		c.set(testPod("a-2", of(job)))
		expect(t, r.take(), "pod a-2 v3 of a selected")
	})
}

// expectRewind compares the observations from the rewind on. The two resources are listed at the same time.
func expectRewind(t *testing.T, told []string, want ...string) {
	t.Helper()
	i := max(0, slices.IndexFunc(told, func(s string) bool { return strings.HasPrefix(s, "epoch") }))
	slices.Sort(told[min(i+2, len(told)):])
	expect(t, told[i:], want...)
}

func TestRestoredClusterIsBelieved(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		job := testJob("a")
		c.set(job)
		backup := c.snapshot()
		_, r := start()
		job.Spec.Suspend = new(true)
		c.set(job)          // 2
		c.set(testJob("b")) // 3
		r.take()

		c.expire("jobs")
		c.restore(backup)
		relist()
		relist()
		expectRewind(t, r.take(), "epoch 2: {Resource:jobs Known:3 Found:1 Object:}", "listing [jobs pods]: relist, seen [0 0]",
			"job a v1", "synced [jobs] at [1]", "synced [pods] at [1]")
		if !slices.Contains(r.Log(), "reset to epoch 2") {
			t.Errorf("the keeper was told %q", r.Log())
		}
	})
}

// A watch from a version that the server has not reached yet is silent until it has, and then shows nothing of what was
// before.
func TestRestoredClusterIsFoundWithoutAnExpiredWatch(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		job := testJob("a")
		c.set(job)
		backup := c.snapshot()
		_, r := start()
		c.set(testPod("a-1", of(job), finalizer(events.TrackingFinalizer))) // 2
		c.set(testPod("a-2", of(job), finalizer(events.TrackingFinalizer))) // 3
		r.take()

		c.restore(backup)
		c.cut("pods")
		relist()
		expectRewind(t, r.take(), "epoch 2: {Resource:pods Known:3 Found:1 Object:}", "listing [jobs pods]: relist, seen [0 0]",
			"job a v1", "synced [jobs] at [1]", "synced [pods] at [1]")
		c.set(testPod("a-3", of(job))) // 2 once more
		expect(t, r.take(), "pod a-3 v2 of a selected")
	})
}

// After an outage the versions of the restored cluster may be higher than the versions that were seen. Its objects have
// lower ones.
func TestRestoredClusterThatHasCaughtUpIsFound(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		job := testJob("a")
		c.set(job)
		backup := c.snapshot()
		_, r := start()
		job.Spec.Suspend = new(true)
		c.set(job) // 2
		r.take()

		c.leave(syscall.ECONNREFUSED)
		relist()
		c.restore(backup)
		for range 5 {
			c.set(testJob("b"))
		}
		c.leave(nil)
		relist()
		expectRewind(t, r.take(), "epoch 2: {Resource:jobs Known:2 Found:1 Object:uid-a}", "listing [jobs pods]: relist, seen [0 0]",
			"job a v1", "job b v6", "synced [jobs] at [6]", "synced [pods] at [6]")
	})
}

// The answer to our own write counts, even if the watch never showed that version.
func TestRestoredClusterIsFoundByWhatWasWritten(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		c.set(testJob("a"))
		i, r := start()
		c.leave(syscall.ECONNREFUSED)
		i.Wrote(testIdentity, events.Jobs, "uid-a", 5, false)
		relist()
		for range 8 {
			c.set(testJob("b"))
		}
		c.leave(nil)
		relist()
		told := r.take()
		if i := slices.Index(told, "epoch 2: {Resource:jobs Known:5 Found:1 Object:uid-a}"); i < 0 {
			t.Errorf("told %q", told)
		}
	})
}

func TestLiveReadProvesARewindOnce(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		c.set(testJob("a"))
		i, r := start()
		r.take()
		proof := events.Rewind{Resource: events.Jobs, Known: 9, Found: 1, Object: "uid-a"}
		i.Behind(testIdentity, proof)
		i.Behind(testIdentity, proof) // another read of the same time
		expectRewind(t, r.take(), "epoch 2: {Resource:jobs Known:9 Found:1 Object:uid-a}", "listing [jobs pods]: relist, seen [0 0]",
			"job a v1", "synced [jobs] at [1]", "synced [pods] at [1]")
		// A server whose lists contradict its reads is not listed again and again.
		life := testIdentity
		for range 3600 {
			time.Sleep(time.Second)
			life.Epoch++
			i.Behind(life, proof)
		}
		if n := len(slices.DeleteFunc(r.take(), func(s string) bool { return !strings.HasPrefix(s, "epoch") })); n > 40 {
			t.Errorf("%d rewinds in an hour", n)
		}
	})
}

func TestNothingIsSureWhileNobodyWatches(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		c.set(testJob("a"))
		i, _ := start()
		if !i.Sure() {
			t.Error("not sure, though both resources are watched")
		}
		c.leave(syscall.ECONNREFUSED)
		synctest.Wait()
		if i.Sure() {
			t.Error("sure, though the server is away")
		}
		c.leave(nil)
		relist()
		if !i.Sure() {
			t.Error("not sure, though the server is back")
		}
		c.cut("pods")
		synctest.Wait()
		if !i.Sure() {
			t.Error("not sure after a watch that ended in good order and goes on")
		}
	})
}

func TestKnownToTheLogButNotListedIsGone(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		c.version = 90
		job := testJob("a")
		c.set(job)
		c.set(testPod("a-1", of(job)))
		ref := events.JobRef{Namespace: job.Namespace, Name: job.Name, UID: job.UID}
		_, r := start(func(config *Config) {
			config.Feed.Known = observation.Known{
				Jobs: []observation.KnownJob{
					{Job: ref, Version: 70, Managed: true},
					{Job: events.JobRef{Namespace: "default", Name: "z", UID: "uid-z"}, Version: 60, Managed: true},
				},
				Pods: []observation.KnownPod{
					{UID: "uid-a-1", Namespace: "default", Owner: ref, Version: 80},
					{UID: "uid-a-0", Namespace: "default", Owner: ref, Version: 75},
				},
				JobsVersion: 70, PodsVersion: 80,
			}
		})
		expect(t, r.take(),
			"job a v91",
			"job z gone v92 missed",
			"synced [jobs] at [92]",
			"pod a-1 v92 of a selected",
			"pod uid-a-0 gone v92 missed of a",
			"synced [pods] at [92]")
	})
}

func TestRelistOnDemandTellsItsReason(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		c.set(testJob("a"))
		i, r := start()
		r.take()
		i.Relist(events.ListingGap)
		told := r.take()
		slices.Sort(told[1:]) // the two resources are listed side by side
		expect(t, told,
			"listing [jobs pods]: gap, seen [1 1]", "job a v1", "synced [jobs] at [1]", "synced [pods] at [1]")
	})
}

// TestRelistTellsTheSameInTheSameOrder: the reflector delivers lists in the order of a map.
func TestRelistTellsTheSameInTheSameOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		for n := range 30 {
			c.set(testJob("job-" + strconv.Itoa(100+n)))
		}
		i, r := startInformer(t, c.streaming())
		jobs := func() []string {
			return slices.DeleteFunc(r.take(), func(l string) bool { return !strings.HasPrefix(l, "job ") })
		}
		want := jobs()
		if len(want) != 30 || !slices.IsSorted(want) {
			t.Errorf("told %q", want)
		}
		i.Relist(events.ListingGap)
		expect(t, jobs(), want...)
	})
}

// TestLiveReadsWhileItWatches: the executor reads objects and tells of its writes while the watches run. A read tells
// what the watch tells, and nothing of it is queued.
func TestLiveReadsWhileItWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		job, nightly := testJob("a", ofCronJob("uid-nightly", "CronJob")), testCronJob("nightly", "@daily")
		pod := testPod("a-1", of(job), finalizer(events.TrackingFinalizer))
		c.set(nightly)
		c.set(job)
		i, r := startInformer(t, c.client(), withCronJobs(), func(c *Config) { c.Feed.Mode = events.ModeAll })
		r.take()
		job.ResourceVersion, pod.ResourceVersion, nightly.ResourceVersion = "7", "8", "9"
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() { // ends with its reads
				for range 20 {
					i.Wrote(testIdentity, events.Jobs, "uid-b", 1, false)
					expect(t, []string{
						line(i.ObserveJob(wireJob(job))), line(i.ObserveRun(wireJob(job))),
						line(i.ObservePod(wire(pod))), line(i.ObserveCronJob(wireCronJob(nightly))),
					}, "job a v7 of uid-nightly", "job a v7 of uid-nightly", "pod a-1 v8 of a tracked selected", "cronjob nightly v9 @daily")
				}
			})
		}
		other := testJob("b")
		for range 20 {
			c.set(other)
		}
		group.Wait()
		if told := r.take(); len(told) == 0 || told[len(told)-1] != "job b v22" || slices.Contains(told, "job a v7 of uid-nightly") {
			t.Errorf("told %q", told)
		}
	})
}

func TestBusySinkHoldsUpNobodyAndLosesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		i, r := start()
		r.take()
		job := testJob("a")
		r.gate = make(chan struct{})
		c.set(job) // 1: the sink is busy with this one
		synctest.Wait()
		pod := testPod("a-1", of(job))
		c.set(pod) // 2: this one waits
		synctest.Wait()
		for range 50 {
			c.set(job)
			synctest.Wait()
			c.set(pod)
		}
		phase(corev1.PodFailed)(pod)
		last := c.set(pod)
		gone := c.remove(pod)
		synctest.Wait()
		if n := i.Waiting(); n != 3 {
			t.Errorf("%d observations wait, want the Job, the pod's end and its deletion", n)
		}
		close(r.gate)
		expect(t, r.take(),
			"job a v1",
			"pod a-1 v"+at(last)+" of a Failed selected", // in the place of its first
			"job a v"+at(last-2),
			"pod uid-a-1 gone v"+at(gone)+" of a")
	})
}

func TestVersionThatIsNoNumberEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		i, err := New(Config{Client: c.client(), Sink: &recorder{t: t}, Feed: observation.Config{
			Mode: events.ModeAll, Key: testKey, Logger: slog.New(slog.DiscardHandler),
		}})
		if err != nil {
			t.Fatal(err)
		}
		job := testJob("a")
		job.ResourceVersion = "abc"
		c.objects["jobs"][job.UID] = job
		if err := i.Run(t.Context()); !errors.Is(err, observation.ErrUnusable) {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestConfigRefusesWhatCannotWork(t *testing.T) {
	c := newCluster()
	for name, config := range map[string]Config{
		"no client": {Sink: &recorder{}, Feed: observation.Config{Mode: events.ModeAll, Key: testKey}},
		"no key":    {Client: c.client(), Sink: &recorder{}, Feed: observation.Config{Mode: events.ModeAll}},
		"no sink":   {Client: c.client(), Feed: observation.Config{Mode: events.ModeAll, Key: testKey}},
		"no mode":   {Client: c.client(), Sink: &recorder{}, Feed: observation.Config{Key: testKey}},
	} {
		if _, err := New(config); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
