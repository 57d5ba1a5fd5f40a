package informer

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
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
		expect(t, r.take(), "listing [jobs]: relist, seen [3]", "job a v1", "job b gone v1 missed", "synced [jobs] at [1]")
	})
}

func TestKnownToTheLogButNotListedIsGone(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		c.version = 90
		job := testJob("a")
		c.set(job)
		c.set(testPod("a-1", of(job)))
		ref := refOf(job)
		_, r := start(func(config *Config) {
			config.Known = Known{
				Jobs:        []KnownJob{{ref, 70}, {events.JobRef{Namespace: "default", Name: "z", UID: "uid-z"}, 60}},
				Pods:        []KnownPod{{"uid-a-1", "default", ref, 80}, {"uid-a-0", "default", ref, 75}},
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

func TestUnmanagedJobsAndTheirPodsAreNotTold(t *testing.T) {
	for _, tt := range []struct {
		name, managedBy string
		mode            events.Mode
		told            bool
	}{
		{"delegated runs what is given to it", events.ManagedBy, events.ModeDelegated, true},
		{"delegated leaves plain Jobs alone", "", events.ModeDelegated, false},
		{"delegated leaves the built-in controller's Jobs alone", events.BuiltinManagedBy, events.ModeDelegated, false},
		{"delegated leaves others' Jobs alone", "example.com/other", events.ModeDelegated, false},
		{"all runs what is given to it", events.ManagedBy, events.ModeAll, true},
		{"all runs plain Jobs", "", events.ModeAll, true},
		{"all runs the built-in controller's Jobs", events.BuiltinManagedBy, events.ModeAll, true},
		{"all leaves others' Jobs alone", "example.com/other", events.ModeAll, false},
		{"observe watches plain Jobs", "", events.ModeObserve, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster, start starter) {
				job := testJob("a", managedBy(tt.managedBy))
				c.set(job)
				c.set(testPod("a-1", of(job)))
				_, r := start(func(config *Config) { config.Mode = tt.mode })
				want := []string{"synced [jobs] at [2]", "synced [pods] at [2]"}
				if tt.told {
					want = []string{"job a v1", want[0], "pod a-1 v2 of a selected", want[1]}
				}
				expect(t, r.take(), want...)
				if kept := len(r.log) > 0; kept != tt.told {
					t.Errorf("keeper: %q", r.log)
				}
			})
		})
	}
}

func TestKeeperHasUnfinishedJobsOnly(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, start starter) {
		job := testJob("a")
		c.set(job)
		c.set(testJob("done", complete))
		_, r := start()
		complete(job)
		c.set(job)
		second := testJob("b")
		c.set(second)
		r.take()
		c.remove(second)
		c.remove(job)
		r.take()
		expect(t, r.log, "keep a", "drop uid-a", "keep b", "drop uid-b")
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
		i, err := New(Config{Client: c.client(), Mode: events.ModeAll, Key: testKey, Sink: &recorder{t: t}, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		job := testJob("a")
		job.ResourceVersion = "abc"
		c.objects["jobs"][job.UID] = job
		if err := i.Run(t.Context()); !errors.Is(err, ErrUnusable) {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestConfigRefusesWhatCannotWork(t *testing.T) {
	c := newCluster()
	for name, config := range map[string]Config{
		"no client": {Mode: events.ModeAll, Key: testKey, Sink: &recorder{}},
		"no key":    {Client: c.client(), Mode: events.ModeAll, Sink: &recorder{}},
		"no sink":   {Client: c.client(), Mode: events.ModeAll, Key: testKey},
		"no mode":   {Client: c.client(), Sink: &recorder{}},
	} {
		if _, err := New(config); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
