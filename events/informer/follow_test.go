package informer

import (
	"slices"
	"testing"
	"testing/synctest"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/observation"
)

// withCronJobs makes the informer watch CronJobs, too. The log has the given ones, at version 1.
func withCronJobs(known ...*batchv1.CronJob) func(*Config) {
	return func(c *Config) {
		c.Feed.CronJobs = true
		for _, k := range known {
			ref := events.JobRef{Namespace: k.Namespace, Name: k.Name, UID: k.UID}
			c.Feed.Known.CronJobsVersion = 1
			c.Feed.Known.CronJobs = append(c.Feed.Known.CronJobs, observation.KnownCronJob{CronJob: ref, Version: 1})
		}
	}
}

// TestCronJobsAreFollowed: CronJobs are a third resource, with lists, watches, relists and missed changes.
func TestCronJobsAreFollowed(t *testing.T) {
	for name, client := range map[string]func(*cluster) kubernetes.Interface{
		"lists":             func(c *cluster) kubernetes.Interface { return c.client() },
		"lists that stream": (*cluster).streaming,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { followCronJobs(t, client) })
		})
	}
}

func followCronJobs(t *testing.T, client func(*cluster) kubernetes.Interface) {
	c := newCluster()
	nightly, hourly := testCronJob("nightly", "0 0 * * *"), testCronJob("hourly", "0 * * * *")
	c.set(nightly) // 1
	i, r := startInformer(t, client(c), withCronJobs(testCronJob("lost", "")))
	expect(t, r.take(),
		"synced [jobs] at [1]", "synced [pods] at [1]",
		"cronjob nightly v1 0 0 * * *", "cronjob lost gone v1 missed", "synced [cronjobs] at [1]")

	c.set(hourly) // 2
	nightly.Spec.Schedule = "0 1 * * *"
	c.set(nightly) // 3
	expect(t, r.take(), "cronjob hourly v2 0 * * * *", "cronjob nightly v3 0 1 * * *")
	c.remove(hourly) // 4
	expect(t, r.take(), "cronjob hourly gone v4")

	c.expire("cronjobs")
	c.remove(nightly) // 5
	c.set(hourly)     // 6
	relist()
	expect(t, r.take(), "listing [cronjobs]: relist, seen [4]",
		"cronjob hourly v6 0 * * * *", "cronjob nightly gone v6 missed", "synced [cronjobs] at [6]")

	i.Relist(events.ListingGap)
	relist()
	told := r.take()
	slices.Sort(told) // the three are listed side by side
	expect(t, told, "cronjob hourly v6 0 * * * *", "listing [jobs pods cronjobs]: gap, seen [1 1 6]",
		"synced [cronjobs] at [6]", "synced [jobs] at [6]", "synced [pods] at [6]")
	if !i.Sure() {
		t.Error("all three are watched, and it is not sure")
	}
}
